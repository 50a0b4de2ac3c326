//! `/{database}/{table}`: a table page as HTML, JSON or CSV.

use std::sync::Arc;

use super::app::App;
use super::errors;
use super::export::Export;
use super::request::Request;
use super::response::{HTML, JSON, Response, TEXT};
use super::routes::Format as Extension;
use super::table_export;
use super::templates::{Crumb, Frame, Subject};
use crate::db::turns::Turn;
use crate::db::{Database, Version};
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::render::extras_json::{Sources, extras};
use crate::render::links::Links;
use crate::render::{custom, json, table_html};
use crate::table::execute::{Asked, Executed, execute};
use crate::table::extras::kept::KeptExtras;
use crate::table::redirect::canonical_query;
use crate::table::request::{Format, Shape, TableRequest};
use crate::table::{TablePage, Wanted, request};
use crate::text::query::join;

/// Times that a page begins again before it computes everything itself.
const PATIENCE: usize = 3;

/// Answers a request for a table or view. `seen` is the version of the database
/// when the request came in.
pub async fn show(
    app: &Arc<App>,
    request: Request,
    database: &str,
    table: &str,
    extension: &Extension,
    seen: Option<Version>,
) -> Result<Response> {
    let export = Export::of(&request, extension, &app.config.settings)?;
    let format = format_of(extension, export.is_some())?;
    let database = app
        .registry
        .get(database)
        .ok_or_else(|| Error::NotFound(format!("Database not found: {database}")))?;
    if let Some(query) = canonical_query(&request.query) {
        let location = request.prefixed(&join(&request.path, &query));
        let link = format!("<{location}>; rel=preload");
        return Ok(Response::redirect(302, &location).header("link", link));
    }
    let config = app.config.table(&database.name, table);
    let asked = TableRequest::parse(&request.query, format, &app.config.settings, config)?;
    let job = Job {
        app: app.clone(),
        database: database.clone(),
        table: table.to_owned(),
        http: request,
        request: asked,
        format,
        seen,
    };
    let ttl = job.request.ttl;
    let response = if let Some(export) = export {
        table_export::show(job, export).await?
    } else {
        // Held until the page has read what it needs.
        let turn = database.turns.enter().await;
        page(&Arc::new(job), turn).await?
    };
    Ok(response
        .cached_for(ttl)
        .header("referrer-policy", "no-referrer"))
}

/// The page as HTML or JSON. Where other pages are computing some of its
/// extras, it waits for them without a thread, a connection or a turn. If one of
/// those pages gives up (its client may have left) this one begins again.
async fn page(job: &Arc<Job>, turn: Option<Turn>) -> Result<Response> {
    let engine = &job.app.engine;
    let mut turn = turn;
    for _ in 0..PATIENCE {
        let (here, turn_now) = (job.clone(), turn.take());
        let executed = engine.offload(move |page| {
            let executed = here.execute(page, Some(&here.app.extras))?;
            drop(turn_now);
            Ok(match executed {
                Executed::Done(content) => Ok(here.render(&content)?),
                Executed::Unfinished(unfinished) => Err(unfinished),
            })
        });
        let unfinished = match executed.await? {
            Ok(response) => return Ok(response),
            Err(unfinished) => unfinished,
        };
        if let Some(content) = unfinished.finish().await {
            let here = job.clone();
            return engine.offload(move |_| here.render(&content)).await;
        }
        turn = job.database.turns.enter().await;
    }
    let here = job.clone();
    let alone = engine.offload(move |page| {
        let content = here.execute_alone(page)?;
        drop(turn);
        here.render(&content)
    });
    alone.await
}

fn format_of(extension: &Extension, is_export: bool) -> Result<Format> {
    match extension {
        _ if is_export => Ok(Format::Csv),
        Extension::Html => Ok(Format::Html),
        Extension::Json => Ok(Format::Json),
        other => Err(other.invalid()),
    }
}

/// A page that is handed to the engine, with all that it needs.
#[derive(Clone)]
pub struct Job {
    /// The program.
    pub app: Arc<App>,
    /// The database.
    pub database: Arc<Database>,
    /// The name of the table, which may not exist.
    pub table: String,
    /// The HTTP request.
    pub http: Request,
    /// What it asks for.
    pub request: TableRequest,
    /// In which form.
    pub format: request::Format,
    /// The version of the database when the request came in.
    pub seen: Option<Version>,
}

