//! From a [`Route`] to the page that answers it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::answers::Key;
use super::app::App;
use super::errors;
use super::etag;
use super::incoming::Terms;
use super::request::Request;
use super::response::{Response, TEXT, max_age};
use super::routes::{Format, Route, SchemaOf, Special};
use super::{
    allow_debug, allowed, autocomplete, database, download, index, jump, login, queries, query,
    row, schema, search, special, stored, table,
};
use crate::auth::{Action, Asker, Resource};
use crate::db::{Database, Version};
use crate::error::{Error, Result};
use crate::table::arguments::parse_ttl;

/// Answers a request. Pages are asked for with GET or HEAD; the body of a HEAD
/// is dropped later, so a page that would have to make one looks at the method.
pub async fn answer(
    app: &Arc<App>,
    request: Request,
    terms: &Terms<'_>,
    route: Route,
) -> Result<Response> {
    let is_read = matches!(&*request.method, "GET" | "HEAD");
    if !is_read && request.method != "OPTIONS" {
        terms.initiator.check()?;
    }
    let route = stored::resolve(app, route).await?;
    if route != Route::Nothing {
        permit(app.asker(&request), &route)?;
    }
    match &*request.method {
        _ if is_read => page(app, request, terms, route).await,
        "POST" if route == Route::Logout => login::logout(app, &request),
        "POST" if let Route::StoredQuery { .. } = route => Err(stored::posted(app, &route)),
        _ if route == Route::Nothing => Err(errors::nothing()),
        "OPTIONS" => Ok(Response::whole(200, TEXT, "ok").header("allow", "HEAD, GET")),
        _ => Err(Error::MethodNotAllowed),
    }
}

/// 403 for a page that the asker may not see. Whether it is there is nothing they learn.
fn permit(asker: Asker<'_>, route: &Route) -> Result<()> {
    match route {
        Route::Index { .. }
        | Route::Jump
        | Route::AllowDebug
        | Route::Allowed { .. }
        | Route::Queries { database: None, .. } => {
            asker.check(Action::ViewInstance, Resource::Instance)
        }
        Route::Schema { of, .. } => match of {
            SchemaOf::Site => asker.check(Action::ViewInstance, Resource::Instance),
            SchemaOf::Database(name) => asker.check(Action::ViewDatabase, Resource::Database(name)),
            SchemaOf::Table(database, name) => {
                asker.check(Action::ViewTable, Resource::Table(database, name))
            }
        },
        Route::Permissions => asker.check(Action::Debug, Resource::Instance),
        Route::Special { page, .. } => match page {
            Special::Actor => Ok(()),
            Special::Threads | Special::Actions => asker.check(Action::Debug, Resource::Instance),
            _ => asker.check(Action::ViewInstance, Resource::Instance),
        },
        Route::Download { database } => {
            asker.check(Action::DownloadDatabase, Resource::Database(database))
        }
        Route::Database { database, .. } | Route::Search { database, .. } => {
            asker.check(Action::ViewDatabase, Resource::Database(database))
        }
        Route::Query { database, .. } | Route::QueryParameters { database } => {
            asker.check(Action::ExecuteSql, Resource::Database(database))
        }
        Route::Queries {
            database: Some(database),
            ..
        } => asker.check(Action::ViewDatabase, Resource::Database(database)),
        Route::StoredQuery {
            database, query, ..
        } => asker.check(Action::ViewQuery, Resource::Query(database, query)),
        Route::Table {
            database, table, ..
        }
        | Route::Row {
            database, table, ..
        }
        | Route::Autocomplete { database, table } => {
            asker.check(Action::ViewTable, Resource::Table(database, table))
        }
        Route::AuthToken
        | Route::Logout
        | Route::Static(_)
        | Route::Mounted(_)
        | Route::Favicon
        | Route::Moved { .. }
        | Route::Nothing => Ok(()),
    }
}

