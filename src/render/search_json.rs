//! A search of a database as JSON.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::json::{push_json, to_json};
use super::links;
use crate::db::Database;
use crate::error::Result;
use crate::http::request::Request;
use crate::search::plan::CAP;
use crate::search::{Hit, Outcome, SearchPage, SearchedTable};
use crate::text::query::{encode, join};

/// Everything that a search page is made of.
pub struct Sources<'s> {
    /// The database.
    pub database: &'s Database,
    /// The HTTP request.
    pub request: &'s Request,
    /// What was looked for.
    pub text: &'s str,
    /// What came out.
    pub page: &'s SearchPage,
}

#[derive(Serialize)]
struct Document<'d> {
    ok: bool,
    database: &'d str,
    q: &'d str,
    tables: Vec<TableOfSearch<'d>>,
    /// Tables that were left out, because there are too many.
    tables_not_searched: &'d [String],
}

#[derive(Serialize)]
struct TableOfSearch<'d> {
    table: &'d str,
    count: Option<i64>,
    count_truncated: bool,
    timed_out: bool,
    error: Option<&'d str>,
    url: String,
    rows: Vec<RowOfSearch<'d>>,
}

#[derive(Serialize)]
struct RowOfSearch<'d> {
    pks: Map<String, Json>,
    label: Option<&'d str>,
    snippet: String,
    url: Option<String>,
}

/// `/{database}/-/search.json`
pub fn search(s: &Sources<'_>) -> Result<Vec<u8>> {
    let document = Document {
        ok: true,
        database: &s.database.name,
        q: s.text,
        tables: s
            .page
            .tables
            .iter()
            .map(|table| table_of(s, table))
            .collect(),
        tables_not_searched: &s.page.not_asked,
    };
    let mut out = Vec::new();
    push_json(&mut out, &document)?;
    Ok(out)
}

fn table_of<'d>(s: &Sources<'d>, searched: &'d SearchedTable) -> TableOfSearch<'d> {
    let (hits, count, error): (&[Hit], _, _) = match &searched.outcome {
        Outcome::Found { hits, count } => (hits, *count, None),
        Outcome::TooSlow => (&[], None, None),
        Outcome::Failed(reason) => (&[], None, Some(reason.as_str())),
    };
    TableOfSearch {
        table: &searched.table.name,
        count: count.map(|count| count.min(CAP)),
        count_truncated: count.is_some_and(|count| count > CAP),
        timed_out: searched.outcome == Outcome::TooSlow,
        error,
        url: table_url(s, &searched.all_at),
        rows: hits.iter().map(|hit| row_of(s, searched, hit)).collect(),
    }
}

fn row_of<'d>(s: &Sources<'_>, searched: &'d SearchedTable, hit: &'d Hit) -> RowOfSearch<'d> {
    let pks = searched.key_columns.iter().zip(&hit.key);
    RowOfSearch {
        pks: pks
            .map(|(name, value)| (name.clone(), to_json(value)))
            .collect(),
        label: hit.label.as_deref(),
        snippet: hit
            .snippet
            .iter()
            .map(|piece| piece.text.as_str())
            .collect(),
        url: row_url(s, searched, hit),
    }
}

/// All that was found in a table: its page, searched for the same.
pub(super) fn table_url(s: &Sources<'_>, table: &str) -> String {
    let path = links::table(&links::database(s.request, &s.database.name), table);
    if s.text.is_empty() {
        return path;
    }
    join(&path, &encode(std::iter::once(("_search", s.text))))
}

/// The page of a row, if it has one.
pub(super) fn row_url(s: &Sources<'_>, searched: &SearchedTable, hit: &Hit) -> Option<String> {
    if hit.key.is_empty() {
        return None;
    }
    let database = links::database(s.request, &s.database.name);
    let mut path = links::table(&database, &searched.table.name);
    path.push('/');
    links::row_path_into(&mut path, hit.key.iter().map(crate::db::Value::borrowed));
    Some(path)
}
