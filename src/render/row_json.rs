//! A row page as JSON.

use serde_json::{Map, Value as Json, json};

use super::extras_json::{column_details, list_of_extras, metadata, request_as_json};
use super::json::{push_json, push_members, to_json};
use super::json_rows::{JsonRows, Options};
use super::links;
use crate::auth::Asker;
use crate::config::Config;
use crate::db::Database;
use crate::error::Result;
use crate::http::request::Request;
use crate::row::incoming::Incoming;
use crate::row::{RowPage, RowRequest};
use crate::table::arguments::Shape;
use crate::table::extras::{Extra, Scope};
use crate::text::query::{encode, join};
use crate::text::tilde;

/// Everything that a row page is made of.
pub struct Sources<'s> {
    /// The configuration.
    pub config: &'s Config,
    /// The database.
    pub database: &'s Database,
    /// The HTTP request.
    pub http: &'s Request,
    /// Who asks.
    pub asker: Asker<'s>,
    /// The row request.
    pub request: &'s RowRequest,
    /// What came out.
    pub page: &'s RowPage,
}

/// A row page in the shape that was asked for.
pub fn row(s: &Sources<'_>) -> Result<Vec<u8>> {
    let (page, request) = (s.page, s.request);
    let options = Options {
        shape: request.shape,
        lines: request.newline_delimited,
        infinity: request.json_infinity,
        json_columns: &request.json_columns,
    };
    let rows = JsonRows::new(page.columns(), &page.rows, &page.labels, &options);
    if let Some(alone) = rows.alone(Ok(&page.key_positions()))? {
        return Ok(alone);
    }
    let mut out = rows.buffer();
    out.extend_from_slice(b"{\"ok\": true, \"database\": ");
    push_json(&mut out, &s.database.name)?;
    out.extend_from_slice(b", \"table\": ");
    push_json(&mut out, &page.table.name)?;
    out.extend_from_slice(b", \"rows\": ");
    rows.write(&mut out);
    out.extend_from_slice(b", \"primary_keys\": ");
    push_json(&mut out, &page.key_columns)?;
    out.extend_from_slice(b", \"primary_key_values\": ");
    push_json(&mut out, &request.key_texts())?;
    push_members(&mut out, &extras(s))?;
    out.extend_from_slice(b", \"truncated\": false}");
    Ok(out)
}

/// The extras that the request wants, but for those that are there anyway.
fn extras(s: &Sources<'_>) -> Map<String, Json> {
    let there_anyway =
        |extra: Extra| matches!(extra, Extra::Database | Extra::Table | Extra::PrimaryKeys);
    let wanted = s.request.extras.iter().copied();
    wanted
        .filter(|&extra| !there_anyway(extra))
        .map(|extra| (extra.name().to_owned(), one(s, extra)))
        .collect()
}

/// One extra.
pub(super) fn one(s: &Sources<'_>, extra: Extra) -> Json {
    let (page, table) = (s.page, &s.page.table);
    match extra {
        Extra::Columns => json!(page.columns()),
        Extra::ColumnDetails => column_details(table),
        Extra::ColumnTypes => json!({}),
        Extra::RenderCell => json!([{}]),
        Extra::Debug => debug(s),
        Extra::Request => request_as_json(s.http),
        Extra::Query => json!({"sql": page.sql, "params": params(page)}),
        Extra::Metadata => metadata(s.config, s.database, &table.name),
        Extra::DatabaseColor => json!(s.database.color()),
        Extra::Private => json!(s.asker.is_private_table(&s.database.name, &table.name)),
        Extra::ForeignKeyTables => foreign_key_tables(s),
        Extra::Extras => list_of_extras(Scope::Row, &s.request.extras, s.http),
        // The request knows no others.
        _ => Json::Null,
    }
}

fn params(page: &RowPage) -> Map<String, Json> {
    let params = page.params.iter();
    params
        .map(|(name, value)| (name.clone(), to_json(value)))
        .collect()
}

fn debug(s: &Sources<'_>) -> Json {
    let (page, request) = (s.page, s.request);
    let encode = |name: &str| tilde::encode(name.as_bytes());
    json!({
        "url_vars": {
            "database": encode(&s.database.name),
            "table": encode(&page.table.name),
            "pks": request.path,
            "format": "json",
        },
        "resolved": {
            "table": page.table.name,
            "sql": page.sql,
            "params": params(page),
            "pks": page.key_columns,
            "pk_values": request.key_texts(),
        },
    })
}

fn foreign_key_tables(s: &Sources<'_>) -> Json {
    let incoming = s.page.incoming.iter();
    incoming
        .map(|incoming| {
            json!({
                "other_table": incoming.key.other_table,
                "column": incoming.key.column,
                "other_column": incoming.key.other_column,
                "count": incoming.count,
                "link": link(s, incoming),
            })
        })
        .collect()
}

/// The rows that refer to this one, as a page of their table.
pub(super) fn link(s: &Sources<'_>, incoming: &Incoming) -> String {
    let database = links::database(s.http, &s.database.name);
    let table = links::table(&database, &incoming.key.other_table);
    let mut argument = incoming.key.other_column.clone();
    // Arguments with an underscore at the front or two inside mean something else.
    if argument.starts_with('_') || argument.contains("__") {
        argument.push_str("__exact");
    }
    let value = incoming.value.display();
    join(
        &table,
        &encode(std::iter::once((argument.as_str(), &*value))),
    )
}

/// Whether the JSON of a request has the counts of rows that refer to the row.
pub fn wants_incoming(request: &RowRequest) -> bool {
    matches!(request.shape, Shape::Objects | Shape::Arrays)
        && request.extras.contains(&Extra::ForeignKeyTables)
}
