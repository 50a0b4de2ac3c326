//! The table page: the extras of its JSON under their names, and its rows.

use tera::Context;

use super::rows::{Cell, link, objects};
use super::{Filling, Wanted};
use crate::db::BorrowedValue;
use crate::render::cell::{Head, content};
use crate::render::cells::CellContext;
use crate::render::display_columns::columns_for_display;
use crate::render::extras_json::{Sources, one};
use crate::render::links::row_path_into;
use crate::render::table_html::{csv_url, filter_columns};
use crate::table::extras::{Extra, Scope};
use crate::table::key::Key;

/// Adds what a template of the site wants of a table page.
pub fn table(context: &mut Context, s: &Sources<'_>, wanted: &Wanted) {
    if wanted.is_empty() {
        return;
    }
    let page = s.page;
    let mut filling = Filling::new(context, wanted, s.http);
    for extra in Extra::all(Scope::Table) {
        filling.add(extra.name(), || one(s, extra));
    }
    filling.add("rows", || objects(page.columns(), &page.rows));
    filling.add("display_rows", || display_rows(s));
    filling.add("row_paths", || row_paths(s));
    filling.add("next", || page.next.clone());
    filling.add("url_csv", || csv_url(s));
    filling.add("filter_columns", || {
        let columns = filter_columns(s).into_iter();
        columns.map(str::to_owned).collect::<Vec<_>>()
    });
    let sort = |descending: bool| {
        let sort = s.request.sort.as_ref();
        sort.filter(|sort| sort.descending == descending)
            .map(|sort| sort.column.clone())
    };
    filling.add("sort", || sort(false));
    filling.add("sort_desc", || sort(true));
    filling.add("allow_execute_sql", || {
        s.asker.may_run_sql(&s.database.name)
    });
    filling.add("size", || s.request.size);
}

/// The paths of the rows, below that of the table; empty texts for views.
fn row_paths(s: &Sources<'_>) -> Vec<String> {
    let key = s.page.key_positions();
    let rows = s.page.rows.iter();
    rows.map(|row| {
        let mut path = String::new();
        row_path_into(&mut path, key.iter().map(|&n| row.value(n)));
        path
    })
    .collect()
}

fn display_rows(s: &Sources<'_>) -> Vec<Vec<Cell>> {
    let page = s.page;
    let columns = columns_for_display(page);
    let around = CellContext {
        table_path: &s.links.table,
        database_path: &s.links.database,
        truncate: s.config.settings.truncate_cells_html,
    };
    let heads: Vec<Head> = columns
        .iter()
        .map(|column| Head::new(&page.plan.table.foreign_keys, column, &around))
        .collect();
    let has_key = page.plan.key != Key::None;
    let positions = page.key_positions();
    let paths = row_paths(s);
    let mut html = String::new();
    let rows = page.rows.iter().zip(&paths).map(|(row, path)| {
        let key: Vec<BorrowedValue<'_>> = positions.iter().map(|&n| row.value(n)).collect();
        let cells = columns.iter().zip(&heads).enumerate();
        let cells = cells.filter_map(|(n, (column, head))| {
            if n == 0 && has_key {
                return Some(link(column, &s.links.table, path, &key));
            }
            let position = head.position?;
            let value = row.value(position);
            html.clear();
            content(
                &mut html,
                head,
                value,
                page.label(position, value),
                path,
                &around,
            );
            Some(Cell::new(&column.name, &html, value))
        });
        cells.collect()
    });
    rows.collect()
}
