//! The row page.

use tera::Context;

use super::rows::{Cell, objects};
use super::{Filling, Wanted};
use crate::render::cell::{Head, content};
use crate::render::cells::CellContext;
use crate::render::links::{self, row_path_into};
use crate::render::row_html::columns;
use crate::render::row_json::{Sources, one};
use crate::table::extras::labels::label_of;
use crate::table::extras::{Extra, Scope};

/// Adds what a template of the site wants of a row page.
pub fn row(context: &mut Context, s: &Sources<'_>, wanted: &Wanted) {
    if wanted.is_empty() {
        return;
    }
    let page = s.page;
    let mut filling = Filling::new(context, wanted, s.http);
    for extra in Extra::all(Scope::Row) {
        filling.add(extra.name(), || one(s, extra));
    }
    filling.add("rows", || objects(page.columns(), &page.rows));
    filling.add("display_rows", || [cells(s)]);
    filling.add("row_paths", || [row_path(s)]);
    filling.add("primary_keys", || &page.key_columns);
    filling.add("primary_key_values", || s.request.key_texts());
    filling.add("url_csv", || links::in_format(s.http, "csv", &[]));
}

fn row_path(s: &Sources<'_>) -> String {
    let mut path = String::new();
    row_path_into(&mut path, s.page.key_values());
    path
}

fn cells(s: &Sources<'_>) -> Vec<Cell> {
    let page = s.page;
    let database_path = links::database(s.http, &s.database.name);
    let table_path = links::table(&database_path, &page.table.name);
    let around = CellContext {
        table_path: &table_path,
        database_path: &database_path,
        truncate: 0,
    };
    let path = row_path(s);
    let mut html = String::new();
    let cells = columns(page).into_iter().filter_map(|column| {
        let head = Head::new(&page.table.foreign_keys, &column, &around);
        let (position, row) = head.position.zip(page.row())?;
        let value = row.value(position);
        html.clear();
        let label = label_of(&page.labels, position, value);
        content(&mut html, &head, value, label, &path, &around);
        Some(Cell::new(&column.name, &html, value))
    });
    cells.collect()
}
