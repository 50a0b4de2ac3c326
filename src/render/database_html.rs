//! The listing pages for people: fill the contexts of `database.html` and `index.html`.

use serde::Serialize;
use tera::Context;

use super::database_json::QUERIES;
use super::table_html::count_text;
use super::{links, queries_html};
use crate::auth::{Action, Asker, Resource};
use crate::config::Config;
use crate::database::{DatabasePage, IndexEntry, ListedTable};
use crate::db::Database;
use crate::db::schema::Table;
use crate::http::request::Request;
use crate::query::stored::list;
use crate::table::page::is_capped;
use crate::text::number::thousands;
use crate::text::query::join;
use crate::text::{css, human};

#[derive(Serialize)]
struct TableLine<'a> {
    private: bool,
    name: &'a str,
    path: String,
    hidden: bool,
    count: Option<i64>,
    count_truncated: bool,
    count_text: String,
    columns: Vec<&'a str>,
    primary_keys: &'a [String],
    /// The tables that its foreign keys lead to, each once.
    refers_to: Vec<Reference<'a>>,
}

#[derive(Serialize)]
struct Reference<'a> {
    name: &'a str,
    path: String,
}

#[derive(Serialize)]
struct Link<'a> {
    name: &'a str,
    path: String,
    count_text: String,
    private: bool,
}

#[derive(Serialize)]
struct Card<'a> {
    name: &'a str,
    path: String,
    color: String,
    private: bool,
    row_sum_text: String,
    table_rows_sum: i64,
    show_table_row_counts: bool,
    tables_count: usize,
    views_count: usize,
    hidden_tables_count: usize,
    hidden_table_rows_sum: i64,
    tables_and_views_truncated: Vec<Link<'a>>,
    tables_and_views_more: bool,
}

/// The classes of the `<body>` of a database page.
pub fn body_class(database: &str) -> String {
    format!("db db-{}", css::class(database))
}

/// Whether a request asks for the hidden tables too.
pub fn shows_hidden(request: &Request) -> bool {
    request
        .query
        .get("_show_hidden")
        .is_some_and(|value| !value.is_empty())
}

/// Puts everything that `database.html` shows into its context.
pub fn fill_database(
    context: &mut Context,
    page: &DatabasePage,
    config: &Config,
    asker: Asker<'_>,
    database: &Database,
    request: &Request,
) {
    let path = links::database(request, &database.name);
    let show_hidden = shows_hidden(request);
    let tables: Vec<TableLine<'_>> = page
        .tables
        .iter()
        .filter(|table| show_hidden || !table.hidden)
        .map(|table| TableLine {
            private: asker.is_private_table(&database.name, &table.table.name),
            ..table_line(table, &path)
        })
        .collect();
    let views = page.views.iter().map(|view| Link {
        private: asker.is_private_table(&database.name, &view.name),
        ..link(view, &path, None)
    });
    context.insert("private", &asker.is_private_database(&database.name));
    context.insert("database", &database.name);
    context.insert("database_color", &database.color());
    context.insert("tables", &tables);
    context.insert("views", &views.collect::<Vec<_>>());
    context.insert(
        "size_text",
        &if database.is_memory {
            String::new()
        } else {
            human::bytes(database.size())
        },
    );
    context.insert("hidden_count", &page.hidden_count);
    context.insert("show_hidden", &show_hidden);
    context.insert(
        "show_hidden_url",
        &if show_hidden {
            path.clone()
        } else {
            join(&path, "_show_hidden=1")
        },
    );
    let is_allowed = asker.may(Action::DownloadDatabase, Resource::Database(&database.name));
    let can_download = is_allowed && !database.is_mutable && database.path.is_some();
    context.insert(
        "download_url",
        &if can_download {
            format!("{path}.db")
        } else {
            String::new()
        },
    );
    context.insert("allow_sql", &asker.may_run_sql(&database.name));
    context.insert("query_url", &format!("{path}/-/query"));
    context.insert("search_url", &format!("{path}/-/search"));
    context.insert("schema_url", &format!("{path}/-/schema"));
    let queries = list::seen(config, asker, [database.name.as_str()]);
    let named = queries.iter().take(QUERIES);
    let lines: Vec<_> = named
        .map(|listed| queries_html::line(listed, request))
        .collect();
    context.insert("queries", &lines);
    context.insert("queries_more", &(queries.len() > QUERIES));
    context.insert("queries_count", &queries.len());
    context.insert("queries_url", &format!("{path}/-/queries"));
}