async fn page(
    app: &Arc<App>,
    request: Request,
    terms: &Terms<'_>,
    route: Route,
) -> Result<Response> {
    let if_none_match = terms.if_none_match;
    match route {
        Route::Special { page, format } => {
            let shown = special::show(app, &request, page, format)?;
            Ok(etag::by_content(shown, if_none_match))
        }
        Route::Static(name) => {
            let hash = request.query.get("_hash");
            app.statics.file(&name, hash, if_none_match)
        }
        Route::Mounted(file) => {
            let is_head = terms.head;
            app.mounts.show(&file, is_head, terms.headers).await
        }
        Route::Favicon => app.statics.icon(if_none_match),
        Route::AllowDebug => allow_debug::show(app, &request),
        Route::Permissions => Ok(Response::redirect(302, &request.prefixed("/-/allowed"))),
        Route::AuthToken => login::auth_token(app, &request),
        Route::Logout => login::logout(app, &request),
        Route::Moved { to, keep_query } => Ok(moved(&request, terms, &to, keep_query)),
        Route::Nothing => Err(errors::nothing()),
        route => match key(app, &request, &route) {
            Some(key) => {
                let seen = key.versions.first().copied();
                let cache_control = cache_control(app, &request, &route);
                // Boxed, and only when it is needed: it is large beside what most requests need.
                let make = || Box::pin(of_database(app, request, terms, route, seen));
                let answers = &app.answers;
                answers
                    .answer(key, if_none_match, cache_control, make)
                    .await
            }
            None => Box::pin(of_database(app, request, terms, route, None)).await,
        },
    }
}

/// Which answer it is, among all that may be kept: `None` for a page that is not,
/// and while a database changes.
fn key(app: &App, request: &Request, route: &Route) -> Option<Key> {
    let mut address = request.address();
    // What a page shows depends on who asks.
    if let Some(actor) = &request.actor {
        let _ = write!(address, " {}", Value::Object(actor.facts().clone()));
    }
    let mut versions = Vec::with_capacity(1);
    match route {
        Route::Table {
            database, format, ..
        }
        | Route::Row {
            database, format, ..
        }
        | Route::Query { database, format }
        | Route::StoredQuery {
            database, format, ..
        } => {
            let is_kept = match format {
                Format::Html | Format::Blob => true,
                // A stream has no whole body, and the answer to a HEAD is without rows.
                Format::Json => request.query.get("_stream").is_none(),
                Format::Csv | Format::Ndjson => {
                    request.method == "GET" && request.query.get("_stream").is_none()
                }
                Format::Other(_) => false,
            };
            let is_by_address = match route {
                Route::StoredQuery { query, .. } => stored::is_by_address(app, database, query),
                _ => true,
            };
            if !is_kept || !is_by_address {
                return None;
            }
            versions.push(app.registry.get(database)?.version()?);
        }
        Route::Database { database, .. } => {
            let database = app.registry.get(database)?;
            versions.push(database.version()?);
            push_size(&mut address, database);
        }
        Route::Autocomplete { database, .. }
        | Route::Search {
            database,
            format: Format::Html | Format::Json,
        }
        | Route::Schema {
            of: SchemaOf::Database(database) | SchemaOf::Table(database, _),
            ..
        } => versions.push(app.registry.get(database)?.version()?),
        Route::Jump
        | Route::Allowed { .. }
        | Route::Schema {
            of: SchemaOf::Site, ..
        } => {
            for database in app.registry.databases() {
                versions.push(database.version()?);
            }
        }
        Route::Index { .. } => {
            for database in app.registry.databases() {
                versions.push(database.version()?);
                push_size(&mut address, database);
            }
        }
        _ => return None,
    }
    Some(Key { versions, address })
}

/// The `cache-control` that a page will have.
fn cache_control(app: &App, request: &Request, route: &Route) -> Option<Cow<'static, str>> {
    let is_of_rows = match route {
        Route::Table { .. } => true,
        Route::Row { format, .. } => *format != Format::Csv,
        _ => false,
    };
    is_of_rows.then(|| max_age(parse_ttl(&request.query, &app.config.settings)))
}

