//! The result of a query as JSON.

use serde_json::{Map, Value as Json, json};

use super::extras_json::{list_of_extras, request_as_json};
use super::json::push_members;
use super::json_rows::{JsonRows, Options};
use super::query_facets;
use crate::auth::{Action, Asker, Resource};
use crate::config::{Config, StoredQuery};
use crate::db::Database;
use crate::error::Result;
use crate::http::request::Request;
use crate::query::{QueryPage, QueryRequest};
use crate::table::extras::{Extra, Scope};
use crate::text::tilde;

/// Everything that the page of a query is made of.
pub struct Sources<'s> {
    /// The configuration.
    pub config: &'s Config,
    /// The database.
    pub database: &'s Database,
    /// The HTTP request.
    pub http: &'s Request,
    /// Who sent it.
    pub asker: Asker<'s>,
    /// What it asks for.
    pub request: &'s QueryRequest,
    /// The stored query that it is about.
    pub stored: Option<&'s StoredQuery>,
    /// What came out.
    pub page: &'s QueryPage,
}

impl Sources<'_> {
    /// Whether the asker may go on with this SQL on the SQL page, where it has no
    /// magic parameters and can't write.
    pub(super) fn may_edit_sql(&self) -> bool {
        !self.request.has_magic()
            && !self.stored.is_some_and(|stored| stored.is_write)
            && self.asker.may_run_sql(&self.database.name)
    }
}

/// The result in the shape that was asked for.
pub fn query(s: &Sources<'_>) -> Result<Vec<u8>> {
    let (page, request) = (s.page, s.request);
    let options = Options {
        shape: request.shape,
        lines: request.newline_delimited,
        infinity: request.json_infinity,
        json_columns: &request.json_columns,
    };
    let rows = JsonRows::new(&page.rows.columns, &page.rows, &[], &options);
    let no_key = "_shape=object is only available on tables and their rows";
    if let Some(alone) = rows.alone(Err(no_key))? {
        return Ok(alone);
    }
    let mut out = rows.buffer();
    out.extend_from_slice(b"{\"ok\": true, \"rows\": ");
    rows.write(&mut out);
    let extras = request.extras.iter();
    let extras: Map<String, Json> = extras
        .map(|&extra| (extra.name().to_owned(), one(s, extra)))
        .collect();
    push_members(&mut out, &extras)?;
    if !request.facets.is_empty() {
        let mut facets = Map::new();
        facets.insert("facet_results".to_owned(), query_facets::results(s));
        push_members(&mut out, &facets)?;
    }
    out.extend_from_slice(b", \"truncated\": ");
    out.extend_from_slice(if page.truncated { b"true}" } else { b"false}" });
    Ok(out)
}

/// The answer to SQL that SQLite refused: an error, and no rows.
pub fn refused(message: &str, status: u16) -> Json {
    json!({
        "ok": false,
        "rows": [],
        "error": message,
        "errors": [message],
        "status": status,
        "truncated": false,
    })
}

/// One extra.
pub(super) fn one(s: &Sources<'_>, extra: Extra) -> Json {
    match extra {
        Extra::Columns => json!(s.page.rows.columns),
        Extra::RenderCell => s.page.rows.iter().map(|_| json!({})).collect(),
        Extra::Debug => {
            let mut vars = json!({"database": tilde::encode(s.database.name.as_bytes())});
            if let Some(stored) = s.stored {
                vars["table"] = tilde::encode(stored.name.as_bytes()).into();
            }
            vars["format"] = "json".into();
            json!({"url_vars": vars})
        }
        Extra::Request => request_as_json(s.http),
        Extra::Query => json!({"sql": s.request.sql, "params": params(s.request)}),
        Extra::Metadata => match s.stored {
            Some(stored) => {
                let mut all = stored.as_json(&s.database.name);
                all.shift_remove("source");
                all.into()
            }
            None => json!(s.config.database(&s.database.name).metadata.all),
        },
        Extra::Database => json!(s.database.name),
        Extra::DatabaseColor => json!(s.database.color()),
        Extra::Private => json!(is_private(s)),
        Extra::Extras => list_of_extras(Scope::Query, &s.request.extras, s.http),
        // The request knows no others.
        _ => Json::Null,
    }
}

/// Whether others than the asker are kept out.
fn is_private(s: &Sources<'_>) -> bool {
    let database = s.database.name.as_str();
    let (action, resource) = match s.stored {
        Some(stored) => (Action::ViewQuery, Resource::Query(database, &stored.name)),
        None => (Action::ExecuteSql, Resource::Database(database)),
    };
    s.asker.is_private(action, resource)
}

fn params(request: &QueryRequest) -> Map<String, Json> {
    let parameters = request.parameters.iter();
    parameters
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect()
}
