//! The SQL page and the page of a stored query for people: fills the context of `query.html`.

use serde::Serialize;
use tera::Context;

use super::query_json::Sources;
use super::{cells, links, query_facets};
use crate::config::{Metadata, StoredQuery};
use crate::db::{BorrowedValue, Value};
use crate::query::validate::{explains, explains_plan};
use crate::table::arguments::given;
use crate::table::rows::Rows;
use crate::text::css;
use crate::text::query::join;

/// A result of more columns offers no facets: the links would hide it.
const MOST_OFFERS: usize = 20;

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    value: &'a str,
}

/// A link that adds a facet.
#[derive(Serialize)]
struct FacetOffer<'a> {
    name: &'a str,
    url: String,
}

#[derive(Serialize)]
struct ColumnName<'a> {
    name: &'a str,
    css_class: String,
}

/// The classes of `<body>`.
pub fn body_class(database: &str, stored: Option<&str>) -> String {
    let mut classes = format!("query db-{}", css::class(database));
    if let Some(name) = stored {
        classes.push_str(" query-");
        classes.push_str(&css::class(name));
    }
    classes
}

/// What is said of a stored query: its own title and description, and where the
/// data of its database comes from.
pub fn metadata(stored: &StoredQuery, database: &Metadata) -> Metadata {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Metadata {
        title: text(&stored.title),
        description: text(&stored.description),
        description_html: text(&stored.description_html),
        ..database.clone()
    }
}

/// Puts everything that `query.html` shows into its context. `error` is why
/// there is no result, or empty.
pub fn fill(context: &mut Context, s: &Sources<'_>, error: &str) {
    let (page, request) = (s.page, s.request);
    let parameters = request.parameters.iter();
    let parameters: Vec<Parameter<'_>> = parameters
        .map(|(name, value)| Parameter { name, value })
        .collect();
    let columns = page.rows.columns.iter();
    let columns: Vec<ColumnName<'_>> = columns
        .map(|name| ColumnName {
            name,
            css_class: format!("col-{}", css::class(name)),
        })
        .collect();
    let truncate = s.config.settings.truncate_cells_html;
    let rows_html = cells::result_rows(&page.rows, truncate, |column, bytes| {
        links::result_blob(s.http, column, bytes)
    });
    let plan = if explains_plan(&request.sql) {
        plan(&page.rows)
    } else {
        String::new()
    };
    let writes = s.stored.is_some_and(|stored| stored.is_write);
    context.insert("database", &s.database.name);
    context.insert("database_color", &s.database.color());
    context.insert("path", &s.http.prefixed(&s.http.path));
    context.insert("query_name", s.stored.map_or("", |stored| &stored.name));
    context.insert("sql", &request.sql);
    context.insert("error", error);
    context.insert("allow_sql", &s.stored.is_none());
    context.insert("writes", &writes);
    fill_sql_switch(context, s);
    context.insert("edit_sql_url", &edit_url(s).unwrap_or_default());
    let explain = explain_url(s).filter(|_| error.is_empty());
    context.insert("explain_url", &explain.unwrap_or_default());
    context.insert("parameters", &parameters);
    context.insert("columns", &columns);
    context.insert("row_count", &page.rows.len());
    context.insert("has_rows", &!page.rows.is_empty());
    context.insert("has_result", &(error.is_empty() && !writes));
    context.insert("truncated", &page.truncated);
    context.insert("rows_html", &rows_html);
    context.insert("plan", &plan);
    context.insert("facets", &query_facets::boxes(s));
    context.insert("facet_offers", &facet_offers(s));
    context.insert("facets_timed_out", &page.facets_timed_out);
    context.insert("export_json_url", &links::in_format(s.http, "json", &[]));
    let csv_url = links::in_format(s.http, "csv", &[("_size", "max")]);
    context.insert("export_csv_url", &csv_url);
    let lines = links::all_as_lines(s.http, &[]);
    let can_stream = s.config.settings.allow_csv_stream;
    context.insert("export_lines_url", &lines.filter(|_| can_stream));
}

