//! Columns and their types.

use rusqlite::{Connection, Result};

use super::Kind;
use super::objects::{self, Object};

/// A column of a table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type as SQLite gives it: as declared, but upper case if it is one of SQLite's own; empty if none was declared.
    pub declared_type: String,
    /// What SQLite makes of that type.
    pub affinity: Affinity,
    /// Whether it is declared `NOT NULL`.
    pub not_null: bool,
    /// The SQL of its default value.
    pub default: Option<String>,
    /// Its place in the primary key, from 1; 0 if it is not part of it.
    pub pk_position: u32,
    /// 1 for a hidden column of a virtual table, 2 for a virtual and 3 for a stored generated column, else 0.
    pub hidden: u8,
    /// The collation that comparisons with the column use, in upper case; `BINARY` if unknown.
    pub collation: String,
    /// Whether `collation` is what SQLite says; it says nothing about the columns of a view.
    pub collation_known: bool,
}

impl Column {
    /// The type that Datasette shows as `sqlite_type` in `_extra=column_details`.
    ///
    /// It is the affinity of the declared type alone: `ANY` is `NUMERIC` there even in a STRICT table.
    pub fn sqlite_type(&self) -> &'static str {
        // Datasette folds case as Unicode does, SQLite ASCII letters alone.
        Affinity::of_type(&self.declared_type.trim().to_uppercase()).name()
    }
}

/// How SQLite converts values that are stored in a column. <https://www.sqlite.org/datatype3.html#type_affinity>
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Affinity {
    /// Numbers become text.
    Text,
    /// Text that is a number becomes one; a whole number becomes an integer.
    Integer,
    /// Numbers become floating point.
    Real,
    /// Text that is a number becomes one.
    Numeric,
    /// Values stay as they are.
    Blob,
}

impl Affinity {
    /// The affinity of a declared type, by SQLite's five rules.
    pub fn of_type(declared: &str) -> Self {
        let declared = declared.to_ascii_uppercase();
        let has = |parts: &[&str]| parts.iter().any(|part| declared.contains(part));
        if has(&["INT"]) {
            Self::Integer
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Self::Text
        } else if declared.is_empty() || has(&["BLOB"]) {
            Self::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Self::Real
        } else {
            Self::Numeric
        }
    }

    /// `TEXT`, `INTEGER`, `REAL`, `NUMERIC` or `BLOB`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Numeric => "NUMERIC",
            Self::Blob => "BLOB",
        }
    }
}

/// Reads the columns of one table or view, hidden ones included, as Datasette lists them.
pub(super) fn read(conn: &Connection, object: &Object) -> Result<Vec<Column>> {
    let mut statement = conn.prepare(&objects::pragma("table_xinfo", &object.name))?;
    let mut rows = statement.query([])?;
    let mut columns = Vec::new();
    while let Some(row) = rows.next()? {
        let name = objects::text(row, 1)?;
        let declared_type = objects::text(row, 2)?;
        let collation = collation(conn, object, &name);
        columns.push(Column {
            affinity: if object.strict && declared_type.eq_ignore_ascii_case("any") {
                Affinity::Blob
            } else {
                Affinity::of_type(&declared_type)
            },
            name,
            declared_type,
            not_null: row.get(3)?,
            default: objects::optional_text(row, 4)?,
            pk_position: row.get(5)?,
            hidden: row.get(6)?,
            collation_known: collation.is_some(),
            collation: collation.unwrap_or_else(|| "BINARY".to_owned()),
        });
    }
    Ok(columns)
}

fn collation(conn: &Connection, object: &Object, column: &str) -> Option<String> {
    if object.kind == Kind::View {
        return None;
    }
    let (_, collation, ..) = conn
        .column_metadata(Some("main"), &object.name, column)
        .ok()?;
    Some(collation?.to_string_lossy().to_ascii_uppercase())
}

/// The names of the primary key's columns in the order of the key.
pub(super) fn primary_keys(columns: &[Column]) -> Vec<String> {
    let mut keys: Vec<&Column> = columns.iter().filter(|c| c.pk_position > 0).collect();
    keys.sort_by_key(|column| column.pk_position);
    keys.into_iter().map(|column| column.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(declared_type: &str) -> Column {
        Column {
            name: "c".to_owned(),
            declared_type: declared_type.to_owned(),
            affinity: Affinity::of_type(declared_type),
            not_null: false,
            default: None,
            pk_position: 0,
            hidden: 0,
            collation: "BINARY".to_owned(),
            collation_known: true,
        }
    }

    #[test]
    fn types_have_the_affinity_that_sqlite_and_datasette_give_them() {
        for (declared, expected) in [
            ("", "BLOB"),
            ("integer", "INTEGER"),
            ("BIGINT UNSIGNED", "INTEGER"),
            ("charint", "INTEGER"),
            ("floating point", "INTEGER"),
            ("varchar(30)", "TEXT"),
            ("Clob", "TEXT"),
            ("text blob", "TEXT"),
            ("blob", "BLOB"),
            ("real blob", "BLOB"),
            ("double precision", "REAL"),
            ("float", "REAL"),
            ("numeric", "NUMERIC"),
            ("decimal(10,5)", "NUMERIC"),
            ("boolean", "NUMERIC"),
            ("date", "NUMERIC"),
            ("string", "NUMERIC"),
            ("any", "NUMERIC"),
            ("json", "NUMERIC"),
        ] {
            assert_eq!(Affinity::of_type(declared).name(), expected, "{declared}");
            assert_eq!(column(declared).sqlite_type(), expected, "{declared}");
        }
    }

    #[test]
    fn a_type_of_spaces_is_none_to_datasette() {
        assert_eq!(column("  ").sqlite_type(), "BLOB");
        assert_eq!(column(" text ").sqlite_type(), "TEXT");
    }
}