impl Job {
    /// What the plan is made of, with the extras that `kept` has.
    pub fn asked<'a>(&'a self, kept: Option<&'a KeptExtras>) -> Asked<'a> {
        Asked {
            config: &self.app.config,
            database: &self.database,
            table: &self.table,
            request: &self.request,
            wanted: Wanted::by(&self.request, &self.app.config, self.format),
            seen: self.seen,
            asker: self.app.asker(&self.http),
            kept,
        }
    }

    /// Runs the plan, with the extras that `kept` has.
    fn execute(&self, page: &Page<'_>, kept: Option<&KeptExtras>) -> Result<Executed> {
        execute(page, &self.asked(kept))
    }

    /// Runs the plan by itself.
    pub fn execute_alone(&self, page: &Page<'_>) -> Result<TablePage> {
        match self.execute(page, None)? {
            Executed::Done(content) => Ok(content),
            Executed::Unfinished(_) => Err(Error::Internal(
                "a page that shares nothing waits for another".into(),
            )),
        }
    }

    fn render(&self, content: &TablePage) -> Result<Response> {
        let links = Links::new(&self.http, &self.database.name, &self.table);
        let sources = Sources {
            config: &self.app.config,
            database: &self.database,
            http: &self.http,
            asker: self.app.asker(&self.http),
            request: &self.request,
            page: content,
            links: &links,
        };
        let next_url = Self::next_url(content, &links);
        let response = match self.format {
            Format::Html => self.html(&sources, next_url.as_deref())?,
            _ => self.json(&sources, next_url.as_deref())?,
        };
        let response = response.lasting(content.lasts);
        Ok(match next_url {
            Some(url) => response.header("link", format!("<{url}>; rel=\"next\"")),
            None => response,
        })
    }

    /// The absolute URL of the page after `page`.
    fn next_url(page: &TablePage, links: &Links<'_>) -> Option<String> {
        let sort = page
            .plan
            .order
            .sort
            .as_ref()
            .filter(|_| !page.plan.table.is_view());
        let sort = sort.map(|sort| {
            (
                if sort.descending {
                    "_sort_desc"
                } else {
                    "_sort"
                },
                sort.name.as_str(),
            )
        });
        page.next.as_deref().map(|token| links.next(token, sort))
    }

    fn html(&self, sources: &Sources<'_>, next_url: Option<&str>) -> Result<Response> {
        let alternate = sources.links.alternate_json();
        let table = &sources.page.plan.table;
        let crumb = |href: &str, label: &str| Crumb {
            href: href.to_owned(),
            label: label.to_owned(),
        };
        let crumbs = [
            crumb(&self.http.prefixed("/"), "home"),
            crumb(&sources.links.database, &self.database.name),
        ];
        let body_class = table_html::body_class(&self.database.name, &table.name);
        let subject = Subject::Table(&self.database.name, &table.name);
        let template = self.app.templates.choose(&subject).for_request(&self.http);
        let mut context = template.context(&Frame {
            body_class: &body_class,
            crumbs: &crumbs,
            alternate_json: &alternate,
            metadata: Some(
                &self
                    .app
                    .config
                    .table(&self.database.name, &table.name)
                    .metadata,
            ),
            actor: self.http.actor.as_deref(),
        });
        table_html::fill(&mut context, sources, next_url.unwrap_or_default());
        custom::table(&mut context, sources, template.wanted());
        let html = template.render(&context)?;
        Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
    }

    fn json(&self, sources: &Sources<'_>, next_url: Option<&str>) -> Result<Response> {
        let around = json::Surroundings {
            request: &self.request,
            next_url,
            extras: extras(sources),
        };
        let body = match json::table(sources.page, &around) {
            Ok(body) => body,
            // The page is there, but not in this shape: the next one is where it would be.
            Err(error @ Error::BadRequest(_)) => return Ok(errors::as_json(&error)),
            Err(error) => return Err(error),
        };
        let lines = self.request.newline_delimited && self.request.shape == Shape::Array;
        Ok(Response::whole(200, if lines { TEXT } else { JSON }, body))
    }
}
