//! `/{database}/-/query`: SQL that a visitor wrote, as a form with its result, JSON, CSV or bytes.

use std::collections::HashSet;
use std::sync::Arc;

use super::app::App;
use super::export::Export;
use super::request::Request;
use super::response::{HTML, JSON, Response, TEXT};
use super::routes::Format as Extension;
use super::templates::{Crumb, Frame, Subject};
use super::{blob, errors, query_export};
use crate::config::StoredQuery;
use crate::db::Database;
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::query::{QueryPage, QueryRequest, execute, parameters};
use crate::render::query_json::Sources;
use crate::render::{custom, database_json, links, query_html, query_json};
use crate::table::arguments::Format;

/// Answers a request for the SQL page.
pub async fn show(
    app: &Arc<App>,
    http: Request,
    database: &str,
    extension: Extension,
) -> Result<Response> {
    let database = found(app, database)?;
    let format = format_of(&extension)?;
    let mut request = QueryRequest::parse(&http.query, format, &app.config.settings)?;
    request.rules.closed = closed(app, &http, database);
    if request.is_blank() && extension != Extension::Html {
        return Err(Error::BadRequest("?sql= is required".into()));
    }
    let job = Job {
        app: app.clone(),
        database: database.clone(),
        http,
        request,
        stored: None,
    };
    answer(job, extension).await
}

/// The form that an extension stands for.
pub fn format_of(extension: &Extension) -> Result<Format> {
    match extension {
        Extension::Html => Ok(Format::Html),
        Extension::Json => Ok(Format::Json),
        Extension::Csv | Extension::Ndjson | Extension::Blob => Ok(Format::Csv),
        Extension::Other(_) => Err(extension.invalid()),
    }
}

/// The databases that are attached to this one and whose content the asker may not have.
fn closed(app: &App, http: &Request, database: &Database) -> Arc<HashSet<String>> {
    if !database.has_attached {
        return Arc::default();
    }
    let asker = app.asker(http);
    let others = app.registry.databases().filter(|d| d.name != database.name);
    let closed = others.filter(|other| !asker.may_run_sql(&other.name));
    Arc::new(closed.map(|d| d.name.to_ascii_lowercase()).collect())
}

/// Makes the page on the engine.
pub async fn answer(job: Job, extension: Extension) -> Result<Response> {
    let (app, database) = (job.app.clone(), job.database.clone());
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
pub fn found<'a>(app: &'a App, database: &str) -> Result<&'a Arc<Database>> {
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
    /// The stored query that it is about; `None` for SQL of the visitor.
    pub stored: Option<Arc<StoredQuery>>,
}

impl Job {
    /// Runs the query.
    pub fn execute(&self, page: &Page<'_>) -> Result<QueryPage> {
        execute::execute(page, &self.database, &self.request)
    }

    fn sources<'s>(&'s self, page: &'s QueryPage) -> Sources<'s> {
        Sources {
            config: &self.app.config,
            asker: self.app.asker(&self.http),
            database: &self.database,
            http: &self.http,
            request: &self.request,
            stored: self.stored.as_deref(),
            page,
        }
    }

    /// Whether it is a query that writes: it is shown, and not run.
    fn is_write(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.is_write)
    }

    fn json(&self, page: &Page<'_>) -> Result<Response> {
        let result = if self.is_write() {
            Ok(QueryPage::default())
        } else {
            // What is no query has the plain form of an error; the words of SQLite come with no rows.
            execute::check(&self.request)?;
            self.execute(page)
        };
        match result {
            Ok(result) => {
                let body = query_json::query(&self.sources(&result))?;
                let lines = self.request.newline_delimited;
                let response = Response::whole(200, if lines { TEXT } else { JSON }, body);
                Ok(response.lasting(result.lasts))
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
        if self.request.is_blank() || self.is_write() {
            // It shows nothing of the database.
            return Ok(self.form(200, &QueryPage::default(), "")?.lasting(true));
        }
        let result = execute::check(&self.request).and_then(|()| match self.execute(page) {
            // SQL that SQLite refuses is what the page is for: as in Datasette it is a
            // 200 that says why, while JSON has a 400.
            Err(Error::InvalidSql(message)) => Ok(Err(message)),
            result => result.map(Ok),
        });
        match result {
            Ok(Ok(result)) => Ok(self.form(200, &result, "")?.lasting(result.lasts)),
            Ok(Err(message)) => self.form(200, &QueryPage::default(), &message),
            Err(error) if matches!(error.status(), 400 | 403) => {
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
        let name = self.stored.as_ref().map(|stored| stored.name.as_str());
        let body_class = query_html::body_class(&self.database.name, name);
        let metadata = &self.app.config.database(&self.database.name).metadata;
        let metadata = match &self.stored {
            Some(stored) => &query_html::metadata(stored, metadata),
            None => metadata,
        };
        let subject = Subject::Query(&self.database.name, name);
        let template = self.app.templates.choose(&subject).for_request(http);
        let mut context = template.context(&Frame {
            body_class: &body_class,
            crumbs: &crumbs,
            alternate_json: &alternate,
            metadata: Some(metadata),
            actor: self.http.actor.as_deref(),
        });
        let sources = self.sources(result);
        query_html::fill(&mut context, &sources, error);
        custom::query(&mut context, &sources, template.wanted());
        let html = template.render(&context)?;
        Ok(Response::whole(status, HTML, html).alternate_json(&alternate))
    }

    fn blob(&self, page: &Page<'_>) -> Result<Response> {
        let wanted = blob::Wanted::parse(&self.http.query)?;
        let (value, lasts) = execute::find(
            page,
            &self.database,
            &self.request,
            |columns| wanted.position(columns),
            |value| wanted.matches(value),
        )?;
        Ok(wanted.answer(value, &[])?.lasting(lasts))
    }
}