/// These pages tell the size of the file, which can change while its content stays.
fn push_size(address: &mut String, database: &Database) {
    let _ = write!(address, " {}", database.size());
}

/// Makes a page of a database. `seen` is the version that it had when the request came in.
async fn of_database(
    app: &Arc<App>,
    request: Request,
    terms: &Terms<'_>,
    route: Route,
    seen: Option<Version>,
) -> Result<Response> {
    match route {
        Route::Table {
            database,
            table: name,
            format,
        } => table::show(app, request, &database, &name, &format, seen).await,
        // The pages of databases: each calls `show` of its module in this folder.
        Route::Index {
            format,
            alternative,
        } => index::show(app, request, format, alternative).await,
        Route::Download { database } => download::show(app, &request, &database, terms).await,
        Route::Database { database, format } => {
            database::show(app, request, &database, format).await
        }
        Route::Query { database, format } => query::show(app, request, &database, format).await,
        Route::Schema { of, form } => schema::show(app, request, of, form).await,
        Route::Jump => jump::show(app, request).await,
        Route::Allowed { format } => allowed::show(app, request, &format).await,
        Route::Search { database, format } => search::show(app, request, &database, &format).await,
        Route::Autocomplete {
            database,
            table: name,
        } => autocomplete::show(app, request, &database, name).await,
        Route::QueryParameters { database } => {
            let names = query::show_parameters(app, &request, &database)?;
            Ok(etag::by_content(names, terms.if_none_match))
        }
        Route::Queries { database, format } => {
            let listed = queries::show(app, &request, database.as_deref(), &format)?;
            Ok(etag::by_content(listed, terms.if_none_match))
        }
        Route::StoredQuery {
            database,
            query: name,
            format,
        } => stored::show(app, request, terms, &database, &name, format).await,
        Route::Row {
            database,
            table: name,
            pks,
            format,
        } => row::show(app, request, &database, name, &pks, format).await,
        _ => Err(errors::nothing()),
    }
}

/// 301. The new address has the prefix, even if a proxy has taken that off the old one.
fn moved(request: &Request, terms: &Terms<'_>, to: &str, keep_query: bool) -> Response {
    let query = if keep_query { terms.query } else { "" };
    let location = crate::text::query::join(&request.prefixed(to), query);
    Response::redirect(301, &location)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::http::app::test_app;
    use crate::http::{incoming, routes};
    use actix_web::http::Method;
    use actix_web::test::TestRequest;

    async fn ask(method: Method, path: &str) -> Result<Response> {
        let app = Arc::new(test_app());
        let http = TestRequest::with_uri(path).method(method).to_http_request();
        let (request, terms) = incoming::read(&http, &Settings::default());
        let route = routes::resolve(&request.path);
        answer(&app, request, &terms, route).await
    }

    #[actix_web::test]
    async fn pages_are_read_only() {
        for method in [
            Method::POST,
            Method::PUT,
            Method::DELETE,
            Method::PATCH,
            Method::TRACE,
        ] {
            let error = ask(method.clone(), "/-/versions").await.err();
            assert_eq!(error, Some(Error::MethodNotAllowed), "{method}");
        }
        let error = ask(Method::POST, "/no/such/page/there")
            .await
            .err()
            .expect("no page");
        assert_eq!(error.status(), 404);
    }

    #[actix_web::test]
    async fn options_tells_the_methods() {
        let response = ask(Method::OPTIONS, "/-/versions.json")
            .await
            .expect("an answer");
        assert_eq!(response.status, 200);
        assert!(response.headers.contains(&("allow", "HEAD, GET".into())));
    }

    #[actix_web::test]
    async fn an_address_that_moved_is_a_301() {
        for (path, location) in [("/-?x=1", "/-/"), ("/:memory:/t?x=1", "/_memory/t?x=1")] {
            let response = ask(Method::GET, path).await.expect("an answer");
            assert_eq!(response.status, 301);
            assert!(
                response.headers.contains(&("location", location.into())),
                "{path}"
            );
        }
    }
}
