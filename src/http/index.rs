//! `/` and `/-/`: the front page, as HTML or JSON.

use std::sync::Arc;

use super::app::App;
use super::request::Request;
use super::response::{HTML, JSON, Response};
use super::routes::Format;
use super::templates::{Frame, Subject};
use crate::auth::{Action, Resource};
use crate::database::{self, IndexEntry};
use crate::db::Database;
use crate::engine::Page;
use crate::error::Result;
use crate::render::{custom, database_html, database_json, links};

/// Answers a request for the front page. `is_alternative`: asked for as `/-/`.
pub async fn show(
    app: &Arc<App>,
    request: Request,
    format: Format,
    is_alternative: bool,
) -> Result<Response> {
    if !matches!(format, Format::Html | Format::Json) {
        return Err(format.invalid());
    }
    let front = Front {
        app: Arc::clone(app),
        request,
        is_alternative,
    };
    app.engine
        .offload(move |page| front.run(page, &format))
        .await
}

struct Front {
    app: Arc<App>,
    request: Request,
    is_alternative: bool,
}

impl Front {
    fn run(&self, page: &Page<'_>, format: &Format) -> Result<Response> {
        let asker = self.app.asker(&self.request);
        let may_see = |database: &&Arc<Database>| {
            asker.may(Action::ViewDatabase, Resource::Database(&database.name))
        };
        let databases = self.app.registry.databases();
        let mut databases: Vec<Arc<Database>> = databases.filter(may_see).cloned().collect();
        databases.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let by_relationships = self.request.query.get("_sort") == Some("relationships");
        let entries = database::index(page, &self.app.config, asker, &databases, by_relationships)?;
        let lasts = entries.iter().all(|entry| entry.lasts);
        let listed = databases.iter().map(AsRef::as_ref).zip(&entries);
        let response = match format {
            Format::Json => {
                let body = database_json::index(listed, &self.app.config, asker, &self.request)?;
                Response::whole(200, JSON, body)
            }
            _ => self.html(listed)?,
        };
        Ok(response.lasting(lasts))
    }

    fn html<'a>(
        &self,
        listed: impl Iterator<Item = (&'a Database, &'a IndexEntry)>,
    ) -> Result<Response> {
        let (config, request) = (&self.app.config, &self.request);
        let alternate = links::alternate_json(request);
        let template = self
            .app
            .templates
            .choose(&Subject::Index)
            .for_request(request);
        let mut context = template.context(&Frame {
            body_class: "index",
            crumbs: &[],
            alternate_json: &alternate,
            metadata: Some(config.instance()),
            actor: request.actor.as_deref(),
        });
        let asker = self.app.asker(request);
        database_html::fill_index(
            &mut context,
            listed,
            config,
            asker,
            request,
            self.is_alternative,
        );
        custom::index(&mut context, template.wanted(), request);
        let html = template.render(&context)?;
        Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::config::Settings;
    use crate::http::app::test_app;
    use crate::http::incoming;
    use crate::http::response::Body;
    use actix_web::test::TestRequest;

    async fn text(address: &str, format: Format, is_alternative: bool) -> String {
        let http = TestRequest::with_uri(address).to_http_request();
        let (request, _) = incoming::read(&http, &Settings::default());
        let app = Arc::new(test_app());
        let response = show(&app, request, format, is_alternative).await.unwrap();
        match response.body {
            Body::Whole(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => panic!("this page is whole"),
        }
    }

    #[actix_web::test]
    async fn the_front_page_lists_the_databases() {
        let page = text("/", Format::Html, false).await;
        assert!(page.contains("<body class=\"index\"") && page.contains("href=\"/_memory\""));
        assert!(!page.contains("noindex"));
        let json: Value = serde_json::from_str(&text("/.json", Format::Json, false).await).unwrap();
        assert_eq!(json["databases"][0]["name"], "_memory");
        assert_eq!(json["databases"][0]["show_table_row_counts"], false);
    }

    #[actix_web::test]
    async fn search_engines_keep_away_from_its_other_address() {
        let page = text("/-/", Format::Html, true).await;
        assert!(page.contains("<meta name=\"robots\" content=\"noindex\">"));
    }
}
