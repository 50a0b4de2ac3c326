//! `/-/jump`: databases, tables and views by a part of their name, as JSON for the
//! box that leads from anywhere to anywhere.

use std::sync::Arc;

use serde::Serialize;

use super::app::App;
use super::request::Request;
use super::response::{JSON, Response};
use crate::auth::{Action, Resource};
use crate::database::jump::{Place, places};
use crate::error::Result;
use crate::render::json::push_json;
use crate::text::tilde;

/// Characters of `q` that count. No name is found by more.
const LONGEST: usize = 200;

#[derive(Serialize)]
struct Document<'d> {
    ok: bool,
    matches: Vec<Match<'d>>,
    truncated: bool,
}

#[derive(Serialize)]
struct Match<'d> {
    name: &'d str,
    url: String,
    r#type: &'static str,
    description: Option<&'d str>,
}

impl<'d> Match<'d> {
    fn of(place: &'d Place, request: &Request) -> Self {
        let mut url = request.prefixed("");
        for name in &place.path {
            url.push('/');
            tilde::encode_into(&mut url, name.as_bytes());
        }
        Self {
            name: &place.name,
            url,
            r#type: place.kind.name(),
            description: place.description,
        }
    }
}

/// Answers `?q=`.
pub async fn show(app: &Arc<App>, request: Request) -> Result<Response> {
    let job = app.clone();
    let answered = app.engine.offload(move |page| {
        let asker = job.asker(&request);
        let databases: Vec<_> = job
            .registry
            .databases()
            .filter(|database| asker.may(Action::ViewDatabase, Resource::Database(&database.name)))
            .cloned()
            .collect();
        let search = request.query.get("q").unwrap_or_default();
        let search: String = search.chars().take(LONGEST).collect();
        let (places, truncated) = places(&job.config, asker, &databases, &search, &page.cancel)?;
        let document = Document {
            ok: true,
            matches: places
                .iter()
                .map(|place| Match::of(place, &request))
                .collect(),
            truncated,
        };
        let mut out = Vec::new();
        push_json(&mut out, &document)?;
        Ok(Response::whole(200, JSON, out).lasting(true))
    });
    answered.await
}