fn table_line<'a>(listed: &'a ListedTable, database: &str) -> TableLine<'a> {
    let columns = listed.table.columns.iter();
    TableLine {
        private: false,
        name: &listed.table.name,
        path: links::table(database, &listed.table.name),
        hidden: listed.hidden,
        count: listed.count,
        count_truncated: listed.count_is_capped(),
        count_text: count_text(listed.count),
        columns: columns.map(|column| column.name.as_str()).collect(),
        primary_keys: &listed.table.primary_keys,
        refers_to: refers_to(listed, database),
    }
}

fn refers_to<'a>(listed: &'a ListedTable, database: &str) -> Vec<Reference<'a>> {
    let mut names: Vec<&str> = Vec::new();
    for key in &listed.keys.outgoing {
        if !names.contains(&key.other_table.as_str()) {
            names.push(&key.other_table);
        }
    }
    let references = names.into_iter().map(|name| Reference {
        name,
        path: links::table(database, name),
    });
    references.collect()
}

fn link<'a>(table: &'a Table, database: &str, count: Option<i64>) -> Link<'a> {
    Link {
        private: false,
        name: &table.name,
        path: links::table(database, &table.name),
        count_text: count_text(count),
    }
}

/// Puts everything that `index.html` shows into its context.
pub fn fill_index<'a>(
    context: &mut Context,
    entries: impl Iterator<Item = (&'a Database, &'a IndexEntry)>,
    config: &Config,
    asker: Asker<'_>,
    request: &Request,
    is_alternative: bool,
) {
    let cards: Vec<Card<'_>> = entries
        .map(|(database, entry)| card(database, entry, asker, request))
        .collect();
    context.insert("title", &config.instance().title);
    context.insert("databases", &cards);
    context.insert("noindex", &is_alternative);
}

fn card<'a>(
    database: &'a Database,
    entry: &'a IndexEntry,
    asker: Asker<'_>,
    request: &Request,
) -> Card<'a> {
    let path = links::database(request, &database.name);
    let tables = entry.tables.iter();
    let views = entry.views.iter().map(|view| (view.as_ref(), None));
    let tables = tables
        .map(|named| (named.table.as_ref(), named.count))
        .chain(views)
        .map(|(table, count)| Link {
            private: asker.is_private_table(&database.name, &table.name),
            ..link(table, &path, count)
        });
    Card {
        name: &database.name,
        color: database.color(),
        private: asker.is_private_database(&database.name),
        row_sum_text: row_sum_text(entry),
        table_rows_sum: entry.rows,
        show_table_row_counts: entry.counted,
        tables_count: entry.tables_count,
        views_count: entry.views_count,
        hidden_tables_count: entry.hidden_count,
        hidden_table_rows_sum: entry.hidden_rows,
        tables_and_views_truncated: tables.collect(),
        tables_and_views_more: entry.more,
        path,
    }
}

/// `1,234 rows in 5 tables`, or how many tables there are if they were not counted.
fn row_sum_text(entry: &IndexEntry) -> String {
    if entry.tables_count == 0 {
        return String::new();
    }
    let some = |count: u64, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{} {what}{plural}", thousands(count))
    };
    let tables = some(entry.tables_count as u64, "table");
    // The largest tables are those that are named, so a capped one is among them.
    let capped = entry
        .tables
        .iter()
        .filter(|table| is_capped(table.count))
        .count() as u64;
    let rows = entry.rows.unsigned_abs();
    match (entry.counted, capped) {
        (false, _) => tables,
        (true, 0) => format!("{} in {tables}", some(rows, "row")),
        (true, _) => format!(
            "{}+ rows in {tables}",
            thousands(rows.saturating_sub(capped))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_rows_reads_well() {
        let text = |tables_count, rows, counted| {
            row_sum_text(&IndexEntry {
                tables_count,
                rows,
                counted,
                hidden_count: 0,
                hidden_rows: 0,
                tables: Vec::new(),
                views: Vec::new(),
                views_count: 0,
                more: false,
                lasts: true,
            })
        };
        assert_eq!(text(5, 1234, true), "1,234 rows in 5 tables");
        assert_eq!(text(1, 1, true), "1 row in 1 table");
        assert_eq!(text(2000, 0, false), "2,000 tables");
        assert_eq!(text(0, 0, false), "");
    }
}
