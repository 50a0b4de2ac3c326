//! `/{database}/-/query`: SQL that a visitor wrote, as a form with its result, JSON, CSV or bytes.

use std::sync::Arc;

use super::app::App;
use super::export::Export;
use super::request::Request;
use super::response::{HTML, JSON, Response, TEXT};
use super::routes::Format as Extension;
use super::templates::{Crumb, Frame};
use super::{blob, errors, query_export};
use crate::db::Database;
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::query::{QueryPage, QueryRequest, execute, parameters, validate};
use crate::render::query_json::Sources;
use crate::render::{database_json, links, query_html, query_json};
use crate::table::arguments::Format;

/// Answers a request for the SQL page.
pub async fn show(
    app: &Arc<App>,
    http: Request,
    database: &str,
    extension: Extension,
) -> Result<Response> {
    let database = found(app, database)?;
    let format = match extension {
        Extension::Html => Format::Html,
        Extension::Json => Format::Json,
        Extension::Csv | Extension::Ndjson | Extension::Blob => Format::Csv,
        Extension::Other(_) => return Err(extension.invalid()),
    };
    let request = QueryRequest::parse(&http.query, format, &app.config.settings)?;
    if request.is_blank() && extension != Extension::Html {
        return Err(Error::BadRequest("?sql= is required".into()));
    }
    let job = Job {
        app: app.clone(),
        database: database.clone(),
        http,
        request,
    };
    if let Some(export) = Export::of(&job.http, &extension, &app.config.settings)? {
        return query_export::show(job, export).await;
    }
    let turn = database.turns.enter().await;
    let answer = app.engine.offload(move |page| {
        let response = match extension {
            Extension::Html => job.html(page),
            Extension::Blob => job.blob(page),
            _ => job.json(page),
        };
        drop(turn);
        response
    });
    answer.await
}

/// Answers which parameters SQL has, for a form that is being filled in. It is
/// JSON in any case, which no other site may show in a frame.
pub fn show_parameters(app: &App, http: &Request, database: &str) -> Result<Response> {
    let response = match parameter_names(app, http, database) {
        Ok(names) => Response::json(&serde_json::json!({
            "ok": true,
            "unstable": database_json::UNSTABLE,
            "parameters": names,
        }))?,
        Err(error @ Error::NotFound(_)) => return Err(error),
        Err(error) => errors::as_json(&error),
    };
    Ok(response
        .header("content-security-policy", "frame-ancestors 'none'")
        .header("x-frame-options", "DENY"))
}

fn parameter_names<'r>(app: &App, http: &'r Request, database: &str) -> Result<Vec<&'r str>> {
    found(app, database)?;
    let mut others: Vec<&str> = http.query.keys().filter(|&key| key != "sql").collect();
    if !others.is_empty() {
        others.sort_unstable();
        let others = others.join(", ");
        return Err(Error::BadRequest(format!("Invalid keys: {others}")));
    }
    let names = parameters::named(http.query.get("sql").unwrap_or_default());
    if names.iter().any(|name| name.starts_with('_')) {
        return Err(Error::BadRequest("Magic parameters are not allowed".into()));
    }
    Ok(names)
}

/// The database.
fn found<'a>(app: &'a App, database: &str) -> Result<&'a Arc<Database>> {
    app.registry
        .get(database)
        .ok_or_else(|| Error::NotFound(format!("Database not found: {database}")))
}

/// A page that is handed to the engine, with all that it needs.
pub struct Job {
    /// The program.
    pub app: Arc<App>,
    /// The database.
    pub database: Arc<Database>,
    /// The HTTP request.
    pub http: Request,
    /// What it asks for.
    pub request: QueryRequest,
}

impl Job {
    /// Runs the query.
    pub fn execute(&self, page: &Page<'_>) -> Result<QueryPage> {
        execute::execute(page, &self.database, &self.request)
    }

    fn sources<'s>(&'s self, page: &'s QueryPage) -> Sources<'s> {
        Sources {
            config: &self.app.config,
            database: &self.database,
            http: &self.http,
            request: &self.request,
            page,
        }
    }

    fn json(&self, page: &Page<'_>) -> Result<Response> {
        // What is no query has the plain form of an error; the words of SQLite come with no rows.
        validate::select_only(&self.request.sql)?;
        match self.execute(page) {
            Ok(result) => {
                let body = query_json::query(&self.sources(&result))?;
                let lines = self.request.newline_delimited;
                Ok(Response::whole(200, if lines { TEXT } else { JSON }, body))
            }
            Err(error @ Error::InvalidSql(_)) => {
                let body = query_json::refused(error.message(), error.status());
                Ok(Response::whole(error.status(), JSON, body.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    /// The form, with the result below or with what is wrong with the SQL.
    fn html(&self, page: &Page<'_>) -> Result<Response> {
        if self.request.is_blank() {
            return self.form(200, &QueryPage::default(), "");
        }
        match self.execute(page) {
            Ok(result) => self.form(200, &result, ""),
            Err(error @ (Error::InvalidSql(_) | Error::TimeLimit(_))) => {
                self.form(error.status(), &QueryPage::default(), error.message())
            }
            Err(error) => Err(error),
        }
    }

    fn form(&self, status: u16, result: &QueryPage, error: &str) -> Result<Response> {
        let http = &self.http;
        let alternate = links::alternate_json(http);
        let crumb = |href: String, label: &str| Crumb {
            href,
            label: label.to_owned(),
        };
        let crumbs = [
            crumb(http.prefixed("/"), "home"),
            crumb(
                links::database(http, &self.database.name),
                &self.database.name,
            ),
        ];
        let body_class = query_html::body_class(&self.database.name);
        let mut context = self.app.templates.context(&Frame {
            body_class: &body_class,
            crumbs: &crumbs,
            alternate_json: &alternate,
            metadata: Some(&self.app.config.database(&self.database.name).metadata),
            actor: self.http.actor.as_deref(),
        });
        query_html::fill(&mut context, &self.sources(result), error);
        let html = self.app.templates.render("query.html", &context)?;
        Ok(Response::whole(status, HTML, html).alternate_json(&alternate))
    }

    fn blob(&self, page: &Page<'_>) -> Result<Response> {
        let wanted = blob::Wanted::parse(&self.http.query)?;
        let value = execute::find(
            page,
            &self.database,
            &self.request,
            |columns| wanted.position(columns),
            |value| wanted.matches(value),
        )?;
        wanted.answer(value, &[])
    }
}
