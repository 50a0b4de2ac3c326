//! Runs SQL that a visitor or the configuration wrote.

use rusqlite::{Connection, Statement};

use super::{QueryRequest, facets, fence, validate};
use crate::db::{BorrowedValue, Database, Limit, PageSnapshot, Value};
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::table::execute::as_invalid_sql;
use crate::table::page::Facet;
use crate::table::rows::Rows;

/// Bytes of text and blobs that a page holds at the most: a row may be
/// large, and a page has a thousand.
const BYTES: usize = 256 << 20;

/// The result of a query, as far as a page goes.
#[derive(Default)]
pub struct QueryPage {
    /// The rows.
    pub rows: Rows,
    /// Whether there were more.
    pub truncated: bool,
    /// Facets that were counted, over all rows.
    pub facets: Vec<Facet>,
    /// Columns whose facets ran out of time.
    pub facets_timed_out: Vec<String>,
    /// Whether it stays the same as long as the database does.
    pub lasts: bool,
}

/// Runs the query and counts its facets. [`Error::InvalidSql`] with SQLite's message if it is wrong.
pub fn execute(page: &Page<'_>, database: &Database, request: &QueryRequest) -> Result<QueryPage> {
    let snapshot = begin(page, database, request)?;
    let mut result = run(&snapshot, request, |columns, rows| {
        let size = request.size.unwrap_or(usize::MAX);
        let (taken, ended) = Rows::take(columns, rows, size, BYTES)?;
        let truncated = !ended && size > 0 && rows.next()?.is_some();
        Ok(Ok(QueryPage {
            rows: taken,
            truncated,
            ..QueryPage::default()
        }))
    })?;
    if !request.facets.is_empty() {
        facets::count(page, database, &snapshot, request, &mut result)?;
    }
    result.lasts = result.facets_timed_out.is_empty() && lasts(&snapshot, database, request)?;
    Ok(result)
}

/// Finds the first value in a column that matches, however many rows come
/// before it, and tells whether the same would be found as long as the database
/// stays the same. `position` finds the column among the names of all.
pub fn find(
    page: &Page<'_>,
    database: &Database,
    request: &QueryRequest,
    position: impl FnOnce(&[String]) -> Result<usize>,
    matches: impl Fn(BorrowedValue<'_>) -> bool,
) -> Result<(Option<Value>, bool)> {
    let snapshot = begin(page, database, request)?;
    let found = run(&snapshot, request, |columns, rows| {
        let position = match position(&columns) {
            Ok(position) => position,
            Err(error) => return Ok(Err(error)),
        };
        while let Some(row) = rows.next()? {
            let value = BorrowedValue::from(row.get_ref(position)?);
            if matches(value) {
                return Ok(Ok(Some(value.owned())));
            }
        }
        Ok(Ok(None))
    })?;
    Ok((found, lasts(&snapshot, database, request)?))
}

/// Whether a result that was found stays the same as long as the database does.
fn lasts(snapshot: &PageSnapshot<'_>, database: &Database, request: &QueryRequest) -> Result<bool> {
    if database.has_attached {
        // The version is of one database, and the SQL may read others.
        return Ok(false);
    }
    let schema = snapshot.schema()?;
    let is_steady = snapshot.read(Limit::millis(request.time_limit_ms), |connection| {
        schema.is_steady_sql(connection, &request.sql)
    });
    Ok(is_steady.map_err(as_invalid_sql)? && !snapshot.has_gaps())
}

fn begin<'d>(
    page: &Page<'_>,
    database: &'d Database,
    request: &QueryRequest,
) -> Result<PageSnapshot<'d>> {
    check(request)?;
    Ok(PageSnapshot::begin(database, &page.cancel)?)
}

/// What can be said of the SQL before SQLite sees it.
pub fn check(request: &QueryRequest) -> Result<()> {
    if request.rules.is_configured {
        validate::no_null_character(&request.sql)
    } else {
        validate::select_only(&request.sql)
    }
}

fn run<T>(
    snapshot: &PageSnapshot<'_>,
    request: &QueryRequest,
    read: impl FnOnce(Vec<String>, &mut rusqlite::Rows<'_>) -> rusqlite::Result<Result<T>>,
) -> Result<T> {
    let result = snapshot.read(Limit::millis(request.time_limit_ms), |connection| {
        fence::within(connection, &request.rules, |connection| {
            match prepare(connection, request, &request.sql)? {
                Ok(mut statement) => read(columns(&statement), &mut statement.raw_query()),
                Err(error) => Ok(Err(error)),
            }
        })
    });
    result.map_err(as_invalid_sql)?
}

/// Compiles SQL, that of the request or some that is made of it, sees that it only reads,
/// and binds its parameters. It is not kept for later: the SQL of visitors would
/// push out that of the pages.
pub(super) fn prepare<'c>(
    connection: &'c Connection,
    request: &QueryRequest,
    sql: &str,
) -> rusqlite::Result<Result<Statement<'c>>> {
    let invalid = |text: &str| Ok(Err(Error::InvalidSql(text.to_owned())));
    let mut statement = match connection.prepare(sql) {
        Err(rusqlite::Error::MultipleStatement) => {
            return invalid("You can only execute one statement at a time.");
        }
        prepared => prepared?,
    };
    // Connections can't write anyway; this says so before anything has run.
    if !statement.readonly() {
        return invalid("attempt to write a readonly database");
    }
    for n in 1..=statement.parameter_count() {
        // Without its `:`, `@`, `$` or `?`, the name of an argument.
        let Some(name) = statement.parameter_name(n).map(str::to_owned) else {
            return invalid("Parameters must have names, :name rather than ?");
        };
        let bare = name.get(1..).unwrap_or_default();
        let is_in_form = !name.starts_with('?') && !bare.starts_with('_');
        let mut magic = request.magic.iter();
        if let Some((_, value)) = magic.find(|(name, _)| name == bare) {
            statement.raw_bind_parameter(n, value)?;
            continue;
        }
        match request.argument(bare) {
            Some(value) => statement.raw_bind_parameter(n, value)?,
            None if is_in_form => statement.raw_bind_parameter(n, "")?,
            None => return invalid(&format!("There is no value for the parameter {name}")),
        }
    }
    Ok(Ok(statement))
}

