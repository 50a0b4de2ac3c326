//! What SQL may be sent: one query. The rules and their reach are Datasette's.
//!
//! They look at the text alone and are there for a clear message. That nothing
//! is written is seen to below, by connections that can only read and by asking
//! SQLite about the compiled statement.

use crate::error::{Error, Result};
use crate::text::is_space;

/// The pragmas that can be read as a function, `pragma_NAME()`.
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

/// [`Error::InvalidSql`] for anything but `SELECT`, `WITH` and `EXPLAIN` of
/// these, and for pragmas that are not on the list. Comments may come first.
pub fn select_only(sql: &str) -> Result<()> {
    if sql.contains('\0') {
        return Err(Error::InvalidSql("SQL can't hold a null character".into()));
    }
    let sql = without_comment_lines(sql).to_lowercase();
    if !is_query(after_comments(&sql)) {
        return Err(Error::InvalidSql("Statement must be a SELECT".into()));
    }
    if has_other_pragma(&sql) {
        let allowed: Vec<String> = PRAGMAS
            .iter()
            .map(|name| format!("pragma_{name}()"))
            .collect();
        return Err(Error::InvalidSql(format!(
            "Statement contained a disallowed PRAGMA. These functions may be used: {}",
            allowed.join(", ")
        )));
    }
    Ok(())
}

/// The text without lines that are nothing but a `--` comment.
fn without_comment_lines(sql: &str) -> String {
    let lines = sql.split('\n');
    let kept: Vec<&str> = lines
        .filter(|line| !line.trim_start_matches(is_space).starts_with("--"))
        .collect();
    kept.join("\n")
}

/// What follows the comments and the white space at the front. A comment
/// without an end has nothing after it.
fn after_comments(mut sql: &str) -> &str {
    loop {
        sql = sql.trim_start_matches(is_space);
        let end = if let Some(comment) = sql.strip_prefix("--") {
            comment.split_once('\n')
        } else if let Some(comment) = sql.strip_prefix("/*") {
            comment.split_once("*/")
        } else {
            return sql;
        };
        sql = end.map_or("", |(_, rest)| rest);
    }
}

fn is_query(sql: &str) -> bool {
    let sql = match word(sql, "explain") {
        None => sql,
        Some(rest) => {
            let rest = rest.trim_start_matches(is_space);
            word(rest, "query")
                .and_then(|rest| word(rest.trim_start_matches(is_space), "plan"))
                .map_or(rest, |rest| rest.trim_start_matches(is_space))
        }
    };
    word(sql, "select").or_else(|| word(sql, "with")).is_some()
}

/// What follows a word that `sql` begins with.
fn word<'s>(sql: &'s str, word: &str) -> Option<&'s str> {
    let rest = sql.strip_prefix(word)?;
    let goes_on = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (!goes_on).then_some(rest)
}

/// Whether `pragma` stands anywhere in the text, also inside a string, without
/// being the beginning of an allowed function.
fn has_other_pragma(sql: &str) -> bool {
    sql.match_indices("pragma").any(|(at, found)| {
        let function = sql[at + found.len()..].strip_prefix('_');
        !function.is_some_and(|name| PRAGMAS.iter().any(|allowed| name.starts_with(allowed)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(sql: &str) -> String {
        match select_only(sql) {
            Err(Error::InvalidSql(message)) => message,
            other => panic!("{sql}: {other:?}"),
        }
    }

    #[test]
    fn queries_pass() {
        for sql in [
            "select 1",
            "SELECT 1",
            "  select 1 ;",
            "select(1)",
            "select\n1",
            "with a as (select 1) select * from a",
            "explain select 1",
            "explain query plan select 1",
            "Explain  Query\tPlan\nwith a as (select 1) select * from a",
            "explain with a as (select 1) select * from a",
        ] {
            assert_eq!(select_only(sql), Ok(()), "{sql}");
        }
    }

    #[test]
    fn comments_may_come_first() {
        for sql in [
            "-- one\n-- two\nselect 1",
            "-- :x\nselect 1",
            "/* one */ /* two */\n-- three\nselect 1",
            "/* a\n-- b\n*/ select 1",
            "/**/select 1",
            "select 1 -- at the end",
        ] {
            assert_eq!(select_only(sql), Ok(()), "{sql}");
        }
        for sql in [
            "-- select 1",
            "/* select 1",
            "/* */ -- select 1",
            "--\n",
            "/*/ select 1",
        ] {
            assert_eq!(refusal(sql), "Statement must be a SELECT", "{sql}");
        }
    }

    #[test]
    fn what_is_no_query_is_refused() {
        for sql in [
            "",
            " ",
            ";",
            "; select 1",
            "selection",
            "select_1",
            "withdraw",
            "explain",
            "explain delete from t",
            "explain query plan update t set a = 1",
            "explain query select 1",
            "insert into t values (1)",
            "update t set a = 1",
            "delete from t",
            "drop table t",
            "create table t (a)",
            "attach database 'x' as x",
            "detach x",
            "vacuum into 'x'",
            "pragma table_info(t)",
            "pragma journal_mode = wal",
            "begin",
            "values (1)",
            "replace into t values (1)",
            "/* select */ delete from t",
            "-- select\ndelete from t",
            "\u{feff}select 1",
        ] {
            assert_eq!(refusal(sql), "Statement must be a SELECT", "{sql}");
        }
    }

    #[test]
    fn pragmas_are_read_by_function_and_only_those_on_the_list() {
        for sql in [
            "select * from pragma_table_info('t')",
            "select * from PRAGMA_TABLE_XINFO('t')",
            "select * from pragma_database_list, pragma_function_list()",
        ] {
            assert_eq!(select_only(sql), Ok(()), "{sql}");
        }
        for sql in [
            "select * from pragma_journal_mode('delete')",
            "select * from \"pragma_journal_mode\"",
            "select 1; pragma journal_mode",
            "select * from pragma_table_info('t'), pragma_user_version",
            "select 'pragma'",
            "select 1 /* pragma */",
        ] {
            assert!(refusal(sql).contains("pragma_table_info()"), "{sql}");
        }
    }

    #[test]
    fn a_null_character_would_hide_what_follows() {
        assert!(refusal("select 1\0; delete from t").contains("null"));
    }
}
