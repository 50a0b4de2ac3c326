//! `/{database}`: the tables of a database, as HTML or JSON.

use std::sync::Arc;

use super::app::App;
use super::request::Request;
use super::response::{HTML, JSON, Response};
use super::routes::Format;
use super::templates::{Crumb, Frame, Subject};
use crate::database::execute::Counted;
use crate::database::{self, DatabasePage};
use crate::db::Database;
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::render::{custom, database_html, database_json, links};
use crate::search::searchable;
use crate::text::query::join;

/// Answers a request for a database.
pub async fn show(
    app: &Arc<App>,
    request: Request,
    database: &str,
    format: Format,
) -> Result<Response> {
    let database = app
        .registry
        .get(database)
        .ok_or_else(|| Error::NotFound(format!("Database not found: {database}")))?;
    if request
        .query
        .get("sql")
        .is_some_and(|sql| !sql.trim().is_empty())
    {
        return Ok(to_query_page(&request, database, &format));
    }
    if !matches!(format, Format::Html | Format::Json) {
        return Err(format.invalid());
    }
    let job = Job {
        app: Arc::clone(app),
        database: Arc::clone(database),
        request,
    };
    app.engine.offload(move |page| job.run(page, &format)).await
}

/// SQL has a page of its own; links from before that was so still work.
fn to_query_page(request: &Request, database: &Database, format: &Format) -> Response {
    let mut path = links::database(request, &database.name);
    path.push_str("/-/query");
    if let Some(extension) = format.extension() {
        path.push('.');
        path.push_str(extension);
    }
    Response::redirect(302, &join(&path, request.query.raw()))
}

struct Job {
    app: Arc<App>,
    database: Arc<Database>,
    request: Request,
}

impl Job {
    fn run(&self, page: &Page<'_>, format: &Format) -> Result<Response> {
        let (config, database) = (&self.app.config, &self.database);
        let is_json = *format == Format::Json;
        let counted = if is_json || database_html::shows_hidden(&self.request) {
            Counted::All
        } else {
            Counted::Visible
        };
        let asker = self.app.asker(&self.request);
        let listing = database::execute(page, config, asker, database, counted)?;
        if is_json {
            let body = database_json::database(&listing, config, asker, database, &self.request)?;
            return Ok(Response::whole(200, JSON, body).lasting(listing.lasts));
        }
        Ok(self.html(&listing)?.lasting(listing.lasts))
    }

    fn html(&self, listing: &DatabasePage) -> Result<Response> {
        let (config, database, request) = (&self.app.config, &self.database, &self.request);
        let alternate = links::alternate_json(request);
        let crumbs = [Crumb {
            href: request.prefixed("/"),
            label: "home".to_owned(),
        }];
        let body_class = database_html::body_class(&database.name);
        let template = self
            .app
            .templates
            .choose(&Subject::Database(&database.name))
            .for_request(request);
        let mut context = template.context(&Frame {
            body_class: &body_class,
            crumbs: &crumbs,
            alternate_json: &alternate,
            metadata: Some(&config.database(&database.name).metadata),
            actor: request.actor.as_deref(),
        });
        let asker = self.app.asker(request);
        database_html::fill_database(&mut context, listing, config, asker, database, request);
        let can_search = !searchable(config, &database.name, &listing.schema).is_empty();
        context.insert("can_search", &can_search);
        custom::database(&mut context, template.wanted(), request, || {
            database_json::database(listing, config, asker, database, request)
        })?;
        let html = template.render(&context)?;
        Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::Settings;
    use crate::http::app::test_app;
    use crate::http::incoming;
    use crate::http::response::Body;
    use actix_web::test::TestRequest;

    async fn ask(address: &str, database: &str, format: Format) -> Result<Response> {
        let http = TestRequest::with_uri(address).to_http_request();
        let (request, _) = incoming::read(&http, &Settings::default());
        show(&Arc::new(test_app()), request, database, format).await
    }

    fn text(response: &Response) -> String {
        match &response.body {
            Body::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => panic!("this page is whole"),
        }
    }

    #[actix_web::test]
    async fn an_empty_database_has_a_page_and_json() {
        let page = ask("/_memory", "_memory", Format::Html).await.unwrap();
        assert!(
            text(&page).contains("<body class=\"db db-memory-"),
            "{}",
            text(&page)
        );
        let page = ask("/_memory.json", "_memory", Format::Json).await.unwrap();
        let page: Value = serde_json::from_str(&text(&page)).unwrap();
        assert_eq!(page["tables"], json!([]));
        assert_eq!(page["table_columns"], json!({}));
    }

    #[actix_web::test]
    async fn sql_is_sent_on_to_its_own_page_in_any_format() {
        let format = Format::Other("xyz".into());
        let response = ask("/_memory.xyz?sql=select+1&a=%20", "_memory", format).await;
        let location = "/_memory/-/query.xyz?sql=select+1&a=%20".to_owned();
        assert!(
            response
                .unwrap()
                .headers
                .contains(&("location", location.into()))
        );
        let blank = ask("/_memory?sql=+", "_memory", Format::Html).await;
        assert_eq!(blank.unwrap().status, 200);
    }

    #[actix_web::test]
    async fn other_formats_and_other_names_are_not_found() {
        for (database, format) in [("_memory", Format::Csv), ("nope", Format::Html)] {
            let error = ask("/x", database, format).await.err();
            assert_eq!(error.map(|error| error.status()), Some(404), "{database}");
        }
    }
}
