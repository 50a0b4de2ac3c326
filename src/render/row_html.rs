//! The row page for people: fills the context of `row.html`.

use serde::Serialize;
use tera::Context;

use super::cells::{self, CellContext};
use super::display_columns::DisplayColumn;
use super::links;
use super::row_json::{Sources, link};
use super::table_html::ColumnHead;
use crate::row::RowPage;
use crate::text::{css, number};

#[derive(Serialize)]
struct Referring<'a> {
    other_table: &'a str,
    other_column: &'a str,
    count_text: String,
    link: String,
}

/// The classes of `<body>`.
pub fn body_class(database: &str, table: &str) -> String {
    format!(
        "row db-{} table-{}",
        css::class(database),
        css::class(table)
    )
}

/// Puts everything that `row.html` shows into its context.
pub fn fill(context: &mut Context, s: &Sources<'_>) {
    let (page, table) = (s.page, &s.page.table);
    let config = s.config.table(&s.database.name, &table.name);
    let database_path = links::database(s.http, &s.database.name);
    let table_path = links::table(&database_path, &table.name);
    let columns = columns(page);
    let heads: Vec<ColumnHead<'_>> = columns
        .iter()
        .map(|column| {
            let description = config.column_description(&column.name);
            ColumnHead::fixed(column, description.unwrap_or_default())
        })
        .collect();
    let cells = CellContext {
        table_path: &table_path,
        database_path: &database_path,
        // One row has room for all of it.
        truncate: 0,
    };
    let title = format!("{}: {}", table.name, s.request.key_texts().join(", "));
    context.insert("database", &s.database.name);
    context.insert("table", &table.name);
    context.insert("database_color", &s.database.color());
    context.insert("title", &title);
    context.insert("export_json_url", &links::in_format(s.http, "json", &[]));
    context.insert("display_columns", &heads);
    context.insert("rows_html", &cells::row(page, &columns, &cells));
    context.insert("foreign_key_tables", &referring(s));
}

/// The columns, those of the key first.
pub(super) fn columns(page: &RowPage) -> Vec<DisplayColumn> {
    let all = page
        .columns()
        .iter()
        .enumerate()
        .map(|(position, name)| DisplayColumn {
            is_pk: page.key_columns.contains(name),
            ..DisplayColumn::new(name, page.table.column(name), position)
        });
    let (mut key, others): (Vec<_>, Vec<_>) = all.partition(|column| column.is_pk);
    key.extend(others);
    key
}

fn referring<'s>(s: &Sources<'s>) -> Vec<Referring<'s>> {
    let incoming = s.page.incoming.iter();
    incoming
        .map(|incoming| Referring {
            other_table: &incoming.key.other_table,
            other_column: &incoming.key.other_column,
            count_text: match incoming.count {
                None => "rows".to_owned(),
                Some(1) => "1 row".to_owned(),
                Some(count) => format!("{} rows", number::thousands(count.unsigned_abs())),
            },
            link: link(s, incoming),
        })
        .collect()
}