/// The names of the columns; several may have the same.
pub(super) fn columns(statement: &Statement<'_>) -> Vec<String> {
    let names = statement.column_names().into_iter();
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Settings;
    use crate::db::registry::test_database;
    use crate::engine::{Engine, EngineOptions, ExtrasMode};
    use crate::table::arguments::Format;
    use crate::text::query::{QueryString, encode};

    fn ask(sql: &str, arguments: &str) -> Result<QueryPage> {
        let (_folder, database) =
            test_database("create table t (a); insert into t values (1), (2)");
        let engine = Engine::new(&EngineOptions {
            threads: 1,
            mode: ExtrasMode::Auto,
            max_pages: 1,
            page_wait: Duration::from_secs(1),
        })
        .unwrap();
        let query = format!("{}&{arguments}", encode(std::iter::once(("sql", sql))));
        let settings = Settings {
            max_returned_rows: 3,
            ..Settings::default()
        };
        let request =
            QueryRequest::parse(&QueryString::parse(&query), Format::Json, &settings).unwrap();
        engine.run(|page| execute(page, &database, &request))
    }

    fn one(sql: &str, arguments: &str) -> Value {
        let page = ask(sql, arguments).unwrap();
        page.rows.iter().next().unwrap().value(0).owned()
    }

    fn message(sql: &str, arguments: &str) -> String {
        match ask(sql, arguments) {
            Err(Error::InvalidSql(message)) => message,
            Err(other) => panic!("{sql}: {other:?}"),
            Ok(_) => panic!("{sql} runs"),
        }
    }

    #[test]
    fn a_result_is_cut_at_the_limit_and_says_so() {
        let count = |sql: &str| {
            let page = ask(sql, "").unwrap();
            (page.rows.len(), page.truncated)
        };
        let rows = |n| {
            format!(
                "with recursive c(x) as (select 1 union all select x + 1 from c where x < {n}) select x from c"
            )
        };
        assert_eq!(count(&rows(2)), (2, false));
        assert_eq!(count(&rows(3)), (3, false));
        assert_eq!(count(&rows(4)), (3, true));
        assert_eq!(count("select 1 where 0"), (0, false));
    }

    #[test]
    fn parameters_are_texts_and_empty_without_a_value() {
        assert_eq!(one("select typeof(:a) || :a", "a=4"), Value::text("text4"));
        assert_eq!(
            one("select :a || ',' || :a || :b", "a=1&b=2"),
            Value::text("1,12")
        );
        assert_eq!(one("select :missing", ""), Value::text(""));
        assert_eq!(one("select @a || $a", "a=x"), Value::text("xx"));
        assert_eq!(one("select @a || $b", ""), Value::text(""));
        assert!(message("select ?1", "").contains("?1"));
        assert!(message("select ?", "").contains("names"));
        assert!(message("select :_header_host", "").contains(":_header_host"));
    }

    #[test]
    fn one_statement_may_end_with_semicolons_and_comments() {
        for sql in ["select 1;", "select 1 ;; ; -- end", "select 1; /* end */\n"] {
            assert_eq!(one(sql, ""), Value::Integer(1), "{sql}");
        }
        let many = format!("select 1{}", ";".repeat(100_000));
        assert_eq!(one(&many, ""), Value::Integer(1));
        for sql in ["select 1; select 2", "select 1; delete from t"] {
            assert!(message(sql, "").contains("one statement"), "{sql}");
        }
    }

    #[test]
    fn nothing_that_writes_is_run() {
        for sql in [
            "with x as (select 1) insert into t select * from x",
            "with x as (select 1) update t set a = 3",
            "with x as (select 1) delete from t returning a",
        ] {
            assert!(message(sql, "").contains("readonly"), "{sql}");
        }
    }

    #[test]
    fn wrong_sql_is_told_in_sqlite_s_words() {
        assert_eq!(message("select nope from t", ""), "no such column: nope");
        assert_eq!(message("select x from", ""), "incomplete input");
        assert!(message("select '1'::int", "").contains("unrecognized token"));
    }
}
