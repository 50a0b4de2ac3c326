//! The SQL that made a database, or one table of it, as text.
//!
//! It is read from `sqlite_schema` on a snapshot and holds what the asker may see
//! and no more; [`markdown`] puts it into a document.

pub mod markdown;

use rusqlite::OptionalExtension as _;
use rusqlite::types::ValueRef;

use crate::auth::Asker;
use crate::db::schema::Schema;
use crate::db::{Cancel, Database, Limit, PageSnapshot};
use crate::error::{Error, Result};

/// All statements in the order in which SQLite keeps them.
const ALL: &str = "select type, tbl_name, sql from main.sqlite_schema
     where sql is not null order by rowid";
/// The statement of one table or view.
const ONE: &str = "select sql from main.sqlite_schema where type in ('table', 'view') and name = ?";

/// The statements of a database that `asker` may see, `;` and a line's end between them.
///
/// Of a table that is left out the indexes and triggers are left out too, and so is
/// what SQLite made for itself: statistics, and the inside of an index of another
/// table's content. So is a trigger that names such a table.
pub fn of_database(
    database: &Database,
    asker: Asker<'_>,
    limit: Limit,
    cancel: &Cancel,
) -> Result<String> {
    let snapshot = PageSnapshot::begin(database, cancel)?;
    let whole = snapshot.schema()?;
    let seen = asker.schema(&database.name, whole.clone());
    let hidden: Vec<String> = whole
        .tables()
        .chain(whole.views())
        .filter(|table| seen.table(&table.name).is_none())
        .map(|table| table.name.to_ascii_lowercase())
        .collect();
    let names_hidden = |sql: &str| {
        let sql = sql.to_ascii_lowercase();
        hidden.iter().any(|name| sql.contains(name))
    };
    let statements = snapshot.read(limit, |connection| {
        let mut statement = connection.prepare_cached(ALL)?;
        let mut rows = statement.query([])?;
        let mut text = String::new();
        while let Some(row) = rows.next()? {
            let is_trigger = row.get_ref(0)? == ValueRef::Text(b"trigger");
            let table = as_text(row.get_ref(1)?);
            let sql = as_text(row.get_ref(2)?);
            if !is_listed(&seen, &table) || is_trigger && names_hidden(&sql) {
                continue;
            }
            if !text.is_empty() {
                text.push_str(";\n");
            }
            text.push_str(&sql);
        }
        Ok(text)
    });
    Ok(statements?)
}

/// The statement that made a table or view. [`Error::NotFound`] if there is none.
pub fn of_table(
    database: &Database,
    asker: Asker<'_>,
    table: &str,
    limit: Limit,
    cancel: &Cancel,
) -> Result<String> {
    let snapshot = PageSnapshot::begin(database, cancel)?;
    let schema = asker.schema(&database.name, snapshot.schema()?);
    let not_found = || Error::NotFound(format!("Table not found: {table}"));
    let table = schema.table(table).ok_or_else(not_found)?;
    let sql = snapshot.read(limit, |connection| {
        connection
            .prepare_cached(ONE)?
            .query_row([&table.name], |row| Ok(as_text(row.get_ref(0)?)))
            .optional()
    });
    sql?.ok_or_else(not_found)
}

fn is_listed(schema: &Schema, table: &str) -> bool {
    schema.find(table).is_some_and(|table| table.listed)
}

/// A text; SQL that is not UTF-8 must not make the page fail.
fn as_text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::auth::{Access, AccessOptions};
    use crate::db::registry::test_database;

    const SQL: &str = "create table cat(id integer primary key, name text);
        create index cat_name on cat(name);
        create table note(body text);
        create trigger copied after insert on note begin insert into cat(name) values (new.body); end;
        create virtual table note_fts using fts5(body, content='note');
        create view names as select name from cat;
        insert into cat(name) values ('x'); analyze;";

    fn text(asker: Asker<'_>) -> String {
        let (_folder, database) = test_database(SQL);
        of_database(&database, asker, Limit::NONE, &Cancel::default()).unwrap()
    }

    #[test]
    fn all_that_was_created_is_there_and_what_sqlite_made_is_not() {
        let text = text(Asker::default());
        let starts: Vec<&str> = text.split(";\n").filter_map(|sql| sql.get(..16)).collect();
        assert_eq!(
            starts,
            [
                "CREATE TABLE cat",
                "CREATE INDEX cat",
                "CREATE TABLE not",
                "CREATE TRIGGER c",
                "CREATE VIRTUAL T",
                "CREATE VIEW name"
            ]
        );
        assert!(!text.ends_with(';'));
    }

    #[test]
    fn what_belongs_to_a_hidden_table_is_hidden_with_it() {
        let config = json!({"databases": {"test": {"tables": {"cat": {"allow": false}}}}});
        let access = Access::new(config.as_object().unwrap(), AccessOptions::default());
        let text = text(Asker::new(&access, None));
        assert!(text.starts_with("CREATE TABLE note"), "{text}");
        assert!(
            !text.contains("cat_name") && !text.contains("TRIGGER"),
            "{text}"
        );
    }

    #[test]
    fn one_table_is_its_own_statement_alone() {
        let (_folder, database) = test_database(SQL);
        let one = |table| {
            of_table(
                &database,
                Asker::default(),
                table,
                Limit::NONE,
                &Cancel::default(),
            )
        };
        let cat = "CREATE TABLE cat(id integer primary key, name text)";
        assert_eq!(one("cat").unwrap(), cat);
        assert_eq!(
            one("names").unwrap(),
            "CREATE VIEW names as select name from cat"
        );
        for none in ["nope", "sqlite_schema", "cat_name"] {
            assert_eq!(one(none).unwrap_err().status(), 404, "{none}");
        }
    }
}
