//! What SQL that a client may choose can reach, as SQLite itself tells while it compiles
//! and runs the statement: its authorizer is asked about every table, function and pragma.
//! <https://www.sqlite.org/c3ref/set_authorizer.html>
//!
//! Connections can't write, and [`super::execute`] asks about the compiled statement whether it
//! would. The fence is for the rest: what changes the connection, what reaches
//! other files, and databases beside this one that the asker may not read.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

use crate::db::snapshot::sqlite_message;
use crate::error::{Error, Result};

/// Bytes of a text, a blob or a row inside SQL at the most. SQLite's own bound is a
/// gigabyte, and `zeroblob(1e9)` takes it.
const LONGEST: i32 = 64 << 20;

/// SQLite's words for a value that is longer.
const TOO_BIG: &str = "string or blob too big";

/// Pragmas that tell something and change nothing, whatever their argument: those that
/// `pragma_NAME()` can read, as in Datasette.
const PRAGMAS: [&str; 13] = [
    "database_list",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "page_count",
    "max_page_count",
    "page_size",
    "schema_version",
    "table_info",
    "table_xinfo",
    "table_list",
];
/// Pragmas that SQLite's own full-text search runs.
const INNER_PRAGMAS: [&str; 1] = ["data_version"];
/// Functions that reach beyond the database, or are for this program's own use.
const FUNCTIONS: [&str; 3] = ["load_extension", "fts3_tokenizer", "tally"];

/// Whose SQL it is, and what it must not read.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Whether the SQL stands in the configuration: then it may read any pragma.
    pub is_configured: bool,
    /// Databases that are attached to this one and may not be read, in lower case.
    pub closed: Arc<HashSet<String>>,
}

/// Runs `job` inside the fence. What the fence refused is told in its words.
pub fn within<T>(
    connection: &Connection,
    rules: &Rules,
    job: impl FnOnce(&Connection) -> rusqlite::Result<Result<T>>,
) -> rusqlite::Result<Result<T>> {
    let fence = Fence::raise(connection, rules)?;
    let result = job(connection);
    let refusal = fence.refusal.lock().take();
    drop(fence);
    match (result, refusal) {
        (Err(_), Some(refusal)) => Ok(Err(refusal)),
        (Err(error), None) if sqlite_message(&error) == TOO_BIG => Ok(Err(Error::InvalidSql(
            format!("{TOO_BIG}: in SQL a value has at most {LONGEST} bytes"),
        ))),
        (result, _) => result,
    }
}

/// Falls when dropped, also if the job panics: the connection goes back to the pool.
struct Fence<'c> {
    connection: &'c Connection,
    longest_before: i32,
    refusal: Arc<Mutex<Option<Error>>>,
}

impl<'c> Fence<'c> {
    fn raise(connection: &'c Connection, rules: &Rules) -> rusqlite::Result<Self> {
        let fence = Self {
            connection,
            longest_before: connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?,
            refusal: Arc::default(),
        };
        let (rules, refused) = (rules.clone(), fence.refusal.clone());
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            match refusal(&context, &rules) {
                None => Authorization::Allow,
                Some(reason) => {
                    refused.lock().get_or_insert(reason);
                    Authorization::Deny
                }
            }
        }))?;
        Ok(fence)
    }
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        let removed = self
            .connection
            .authorizer(None::<fn(AuthContext<'_>) -> Authorization>);
        let restored = self
            .connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, self.longest_before);
        if let Err(error) = removed.and(restored.map(drop)) {
            tracing::error!("a connection keeps the limits of a visitor's SQL: {error}");
        }
    }
}

/// Why something is not allowed, if it is not.
fn refusal(context: &AuthContext<'_>, rules: &Rules) -> Option<Error> {
    let is_closed = |name: &str| rules.closed.contains(&name.to_ascii_lowercase());
    match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            Some(bad("ATTACH and DETACH are not allowed"))
        }
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            Some(bad("Statements about transactions are not allowed"))
        }
        AuthAction::Function { function_name } if is_one_of(&FUNCTIONS, function_name) => Some(
            Error::InvalidSql(format!("not authorized: {function_name}() is not allowed")),
        ),
        AuthAction::Pragma {
            pragma_name,
            pragma_value,
        } => {
            if is_one_of(&INNER_PRAGMAS, pragma_name) && pragma_value.is_none() {
                return None;
            }
            let may_ask = rules.is_configured && pragma_value.is_none();
            if !may_ask && !is_one_of(&PRAGMAS, pragma_name) {
                return Some(bad(&disallowed_pragma()));
            }
            // Without the name of a database, a pragma tells of all that are attached.
            let is_open = rules.closed.is_empty()
                || context.database_name.is_some_and(|name| !is_closed(name));
            (!is_open).then(|| {
                Error::Forbidden(
                    "Pragmas would tell of databases that you may not run SQL on".into(),
                )
            })
        }
        AuthAction::Read { table_name, .. }
            if !rules.is_configured && is_other_pragma(table_name) =>
        {
            Some(bad(&disallowed_pragma()))
        }
        AuthAction::Read { table_name, .. } => match context.database_name {
            Some(database) => is_closed(database).then(|| {
                Error::Forbidden(format!("You may not run SQL on the database {database}"))
            }),
            // A table none of whose columns is read, which SQLite tells without its database. One
            // inside a view is in the database of the view.
            None => (!rules.closed.is_empty() && context.accessor.is_none()).then(|| {
                Error::Forbidden(format!(
                    "Say which database {table_name} is in, or name one of its columns: \
                     here are databases that you may not run SQL on"
                ))
            }),
        },
        _ => None,
    }
}

