//! A search of a database for people: fills the context of `search.html`.

use serde::Serialize;
use tera::Context;

use super::links;
use super::search_json::{Sources, row_url, table_url};
use crate::search::plan::CAP;
use crate::search::{Hit, Outcome, Piece, SearchedTable};
use crate::text::number::thousands;

#[derive(Serialize)]
struct Group<'g> {
    name: &'g str,
    url: String,
    count_text: String,
    /// Whether there are more rows than are shown.
    has_more: bool,
    hits: Vec<Line<'g>>,
}

#[derive(Serialize)]
struct Line<'g> {
    title: String,
    url: String,
    snippet: &'g [Piece],
}

#[derive(Serialize)]
struct Link<'g> {
    name: &'g str,
    url: String,
    reason: &'g str,
}

/// Puts everything that `search.html` shows into its context.
pub fn fill(context: &mut Context, s: &Sources<'_>) {
    let mut groups = Vec::new();
    let mut troubles = Vec::new();
    let mut empty = Vec::new();
    for searched in &s.page.tables {
        let name = searched.table.name.as_str();
        let link = |reason| Link {
            name,
            url: table_url(s, &searched.all_at),
            reason,
        };
        match &searched.outcome {
            Outcome::Found { hits, .. } if hits.is_empty() => empty.push(link("")),
            Outcome::Found { hits, count } => groups.push(group(s, searched, hits, *count)),
            Outcome::TooSlow => troubles.push(link("took too long")),
            Outcome::Failed(reason) => troubles.push(link(reason)),
        }
    }
    for name in &s.page.not_asked {
        troubles.push(Link {
            name,
            url: table_url(s, name),
            reason: "not searched: too many tables",
        });
    }
    let path = links::database(s.request, &s.database.name);
    context.insert("database", &s.database.name);
    context.insert("database_color", &s.database.color());
    context.insert("search_url", &format!("{path}/-/search"));
    context.insert("q", s.text);
    context.insert("groups", &groups);
    context.insert("empty", &empty);
    context.insert("troubles", &troubles);
    context.insert("can_search", &!s.page.tables.is_empty());
    context.insert("export_json_url", &links::in_format(s.request, "json", &[]));
}

fn group<'g>(
    s: &Sources<'_>,
    searched: &'g SearchedTable,
    hits: &'g [Hit],
    count: Option<i64>,
) -> Group<'g> {
    let shown = i64::try_from(hits.len()).unwrap_or(i64::MAX);
    Group {
        name: &searched.table.name,
        url: table_url(s, &searched.all_at),
        count_text: match count {
            None => "many rows".to_owned(),
            Some(1) => "1 row".to_owned(),
            Some(count) if count > CAP => {
                format!("more than {} rows", thousands(CAP.unsigned_abs()))
            }
            Some(count) => format!("{} rows", thousands(count.unsigned_abs())),
        },
        has_more: count.is_none_or(|count| count > shown),
        hits: hits.iter().map(|hit| line(s, searched, hit)).collect(),
    }
}

fn line<'g>(s: &Sources<'_>, searched: &SearchedTable, hit: &'g Hit) -> Line<'g> {
    let key = searched.key_columns.iter().zip(&hit.key);
    let key: Vec<String> = key
        .map(|(column, value)| format!("{column} {}", value.display()))
        .collect();
    let label = hit.label.as_ref().filter(|label| !label.trim().is_empty());
    Line {
        title: label.cloned().unwrap_or_else(|| key.join(", ")),
        url: row_url(s, searched, hit).unwrap_or_default(),
        snippet: &hit.snippet,
    }
}
