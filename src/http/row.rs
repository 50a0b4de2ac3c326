//! `/{database}/{table}/{key}`: one row as HTML, JSON or CSV, or the bytes in one of its columns.

use std::sync::Arc;

use super::app::App;
use super::blob;
use super::csv_answer;
use super::request::Request;
use super::response::{HTML, JSON, Response, TEXT};
use super::routes::Format as Extension;
use super::templates::{Crumb, Frame, Subject};
use crate::db::Database;
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::render::csv::{Columns, CsvContext, blob_url_into};
use crate::render::row_json::Sources;
use crate::render::{custom, links, row_html, row_json};
use crate::row::execute::{Wanted, execute};
use crate::row::{RowPage, RowRequest};
use crate::table::arguments::Format;
use crate::text::{css, tilde};

/// Answers a request for a row.
pub async fn show(
    app: &Arc<App>,
    http: Request,
    database: &str,
    table: String,
    key: &str,
    extension: Extension,
) -> Result<Response> {
    let format = match extension {
        Extension::Html => Format::Html,
        Extension::Json => Format::Json,
        Extension::Csv | Extension::Blob => Format::Csv,
        Extension::Ndjson | Extension::Other(_) => return Err(extension.invalid()),
    };
    let database = app
        .registry
        .get(database)
        .ok_or_else(|| Error::NotFound(format!("Database not found: {database}")))?;
    if extension == Extension::Csv {
        csv_answer::streams(&http, &app.config.settings)?;
    }
    let request = RowRequest::parse(key, &http.query, format, &app.config.settings)?;
    let ttl = request.ttl;
    let job = Job {
        app: app.clone(),
        database: database.clone(),
        table,
        http,
        request,
    };
    let is_csv = extension == Extension::Csv;
    let turn = database.turns.enter().await;
    let response = app.engine.offload(move |page| {
        let response = job.run(page, &extension);
        drop(turn);
        response
    });
    let response = response.await?;
    Ok(if is_csv {
        response
    } else {
        response
            .cached_for(ttl)
            .header("referrer-policy", "no-referrer")
    })
}

/// A page that is handed to the engine, with all that it needs.
struct Job {
    app: Arc<App>,
    database: Arc<Database>,
    table: String,
    http: Request,
    request: RowRequest,
}

impl Job {
    fn run(&self, page: &Page<'_>, extension: &Extension) -> Result<Response> {
        let blob = match extension {
            Extension::Blob => Some(blob::Wanted::parse(&self.http.query)?),
            _ => None,
        };
        let is_html = *extension == Extension::Html;
        let is_json = *extension == Extension::Json;
        let wanted = Wanted {
            labels: is_html,
            incoming: is_html || is_json && row_json::wants_incoming(&self.request),
        };
        let config = &self.app.config;
        let row = execute(
            page,
            config,
            self.app.asker(&self.http),
            &self.database,
            &self.table,
            &self.request,
            wanted,
        )?;
        if let Some(blob) = blob {
            return Ok(self.blob(&blob, &row)?.lasting(row.lasts));
        }
        let sources = Sources {
            config,
            database: &self.database,
            asker: self.app.asker(&self.http),
            http: &self.http,
            request: &self.request,
            page: &row,
        };
        let response = match extension {
            Extension::Html => self.html(&sources)?,
            Extension::Csv => self.csv(&row)?,
            _ => self.json(&sources)?,
        };
        Ok(response.lasting(row.lasts))
    }

    fn html(&self, sources: &Sources<'_>) -> Result<Response> {
        let (http, table) = (&self.http, &sources.page.table.name);
        let alternate = links::alternate_json(http);
        let database_path = links::database(http, &self.database.name);
        let crumb = |href: String, label: &str| Crumb {
            href,
            label: label.to_owned(),
        };
        let crumbs = [
            crumb(http.prefixed("/"), "home"),
            crumb(database_path.clone(), &self.database.name),
            crumb(links::table(&database_path, table), table),
        ];
        let body_class = row_html::body_class(&self.database.name, table);
        let subject = Subject::Row(&self.database.name, table);
        let template = self.app.templates.choose(&subject).for_request(http);
        let mut context = template.context(&Frame {
            body_class: &body_class,
            crumbs: &crumbs,
            alternate_json: &alternate,
            metadata: None,
            actor: self.http.actor.as_deref(),
        });
        row_html::fill(&mut context, sources);
        custom::row(&mut context, sources, template.wanted());
        let html = template.render(&context)?;
        Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
    }

    fn json(&self, sources: &Sources<'_>) -> Result<Response> {
        let body = row_json::row(sources)?;
        let lines = self.request.newline_delimited;
        Ok(Response::whole(200, if lines { TEXT } else { JSON }, body))
    }

    fn csv(&self, row: &RowPage) -> Result<Response> {
        let columns = Columns {
            names: row.columns(),
            expanded: &[],
            labels: &[],
        };
        let encode = |name: &str| tilde::encode(name.as_bytes());
        let path = format!("/{}/{}", encode(&self.database.name), encode(&self.table));
        let table_url = self.http.absolute(&path);
        let context = CsvContext {
            table_url: &table_url,
        };
        let has_header = csv_answer::has_header(&self.http);
        let lines = columns.lines(&row.rows, has_header, |url, _, n| {
            blob_url_into(url, &row.columns()[n], row.key_values(), &context);
        });
        let mut response = Response::whole(200, TEXT, lines?);
        response.headers = csv_answer::headers(&self.http, &encode(&self.table));
        Ok(response)
    }

    fn blob(&self, wanted: &blob::Wanted, row: &RowPage) -> Result<Response> {
        let position = wanted.position(row.columns())?;
        let value = row.row().and_then(|row| row.get(position));
        let value = value.filter(|&value| wanted.matches(value));
        wanted.answer(
            value.map(|value| value.owned()),
            &[&css::class(&row.table.name), &self.request.path],
        )
    }
}
