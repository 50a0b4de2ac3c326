//! The rows of `sqlite_schema`, with what `PRAGMA table_list` adds.

use std::collections::HashMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row};

use super::Kind;
use crate::text::identifier;

/// Everything in `sqlite_schema` that the schema is made from.
pub(super) struct Objects {
    /// Tables and views, in order.
    pub tables: Vec<Object>,
    /// Whether anything belongs to a table called `geometry_columns`, which `SpatiaLite`'s databases have.
    pub spatialite: bool,
}

/// A table or view as it stands in `sqlite_schema`.
pub(super) struct Object {
    pub name: String,
    pub kind: Kind,
    pub sql: Option<String>,
    /// The SQL of each of its indexes, in order; an index that a constraint made has none. The primary key of a `WITHOUT ROWID` table
    /// is not among them.
    pub index_sql: Vec<Option<String>>,
    /// Whether a virtual table keeps its data in it.
    pub shadow: bool,
    pub without_rowid: bool,
    pub strict: bool,
}

impl Object {
    /// The statements that make the table and its indexes, as Datasette's `get_table_definition` puts them together.
    pub fn definition(&self) -> Option<String> {
        let mut definition = self.sql.clone()?;
        definition.push(';');
        for sql in self.index_sql.iter().flatten() {
            definition.push('\n');
            definition.push_str(sql);
            definition.push(';');
        }
        Some(definition)
    }
}

/// Reads the tables, views and indexes of `main`.
pub(super) fn read(conn: &Connection) -> Result<Objects> {
    let mut objects = Objects {
        tables: Vec::new(),
        spatialite: false,
    };
    let mut places = HashMap::new();
    let mut indexes = Vec::new();
    let mut statement =
        conn.prepare("select type, name, tbl_name, sql from main.sqlite_schema order by rowid")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name = text(row, 1)?;
        let owner = text(row, 2)?;
        let sql = optional_text(row, 3)?;
        objects.spatialite |= owner == "geometry_columns";
        let kind = match text(row, 0)?.as_str() {
            "table" => Kind::Table,
            "view" => Kind::View,
            "index" => {
                indexes.push((owner, sql));
                continue;
            }
            _ => continue,
        };
        places.insert(name.clone(), objects.tables.len());
        objects.tables.push(Object {
            name,
            kind,
            sql,
            index_sql: Vec::new(),
            shadow: false,
            without_rowid: false,
            strict: false,
        });
    }
    for (owner, sql) in indexes {
        if let Some(&place) = places.get(&owner) {
            objects.tables[place].index_sql.push(sql);
        }
    }
    read_table_list(conn, &places, &mut objects.tables)?;
    Ok(objects)
}

/// Completes the tables. A statement and not the function `pragma_table_list`, which a table of that name would replace.
fn read_table_list(
    conn: &Connection,
    places: &HashMap<String, usize>,
    tables: &mut [Object],
) -> Result<()> {
    let mut statement = conn.prepare("pragma main.table_list")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Some(&place) = places.get(&text(row, 1)?) else {
            continue;
        };
        let table = &mut tables[place];
        match text(row, 2)?.as_str() {
            "virtual" => table.kind = Kind::Virtual,
            "shadow" => table.shadow = true,
            _ => {}
        }
        table.without_rowid = row.get(4)?;
        table.strict = row.get(5)?;
    }
    Ok(())
}

/// `pragma main.NAME("ARGUMENT")`.
pub(super) fn pragma(name: &str, argument: &str) -> String {
    format!("pragma main.{name}({})", identifier::quote(argument))
}

/// A text of a row. A name that is not UTF-8 must not make the whole database unreadable.
pub(super) fn text(row: &Row<'_>, index: usize) -> Result<String> {
    Ok(optional_text(row, index)?.unwrap_or_default())
}

/// A text of a row, or `None` for NULL and numbers.
pub(super) fn optional_text(row: &Row<'_>, index: usize) -> Result<Option<String>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => None,
    })
}
