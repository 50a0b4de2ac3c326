//! `/{database}/-/search`: one search of all tables of a database, as HTML or JSON.

use std::sync::Arc;

use super::app::App;
use super::request::Request;
use super::response::{HTML, JSON, Response};
use super::routes::Format;
use super::templates::{Crumb, Frame};
use crate::db::Database;
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::render::{links, search_html, search_json};
use crate::search;

/// Characters that may be looked for.
const LONGEST: usize = 500;

/// Answers `?q=`. Without it the page is a form.
pub async fn show(
    app: &Arc<App>,
    request: Request,
    database: &str,
    format: &Format,
) -> Result<Response> {
    if !matches!(format, Format::Html | Format::Json) {
        return Err(format.invalid());
    }
    let found = app.registry.get(database);
    let database =
        found.ok_or_else(|| Error::NotFound(format!("Database not found: {database}")))?;
    let text = request.query.get("q").unwrap_or_default().trim();
    if text.chars().count() > LONGEST {
        return Err(Error::BadRequest(format!(
            "q may have {LONGEST} characters"
        )));
    }
    let job = Job {
        app: Arc::clone(app),
        database: Arc::clone(database),
        text: text.to_owned(),
        is_json: *format == Format::Json,
        request,
    };
    let turn = database.turns.enter().await;
    let answered = app.engine.offload(move |page| {
        let response = job.run(page);
        drop(turn);
        response
    });
    answered.await
}

struct Job {
    app: Arc<App>,
    database: Arc<Database>,
    text: String,
    is_json: bool,
    request: Request,
}

impl Job {
    fn run(&self, page: &Page<'_>) -> Result<Response> {
        let (app, request) = (&self.app, &self.request);
        let asker = app.asker(request);
        let found = search::execute(page, &app.config, asker, &self.database, &self.text)?;
        let sources = search_json::Sources {
            database: &self.database,
            request,
            text: &self.text,
            page: &found,
        };
        let response = if self.is_json {
            Response::whole(200, JSON, search_json::search(&sources)?)
        } else {
            self.html(&sources)?
        };
        Ok(response.lasting(found.lasts))
    }

    fn html(&self, sources: &search_json::Sources<'_>) -> Result<Response> {
        let request = &self.request;
        let alternate = links::alternate_json(request);
        let crumb = |href: String, label: &str| Crumb {
            href,
            label: label.to_owned(),
        };
        let crumbs = [
            crumb(request.prefixed("/"), "home"),
            crumb(
                links::database(request, &self.database.name),
                &self.database.name,
            ),
        ];
        let mut context = self.app.templates.context(&Frame {
            body_class: "search",
            crumbs: &crumbs,
            alternate_json: &alternate,
            metadata: Some(&self.app.config.database(&self.database.name).metadata),
            actor: request.actor.as_deref(),
        });
        search_html::fill(&mut context, sources);
        let html = self.app.templates.render("search.html", &context)?;
        Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
    }
}
