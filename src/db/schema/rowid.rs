//! Whether a table's primary key is its row number under another name.

use rusqlite::{Connection, Result};

use super::Kind;
use super::columns::Column;
use super::objects::{self, Object};

/// Whether the primary key is SQLite's row number: a single column whose type is
/// spelled `INTEGER`. <https://www.sqlite.org/lang_createtable.html#rowid>
///
/// `INTEGER PRIMARY KEY DESC` is not, by an old mistake that SQLite keeps. What
/// tells them apart is the index that such a key needs.
pub fn key_is_rowid(conn: &Connection, object: &Object, columns: &[Column]) -> Result<bool> {
    let mut keys = columns.iter().filter(|column| column.pk_position > 0);
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Ok(false);
    };
    if object.kind != Kind::Table
        || object.without_rowid
        || !key.declared_type.eq_ignore_ascii_case("integer")
    {
        return Ok(false);
    }
    if object.index_sql.is_empty() {
        return Ok(true);
    }
    let mut statement = conn.prepare(&objects::pragma("index_list", &object.name))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if objects::text(row, 3)? == "pk" {
            return Ok(false);
        }
    }
    Ok(true)
}
