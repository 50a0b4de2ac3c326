//! Which tables, views and statements show the content of the database and nothing else:
//! what they show stays the same as long as that does.
//!
//! SQLite itself says what a statement uses, as it compiles it. Whatever may
//! depend on chance, on the time of day or on what a connection does counts as
//! unsteady, date functions of columns too: a column may hold the text 'now'.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, Result};

use super::Kind;
use super::declaration::Declaration;
use super::fts;
use super::objects::{Object, Objects};
use crate::text::identifier::escape;

/// Functions whose result is not a matter of their arguments alone.
const UNSTEADY: [&str; 15] = [
    "random",
    "randomblob",
    "date",
    "time",
    "datetime",
    "julianday",
    "unixepoch",
    "strftime",
    "timediff",
    "current_date",
    "current_time",
    "current_timestamp",
    "changes",
    "total_changes",
    "last_insert_rowid",
];
/// Table-valued functions that depend on their arguments alone.
const STEADY_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];
/// Virtual tables besides those for searching that keep all they show in the database.
const MODULES: [&str; 3] = ["rtree", "rtree_i32", "geopoly"];

/// The rule for one database.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// What statements may read, in lower case.
    readable: Arc<HashSet<String>>,
    /// Functions that are no part of SQLite, in lower case: an extension's may do anything.
    foreign: Arc<HashSet<String>>,
    /// Whether the numbers of rows of all tables depend on the content alone.
    pub counts: bool,
}

impl Rule {
    /// The rule that holds in the database of these objects.
    pub fn of(conn: &Connection, objects: &Objects) -> Result<Self> {
        let foreign = conn
            .prepare("select lower(name) from pragma_function_list where not builtin")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_>>()?;
        let readable = objects.tables.iter().filter(|object| match object.kind {
            Kind::Table | Kind::View => true,
            Kind::Virtual => is_of(object, |module| MODULES.contains(&module)),
        });
        let readable = readable.map(|object| object.name.to_ascii_lowercase());
        let more = STEADY_FUNCTIONS
            .into_iter()
            .chain(["sqlite_schema", "sqlite_master"]);
        let mut virtual_tables = objects.tables.iter().filter(|o| o.kind == Kind::Virtual);
        Ok(Self {
            readable: Arc::new(readable.chain(more.map(str::to_owned)).collect()),
            foreign: Arc::new(foreign),
            counts: virtual_tables.all(|o| {
                is_of(o, |module| {
                    fts::is_module(module) || MODULES.contains(&module)
                })
            }),
        })
    }

    /// Whether a table or view shows the content of the database alone. A table for
    /// searching does not: it has a column that tells of the query, and its texts may come from a view.
    pub fn holds_for(&self, conn: &Connection, object: &Object) -> Result<bool> {
        match object.kind {
            Kind::Table => Ok(true),
            Kind::Virtual => Ok(is_of(object, |module| MODULES.contains(&module))),
            Kind::View => {
                self.holds_for_sql(conn, &format!("select * from {}", escape(&object.name)))
            }
        }
    }

    /// Whether a statement shows the content of the database alone; one that can't be compiled shows nothing. It
    /// is compiled here, no further than to what it may not use: there are pragmas that act when they are compiled.
    pub fn holds_for_sql(&self, conn: &Connection, sql: &str) -> Result<bool> {
        let steady = Arc::new(AtomicBool::new(true));
        let (readable, seen) = (self.readable.clone(), steady.clone());
        let foreign = self.foreign.clone();
        conn.authorizer(Some(move |context: AuthContext<'_>| {
            let is_steady = match context.action {
                AuthAction::Function { function_name } => {
                    let name = function_name.to_ascii_lowercase();
                    !UNSTEADY.contains(&name.as_str()) && !foreign.contains(&name)
                }
                AuthAction::Read { table_name, .. } => {
                    readable.contains(&table_name.to_ascii_lowercase())
                }
                AuthAction::Select | AuthAction::Recursive => true,
                _ => false,
            };
            if is_steady {
                return Authorization::Allow;
            }
            seen.store(false, Relaxed);
            Authorization::Deny
        }))?;
        let compiled = conn.prepare(sql).map(drop);
        conn.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
        Ok(compiled.is_ok() && steady.load(Relaxed))
    }
}

/// Whether a virtual table is of such a module.
fn is_of(object: &Object, module: impl Fn(&str) -> bool) -> bool {
    let declaration = object.sql.as_deref().and_then(Declaration::parse);
    declaration.is_some_and(|declaration| module(&declaration.module))
}

#[cfg(test)]
mod tests {
    use rusqlite::functions::FunctionFlags;

    use super::super::Schema;
    use super::*;

    fn is_steady(view: &str) -> bool {
        let conn = Connection::open_in_memory().unwrap();
        conn.create_scalar_function("Added", 0, FunctionFlags::SQLITE_UTF8, |_| Ok(1))
            .unwrap();
        let sql = format!(
            "create table t(id integer primary key, d text, n int);
             create view other as select random() as r, d from t;
             create virtual table f using fts5(d);
             create view v as {view};"
        );
        conn.execute_batch(&sql).unwrap();
        Schema::load(&conn).unwrap().table("v").unwrap().steady
    }

    #[test]
    fn a_statement_is_steady_as_a_view_of_it_would_be_and_nothing_is_run() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("create table t(d text)").unwrap();
        let schema = Schema::load(&conn).unwrap();
        for (sql, expected) in [
            ("select d from t where d = :d;", true),
            ("select count(*) from t -- all", true),
            ("explain query plan select 1", true),
            ("select random()", false),
            ("select * from pragma_table_list", false),
            ("pragma user_version = 5", false),
            ("pragma query_only = 1", false),
            ("insert into t values (1)", false),
            ("select 1; select 2", false),
            ("select nope from t", false),
            ("", true),
        ] {
            assert_eq!(schema.is_steady_sql(&conn, sql), Ok(expected), "{sql}");
        }
        let pragma = |name| conn.pragma_query_value::<i64, _>(None, name, |row| row.get(0));
        assert_eq!(pragma("user_version"), Ok(0));
        assert_eq!(pragma("query_only"), Ok(0));
        assert!(
            conn.prepare("select random()").is_ok(),
            "the authorizer is gone"
        );
    }

    #[test]
    fn a_view_of_columns_is_steady() {
        for view in [
            "select d, count(*) as n from t group by d",
            "select upper(d) as date, 'now' as time from t where n > 5",
            "with recursive c(x) as (select 1 union all select x + 1 from c limit 3) select x from c",
            "select value from t, json_each(t.d)",
            "select n, row_number() over (order by n) from t",
        ] {
            assert!(is_steady(view), "{view}");
        }
    }

    #[test]
    fn one_of_chance_the_time_of_day_or_the_connection_is_not() {
        for view in [
            "select random() as r",
            "select added() as a",
            "select r from other",
            "select strftime('%f,') as s",
            "select julianday/**/() as j",
            "select julianday('n' || 'ow') as j",
            "select date(d) as day from t",
            "select CURRENT_TIMESTAMP as now",
            "select name from pragma_table_list",
            "select d from f",
            "select n from t where d > (select datetime('now'))",
        ] {
            assert!(!is_steady(view), "{view}");
        }
    }
}