fn bad(message: &str) -> Error {
    Error::BadRequest(message.to_owned())
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a table is a pragma's function that is not on the list. Its pragma would not run
/// either, but SQLite looks at the arguments first and has other complaints.
fn is_other_pragma(table: &str) -> bool {
    let table = table.to_ascii_lowercase();
    table
        .strip_prefix("pragma_")
        .is_some_and(|name| !is_one_of(&PRAGMAS, name))
}

fn disallowed_pragma() -> String {
    let allowed: Vec<String> = PRAGMAS
        .iter()
        .map(|name| format!("pragma_{name}()"))
        .collect();
    format!(
        "Statement contained a disallowed PRAGMA. These functions may be used: {}",
        allowed.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_by(connection: &Connection, rules: &Rules, sql: &str) -> Result<usize> {
        let ran = within(connection, rules, |connection| {
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.raw_query();
            let mut count = 0;
            while let Some(row) = rows.next()? {
                row.get_ref(0)?;
                count += 1;
            }
            Ok(Ok(count))
        });
        ran.map_err(|error| Error::Internal(error.to_string()))?
    }

    fn visitor(sql: &str) -> Result<usize> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table t (a)").unwrap();
        run_by(&connection, &Rules::default(), sql)
    }

    #[test]
    fn pragmas_are_read_by_function_and_only_those_on_the_list() {
        for (sql, rows) in [
            ("select * from pragma_table_info('t')", 1),
            ("select * from PRAGMA_TABLE_XINFO('t')", 1),
            ("select * from \"pragma_table_info\"('t', 'main')", 1),
            ("select 'pragma', 1 /* pragma */ as pragma_journal_mode", 1),
        ] {
            assert_eq!(visitor(sql), Ok(rows), "{sql}");
        }
        for sql in [
            "select * from pragma_journal_mode",
            "select * from pragma_journal_mode('delete')",
            "select * from \"pragma_user_version\"",
            "select * from pragma_table_info('t'), pragma_user_version",
            "pragma journal_mode",
            "pragma query_only = off",
        ] {
            let message = visitor(sql).unwrap_err().message().to_owned();
            assert!(message.contains("pragma_table_info()"), "{sql}: {message}");
        }
    }

    #[test]
    fn configured_sql_reads_any_pragma_and_sets_none() {
        let connection = Connection::open_in_memory().unwrap();
        let rules = Rules {
            is_configured: true,
            ..Rules::default()
        };
        let run = |sql: &str| run_by(&connection, &rules, sql);
        assert_eq!(run("select * from pragma_journal_mode"), Ok(1));
        assert_eq!(run("pragma journal_mode"), Ok(1));
        assert!(run("pragma journal_mode = wal").is_err());
        assert!(run("select * from pragma_journal_mode('wal')").is_err());
    }

    #[test]
    fn nothing_leaves_the_database_or_the_transaction() {
        for (sql, word) in [
            ("attach ':memory:' as x", "ATTACH"),
            ("detach main", "DETACH"),
            ("commit", "transactions"),
            ("savepoint x", "transactions"),
            ("select LOAD_EXTENSION('x')", "load_extension()"),
        ] {
            let message = visitor(sql).unwrap_err().message().to_owned();
            assert!(message.contains(word), "{sql}: {message}");
        }
    }

    #[test]
    fn a_value_too_long_is_no_fault_of_the_server() {
        for sql in ["select zeroblob(1e9)", "select hex(zeroblob(60000000))"] {
            let error = visitor(sql).unwrap_err();
            assert_eq!(error.status(), 400, "{sql}");
            assert!(error.message().contains("67108864"), "{sql}");
        }
    }

    #[test]
    fn a_closed_database_is_read_in_no_way() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "attach ':memory:' as Secret; create table secret.s (x); create table t (x);
                 create view secret.v as select 1 as one; attach ':memory:' as open; create table open.o (x);
                 create view open.w as select count(*) as n from o",
            )
            .unwrap();
        let rules = Rules {
            closed: Arc::new(HashSet::from(["secret".to_owned()])),
            ..Rules::default()
        };
        let run = |sql: &str| run_by(&connection, &rules, sql);
        for sql in [
            "select * from t",
            "select * from open.o",
            "select n from w",
            "select count(*) from main.sqlite_master",
            "select * from pragma_table_info('t', 'main')",
        ] {
            assert!(run(sql).is_ok(), "{sql}");
        }
        for sql in [
            "select * from secret.s",
            "select count(*) from SECRET.s",
            "select x from s",
            "select (select 1 from v)",
            "select count(*) from s",
            "select * from secret.sqlite_master",
            "explain select * from s",
            "select * from pragma_table_list",
            "select * from pragma_database_list",
            "select * from pragma_table_info('s')",
            "select * from pragma_table_info('s', 'secret')",
            "select * from dbstat('secret')",
        ] {
            assert_eq!(run(sql).map_err(|error| error.status()), Err(403), "{sql}");
        }
    }

    #[test]
    fn the_fence_falls_when_the_job_has_ended() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create virtual table f using fts5(x); create virtual table r using rtree(id, a, b)").unwrap();
        let rules = Rules::default();
        assert_eq!(
            run_by(&connection, &rules, "select * from f where f match 'a'"),
            Ok(0)
        );
        assert_eq!(run_by(&connection, &rules, "select * from r"), Ok(0));
        assert!(run_by(&connection, &rules, "commit").is_err());
        connection
            .execute_batch("begin; commit; attach ':memory:' as x")
            .unwrap();
        let length: i64 = connection
            .query_row("select length(zeroblob(70000000))", [], |row| row.get(0))
            .unwrap();
        assert_eq!(length, 70_000_000);
    }
}
