//! What `turntable inspect` tells of a file, and `--inspect-file` gives back:
//! its hash and the numbers of rows of its tables, which take long to find
//! out of a large file and stay the same of one that nobody changes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::database::hash_file;
use super::extension::Extension;
use super::pool::{Place, Target};
use super::snapshot::sqlite_message;
use crate::text::identifier::escape;

/// What was found out of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspected {
    /// SHA-256 in hex.
    pub hash: Option<String>,
    /// Bytes of the file.
    pub size: u64,
    /// The path that it had.
    pub file: Option<String>,
    /// Tables and their rows, in the order of the schema.
    pub tables: Vec<(String, i64)>,
}

impl Inspected {
    /// Reads a whole file.
    ///
    /// # Errors
    /// A few words: it can't be read or is no database.
    pub fn file(path: &Path, extensions: &Arc<[Extension]>) -> Result<Self, String> {
        let target = Target {
            extensions: Arc::clone(extensions),
            ..Target::of(Place::Immutable(path.to_owned()))
        };
        let connection = target.connect().map_err(|e| sqlite_message(&e))?;
        Ok(Self {
            tables: tables(&connection).map_err(|e| sqlite_message(&e))?,
            hash: Some(hash_file(path).map_err(|error| error.to_string())?),
            size: path.metadata().map_err(|error| error.to_string())?.len(),
            file: Some(path.display().to_string()),
        })
    }

    /// As `turntable inspect` writes it.
    pub fn to_json(&self) -> Value {
        let tables = self.tables.iter();
        let tables: Map<_, _> = tables
            .map(|(name, count)| (name.clone(), json!({"count": count})))
            .collect();
        json!({"hash": self.hash, "size": self.size, "file": self.file, "tables": tables})
    }

    /// Reads it back. Counts that are missing are left out.
    fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            hash: text("hash"),
            size: value
                .get("size")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
            file: text("file"),
            tables: value
                .as_object()?
                .get("tables")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .filter_map(|(name, table)| Some((name.clone(), table.get("count")?.as_i64()?)))
                .collect(),
        })
    }
}

/// Reads what `turntable inspect` wrote, by the names of the databases.
///
/// # Errors
/// One sentence that names the file.
pub fn read(path: &Path) -> Result<HashMap<String, Inspected>, String> {
    let named = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {named}: {error}"))?;
    let databases: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| format!("{named}: not valid JSON: {error}"))?;
    databases
        .into_iter()
        .map(|(name, value)| match Inspected::from_json(&value) {
            Some(inspected) => Ok((name, inspected)),
            None => Err(format!(
                "{named}: {name:?} is no mapping as turntable inspect writes them"
            )),
        })
        .collect()
}

/// Counts all tables, whatever they hold.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<(String, i64)>> {
    let mut names = connection.prepare("select name from sqlite_schema where type = 'table'")?;
    let names: Vec<String> = names
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let count = |name: &String| {
        let sql = format!("select count(*) from {}", escape(name));
        connection.query_row(&sql, [], |row| row.get(0)).ok()
    };
    // A virtual table whose module is missing can't be counted: the others can.
    Ok(names
        .into_iter()
        .filter_map(|name| count(&name).map(|rows| (name, rows)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "makes the file")]
    fn what_was_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(
                "create table b(x); create table [a b](x); insert into b values (1), (2);",
            )
            .unwrap();
        let inspected = Inspected::file(&path, &Vec::new().into()).unwrap();
        assert_eq!(
            inspected.tables,
            [("b".to_owned(), 2), ("a b".to_owned(), 0)]
        );
        assert_eq!(inspected.size, path.metadata().unwrap().len());
        let out = folder.path().join("inspect-data.json");
        std::fs::write(&out, json!({"a": inspected.to_json()}).to_string()).unwrap();
        assert_eq!(read(&out).unwrap()["a"], inspected);
        std::fs::write(&out, "[]").unwrap();
        assert!(read(&out).unwrap_err().contains("inspect-data.json"));
        std::fs::write(&out, r#"{"a": 5}"#).unwrap();
        assert!(read(&out).unwrap_err().contains("\"a\""));
    }
}