/// Whether the SQL is hidden at first, and the argument of the URL that has made it so,
/// which the form carries along.
fn fill_sql_switch(context: &mut Context, s: &Sources<'_>) {
    let hides = s.stored.is_some_and(|stored| stored.hide_sql);
    let switch = if hides { "_show_sql" } else { "_hide_sql" };
    let is_switched = given(&s.http.query, switch);
    context.insert("hide_sql", &(hides != is_switched));
    context.insert("sql_switch", if is_switched { switch } else { "" });
}

/// Links that add a facet, for the columns that have none.
fn facet_offers<'s>(s: &Sources<'s>) -> Vec<FacetOffer<'s>> {
    let columns = &s.page.rows.columns;
    let is_offered = s.config.settings.allow_facet
        && !s.page.rows.is_empty()
        && columns.len() <= MOST_OFFERS
        && !explains(&s.request.sql);
    let has_none = |name: &&String| {
        let same = columns.iter().filter(|other| other == name).count();
        same == 1 && s.request.facets.iter().all(|facet| facet.column != **name)
    };
    let offered = columns.iter().filter(|_| is_offered).filter(has_none);
    offered
        .map(|name| {
            let query = s.http.query.with_added(&[("_facet", Some(name))]);
            FacetOffer {
                name,
                url: s.http.prefixed(&join(&s.http.path, &query)),
            }
        })
        .collect()
}

/// The SQL page with the SQL of a stored query and its arguments.
fn edit_url(s: &Sources<'_>) -> Option<String> {
    (s.stored.is_some() && s.may_edit_sql()).then(|| with_sql(s, &s.request.sql))
}

/// The SQL page with what SQLite would do for the SQL.
fn explain_url(s: &Sources<'_>) -> Option<String> {
    let sql = s.request.sql.trim();
    let can_explain = !sql.is_empty() && !explains(sql) && s.may_edit_sql();
    can_explain.then(|| with_sql(s, &format!("explain query plan\n{sql}")))
}

fn with_sql(s: &Sources<'_>, sql: &str) -> String {
    let parameters = s.request.parameters.iter();
    let parameters = parameters.map(|(name, value)| (name.as_str(), value.as_str()));
    let query = crate::text::query::encode(std::iter::once(("sql", sql)).chain(parameters));
    let path = links::database(s.http, &s.database.name);
    join(&format!("{path}/-/query"), &query)
}

/// The rows of `EXPLAIN QUERY PLAN` as a tree: each step below the one that it is part of.
/// <https://www.sqlite.org/eqp.html>
fn plan(rows: &Rows) -> String {
    let mut depths: Vec<(i64, usize)> = Vec::new();
    let mut out = String::new();
    for row in rows.iter() {
        let number = |n| match row.get(n) {
            Some(BorrowedValue::Integer(number)) => number,
            _ => 0,
        };
        let (id, parent) = (number(0), number(1));
        let above = depths.iter().find(|(id, _)| *id == parent);
        let depth = above.map_or(0, |(_, depth)| depth + 1);
        depths.push((id, depth));
        out.push_str(&"   ".repeat(depth));
        if let Some(Value::Text(_)) = row.get(3) {
            row.value(3).with_display(|text| out.push_str(text));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_plan_is_a_tree() {
        let connection = Connection::open_in_memory().unwrap();
        let sql = "explain query plan select 1 union select 2";
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_names().into_iter().map(str::to_owned);
        let columns = columns.collect();
        let (rows, _) = Rows::take(columns, &mut statement.raw_query(), 100, usize::MAX).unwrap();
        let plan = plan(&rows);
        let lines: Vec<&str> = plan.lines().collect();
        assert!(lines[0].starts_with("MERGE"), "{plan}");
        assert!(lines[1].starts_with("   LEFT"), "{plan}");
        assert!(lines[2].starts_with("      SCAN"), "{plan}");
    }

    #[test]
    fn a_stored_query_has_its_own_title_and_the_source_of_its_database() {
        let stored = StoredQuery {
            title: Some("T".into()),
            ..StoredQuery::default()
        };
        let database = Metadata {
            title: "D".into(),
            description: "d".into(),
            source: "S".into(),
            ..Metadata::default()
        };
        let metadata = metadata(&stored, &database);
        let texts = [metadata.title, metadata.description, metadata.source];
        assert_eq!(texts, ["T", "", "S"]);
    }
}
