//! `/-/queries` and `/{database}/-/queries`: the stored queries, as HTML or JSON.

use std::sync::Arc;

use super::app::App;
use super::query;
use super::request::Request;
use super::response::{HTML, JSON, Response};
use super::routes::Format;
use super::templates::{Crumb, Frame};
use crate::db::Database;
use crate::error::Result;
use crate::query::stored::{ListRequest, list};
use crate::render::{links, queries_html, queries_json};

/// Answers a request for the list of all databases or of one.
pub fn show(
    app: &App,
    http: &Request,
    database: Option<&str>,
    format: &Format,
) -> Result<Response> {
    if !matches!(format, Format::Html | Format::Json) {
        return Err(format.invalid());
    }
    let database: Option<&Arc<Database>> =
        database.map(|name| query::found(app, name)).transpose()?;
    let parts = if database.is_some() { 2 } else { 3 };
    let request = ListRequest::parse(&http.query, &app.config.settings, parts)?;
    let mut names: Vec<&str> = match database {
        Some(database) => vec![&database.name],
        None => app.registry.databases().map(|d| d.name.as_str()).collect(),
    };
    names.sort_unstable();
    let all = list::seen(&app.config, app.asker(http), names);
    let page = request.page(all, database.is_none());
    let sources = queries_json::Sources {
        database: database.map(AsRef::as_ref),
        http,
        request: &request,
        page: &page,
    };
    if *format == Format::Json {
        let body = queries_json::queries(&sources).to_string();
        return Ok(Response::whole(200, JSON, body));
    }
    let alternate = links::alternate_json(http);
    let mut crumbs = vec![Crumb {
        href: http.prefixed("/"),
        label: "home".to_owned(),
    }];
    crumbs.extend(database.map(|database| Crumb {
        href: links::database(http, &database.name),
        label: database.name.clone(),
    }));
    let metadata = match database {
        Some(database) => &app.config.database(&database.name).metadata,
        None => app.config.instance(),
    };
    let body_class = queries_html::body_class(sources.database);
    let mut context = app.templates.context(&Frame {
        body_class: &body_class,
        crumbs: &crumbs,
        alternate_json: &alternate,
        metadata: Some(metadata),
        actor: http.actor.as_deref(),
    });
    queries_html::fill(&mut context, &sources);
    let html = app.templates.render("queries.html", &context)?;
    Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
}
