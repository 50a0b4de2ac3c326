//! Foreign keys, from both ends.

use std::collections::HashMap;

use rusqlite::{Connection, Result};

use super::objects::{self, Object};
use super::{Kind, Table};

/// A foreign key of a single column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The column that refers.
    pub column: String,
    /// The table referred to, spelled as that table is; as written in the key if there is no such table.
    pub other_table: String,
    /// The column referred to, spelled as that column is. A key that names none means the other table's primary key; empty if that is
    /// not a single column.
    pub other_column: String,
    /// Whether there is such a column in such a table.
    pub other_exists: bool,
}

/// A foreign key of another table (or of the same) that refers to a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IncomingKey {
    /// The table that refers.
    pub other_table: String,
    /// The column of this table that is referred to.
    pub column: String,
    /// The column that refers.
    pub other_column: String,
}

/// A key as it is written in its table.
pub(super) struct WrittenKey {
    id: i64,
    column: String,
    other_table: String,
    other_column: Option<String>,
}

/// Reads the keys of a single column.
pub(super) fn read(conn: &Connection, object: &Object) -> Result<Vec<WrittenKey>> {
    // Most tables have no key, and asking about each costs more than looking for the word.
    let refers = object.kind == Kind::Table
        && object
            .sql
            .as_ref()
            .is_some_and(|sql| sql.to_ascii_lowercase().contains("references"));
    if !refers {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare(&objects::pragma("foreign_key_list", &object.name))?;
    let mut rows = statement.query([])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(WrittenKey {
            id: row.get(0)?,
            other_table: objects::text(row, 2)?,
            column: objects::text(row, 3)?,
            other_column: objects::optional_text(row, 4)?,
        });
    }
    let mut columns = HashMap::new();
    for key in &keys {
        *columns.entry(key.id).or_insert(0) += 1;
    }
    keys.retain(|key| columns[&key.id] == 1);
    Ok(keys)
}

/// Resolves the keys of all tables (`written` has one list a table) and enters them at both ends.
pub(super) fn link(
    tables: &mut [Table],
    written: Vec<Vec<WrittenKey>>,
    by_folded_name: &HashMap<String, usize>,
) {
    for (place, keys) in written.into_iter().enumerate() {
        for key in keys {
            let other = by_folded_name
                .get(&key.other_table.to_ascii_lowercase())
                .copied()
                .filter(|&other| !tables[other].is_view());
            let resolved = resolve(key, other.map(|other| &tables[other]));
            if let Some(other) = other.filter(|_| resolved.other_exists) {
                let other_table = tables[place].name.clone();
                tables[other].incoming.push(IncomingKey {
                    other_table,
                    column: resolved.other_column.clone(),
                    other_column: resolved.column.clone(),
                });
            }
            tables[place].foreign_keys.push(resolved);
        }
    }
    for table in tables {
        table.incoming.sort();
    }
}

fn resolve(key: WrittenKey, other: Option<&Table>) -> ForeignKey {
    let column = other.and_then(|other| match &key.other_column {
        Some(name) => other
            .find_column(name)
            .map(|column| column.name.clone())
            .or_else(|| is_rowid_of(other, name).then(|| name.clone())),
        None => match other.primary_keys.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
    });
    ForeignKey {
        column: key.column,
        other_table: other.map_or(key.other_table, |other| other.name.clone()),
        other_exists: column.is_some(),
        other_column: column.or(key.other_column).unwrap_or_default(),
    }
}

/// Whether `name` is one of the names of the rowid, and the table has one.
fn is_rowid_of(table: &Table, name: &str) -> bool {
    table.kind == Kind::Table
        && !table.without_rowid
        && ["rowid", "_rowid_", "oid"]
            .iter()
            .any(|alias| name.eq_ignore_ascii_case(alias))
}
