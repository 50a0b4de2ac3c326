//! The column that stands for a row.

use std::collections::HashSet;

use rusqlite::{Connection, Result};

use super::Kind;
use super::columns::{Affinity, Column};
use super::objects::{self, Object};

/// The label column of a table, as Datasette's `label_column_for_table` finds it without configuration: the only text column that is
/// unique, else the first called `name` or `title`, else the other one of two columns of which one is `id` or `pk`.
///
/// Hidden and generated columns are no candidates. A view has no label column.
pub(super) fn column(
    conn: &Connection,
    object: &Object,
    columns: &[Column],
) -> Result<Option<String>> {
    if object.kind == Kind::View {
        return Ok(None);
    }
    let candidates: Vec<&Column> = columns.iter().filter(|c| c.hidden == 0).collect();
    let unique = unique_columns(conn, object)?;
    let mut unique_text = candidates
        .iter()
        .filter(|column| is_text(column) && unique.contains(&column.name));
    if let (Some(only), None) = (unique_text.next(), unique_text.next()) {
        return Ok(Some(only.name.clone()));
    }
    Ok(named_label(&candidates).map(|column| column.name.clone()))
}

/// Whether Datasette takes the column for text; one without a type is.
fn is_text(column: &Column) -> bool {
    let declared = column.declared_type.trim();
    declared.is_empty() || Affinity::of_type(declared) == Affinity::Text
}

fn named_label<'a>(candidates: &[&'a Column]) -> Option<&'a Column> {
    let named = candidates.iter().find(|column| {
        column.name.eq_ignore_ascii_case("name") || column.name.eq_ignore_ascii_case("title")
    });
    if let Some(named) = named {
        return Some(named);
    }
    let is_key = |column: &Column| column.name == "id" || column.name == "pk";
    match candidates {
        [first, second] if is_key(first) && !is_key(second) => Some(second),
        [first, second] if is_key(second) && !is_key(first) => Some(first),
        _ => None,
    }
}

/// The columns that have a unique index to themselves, a partial one included.
fn unique_columns(conn: &Connection, object: &Object) -> Result<HashSet<String>> {
    let mut unique = HashSet::new();
    // A table without an index needs no statement; the key of a WITHOUT ROWID table is listed though it is no object of its own.
    if object.index_sql.is_empty() && !object.without_rowid {
        return Ok(unique);
    }
    let mut statement = conn.prepare(&objects::pragma("index_list", &object.name))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if row.get(2)? {
            let index = objects::text(row, 1)?;
            unique.extend(only_column(conn, &index)?);
        }
    }
    Ok(unique)
}

/// The column of an index of one column; `None` for an index of an expression.
fn only_column(conn: &Connection, index: &str) -> Result<Option<String>> {
    let mut statement = conn.prepare(&objects::pragma("index_info", index))?;
    let mut rows = statement.query([])?;
    let Some(first) = rows.next()? else {
        return Ok(None);
    };
    let name = objects::optional_text(first, 2)?;
    Ok(if rows.next()?.is_none() { name } else { None })
}
