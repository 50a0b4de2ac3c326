//! `/{database}/{query}`: a stored query, as a form with its result, JSON, CSV or bytes.

use std::sync::Arc;

use actix_web::http::header::COOKIE;
use time::OffsetDateTime;

use super::app::App;
use super::incoming::Terms;
use super::query::{self, Job};
use super::request::Request;
use super::response::Response;
use super::routes::{Format as Extension, Route};
use crate::auth::find_cookie;
use crate::config::StoredQuery;
use crate::db::PageSnapshot;
use crate::error::{Error, Result};
use crate::query::QueryRequest;
use crate::query::parameters::{is_for_visitors, named};
use crate::query::stored::magic::{self, Known};

/// The stored query at an address that could be a table's. A table of the same name comes
/// first, as in Datasette.
pub async fn resolve(app: &Arc<App>, route: Route) -> Result<Route> {
    let Route::Table {
        database, table, ..
    } = &route
    else {
        return Ok(route);
    };
    if find(app, database, table).is_none() || Box::pin(is_table(app, database, table)).await? {
        return Ok(route);
    }
    Ok(match route {
        Route::Table {
            database,
            table,
            format,
        } => Route::StoredQuery {
            database,
            query: table,
            format,
        },
        other => other,
    })
}

fn find<'a>(app: &'a App, database: &str, name: &str) -> Option<&'a Arc<StoredQuery>> {
    app.config.database(database).queries.get(name)
}

async fn is_table(app: &App, database: &str, name: &str) -> Result<bool> {
    let Some(database) = app.registry.get(database).cloned() else {
        return Ok(false);
    };
    let name = name.to_owned();
    let turn = database.turns.enter().await;
    let looked = app.engine.offload(move |page| {
        let snapshot = PageSnapshot::begin(&database, &page.cancel)?;
        let is_table = snapshot.schema()?.table(&name).is_some();
        drop(turn);
        Ok(is_table)
    });
    looked.await
}

/// Whether what a stored query shows depends on its address and its database alone: the
/// server gives no parameter its value, such as a header of the request.
pub fn is_by_address(app: &App, database: &str, name: &str) -> bool {
    find(app, database, name)
        .is_some_and(|stored| named(&stored.sql).into_iter().all(is_for_visitors))
}

/// What is said to who sends a form to a stored query.
pub fn posted(app: &App, route: &Route) -> Error {
    match route {
        Route::StoredQuery {
            database, query, ..
        } if find(app, database, query).is_some_and(|query| query.is_write) => Error::Forbidden(
            format!("The query {query} would write, and this server only reads: it was not run"),
        ),
        _ => Error::MethodNotAllowed,
    }
}

/// Answers a request for a stored query.
pub async fn show(
    app: &Arc<App>,
    http: Request,
    terms: &Terms<'_>,
    database: &str,
    name: &str,
    extension: Extension,
) -> Result<Response> {
    let database = query::found(app, database)?;
    let stored = find(app, &database.name, name)
        .ok_or_else(|| Error::NotFound(format!("Query not found: {name}")))?;
    let format = query::format_of(&extension)?;
    let settings = &app.config.settings;
    let mut request = QueryRequest::of_stored(&http.query, format, settings, stored)?;
    if !stored.is_write {
        request.magic = magic_values(&http, terms, &stored.sql)?;
    } else if !matches!(extension, Extension::Html | Extension::Json) {
        return Err(Error::BadRequest(format!(
            "The query {name} writes: it has no rows"
        )));
    }
    let job = Job {
        app: app.clone(),
        database: database.clone(),
        http,
        request,
        stored: Some(stored.clone()),
    };
    query::answer(job, extension).await
}

fn magic_values(
    http: &Request,
    terms: &Terms<'_>,
    sql: &str,
) -> Result<Vec<(String, crate::db::Value)>> {
    let header = |name: &str| {
        let value = terms.headers.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let cookie = |name: &str| {
        let mut headers = terms.headers.get_all(COOKIE);
        headers.find_map(|value| Some(find_cookie(value.to_str().ok()?, name)?.to_owned()))
    };
    magic::values(
        sql,
        &Known {
            actor: http.actor.as_deref(),
            header: &header,
            cookie: &cookie,
            now: OffsetDateTime::now_utc(),
        },
    )
}
