//! `/{database}/{table}/-/autocomplete`: rows by a part of their label, as JSON for
//! a field that names a row of another table.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::app::App;
use super::request::Request;
use super::response::{JSON, Response};
use crate::error::{Error, Result};
use crate::render::json::{push_json, to_json};
use crate::row::autocomplete::{Found, Rows, Wanted, autocomplete};
use crate::table::arguments::parse_bool;

/// Characters of `q`, beyond which no label is looked for.
const LONGEST: usize = 500;

#[derive(Serialize)]
struct Document<'d> {
    ok: bool,
    rows: Vec<Row<'d>>,
    /// There if the table was too large to be read in time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

struct Row<'d>(&'d [String], &'d Found);

impl Serialize for Row<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(columns, found) = self;
        let pks = columns.iter().zip(&found.key);
        let pks: Map<String, Json> = pks
            .map(|(name, value)| (name.clone(), to_json(value)))
            .collect();
        let label = found.label.as_ref().map(to_json);
        let members = [("pks", Some(Json::Object(pks))), ("label", label)];
        serializer.collect_map(members.into_iter().filter_map(|(k, v)| Some((k, v?))))
    }
}

/// Answers `?q=`, or `?_initial=1` for something to begin with.
pub async fn show(
    app: &Arc<App>,
    request: Request,
    database: &str,
    table: String,
) -> Result<Response> {
    let found = app.registry.get(database);
    let database =
        found.ok_or_else(|| Error::NotFound(format!("Database not found: {database}")))?;
    let wanted = wanted(&request)?;
    let (job, database) = (Arc::clone(app), Arc::clone(database));
    let turn = database.turns.enter().await;
    let answered = app.engine.offload(move |page| {
        let asker = job.asker(&request);
        let rows = autocomplete(&job.config, asker, &database, &table, &wanted, &page.cancel);
        drop(turn);
        answer(&rows?)
    });
    answered.await
}

fn wanted(request: &Request) -> Result<Wanted> {
    let text = request.query.get("q").unwrap_or_default();
    if text.is_empty() && parse_bool(&request.query, "_initial")? == Some(true) {
        return Ok(Wanted::Latest);
    }
    if text.chars().count() > LONGEST {
        return Err(Error::BadRequest(format!(
            "q may have {LONGEST} characters"
        )));
    }
    Ok(Wanted::Like(text.to_owned()))
}

fn answer(rows: &Rows) -> Result<Response> {
    let document = Document {
        ok: true,
        rows: rows
            .rows
            .iter()
            .map(|row| Row(&rows.key_columns, row))
            .collect(),
        truncated: rows.is_partial,
    };
    let mut out = Vec::new();
    push_json(&mut out, &document)?;
    Ok(Response::whole(200, JSON, out).lasting(rows.lasts))
}
