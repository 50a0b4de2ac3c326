//! `/` and `/-/`: the front page, as HTML or JSON.

use std::sync::Arc;

use super::app::App;
use super::request::Request;
use super::response::{HTML, JSON, Response};
use super::routes::Format;
use super::templates::Frame;
use crate::database::{self, IndexEntry};
use crate::db::Database;
use crate::engine::Page;
use crate::error::Result;
use crate::render::{database_html, database_json, links};

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
        let mut databases: Vec<Arc<Database>> = self.app.registry.databases().cloned().collect();
        databases.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let by_relationships = self.request.query.get("_sort") == Some("relationships");
        let entries = database::index(page, &self.app.config, &databases, by_relationships)?;
        let listed = databases.iter().map(AsRef::as_ref).zip(&entries);
        match format {
            Format::Json => {
                let body = database_json::index(listed, &self.app.config, &self.request)?;
                Ok(Response::whole(200, JSON, body))
            }
            _ => self.html(listed),
        }
    }

    fn html<'a>(
        &self,
        listed: impl Iterator<Item = (&'a Database, &'a IndexEntry)>,
    ) -> Result<Response> {
        let (config, request) = (&self.app.config, &self.request);
        let alternate = links::alternate_json(request);
        let mut context = self.app.templates.context(&Frame {
            body_class: "index",
            crumbs: &[],
            alternate_json: &alternate,
            metadata: Some(config.instance()),
        });
        database_html::fill_index(&mut context, listed, config, request, self.is_alternative);
        let html = self.app.templates.render("index.html", &context)?;
        Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
    }
}
