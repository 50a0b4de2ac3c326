//! What SQL may be sent: one query. This looks at the first words alone, which say what
//! kind of statement it is, and is there for a clear message. What it does is
//! seen to by SQLite: [`super::fence`].

use super::tokens::{Token, significant};
use crate::error::{Error, Result};

/// [`Error::InvalidSql`] for anything but `SELECT`, `WITH` and `EXPLAIN` of
/// these. Comments may come first.
pub fn select_only(sql: &str) -> Result<()> {
    no_null_character(sql)?;
    let mut words = significant(sql).map(|token| match token {
        Token::Word(word) => word.to_ascii_lowercase(),
        _ => String::new(),
    });
    let mut next = || words.next().unwrap_or_default();
    let mut first = next();
    if first == "explain" {
        first = next();
        if first == "query" {
            first = if next() == "plan" { next() } else { first };
        }
    }
    if matches!(first.as_str(), "select" | "with") {
        return Ok(());
    }
    Err(Error::InvalidSql("Statement must be a SELECT".into()))
}

/// SQLite takes a null character for the end.
pub fn no_null_character(sql: &str) -> Result<()> {
    if sql.contains('\0') {
        return Err(Error::InvalidSql("SQL can't hold a null character".into()));
    }
    Ok(())
}

/// Whether the SQL asks how it would be run rather than for its rows.
pub fn explains(sql: &str) -> bool {
    matches!(significant(sql).next(), Some(Token::Word(word)) if word.eq_ignore_ascii_case("explain"))
}

/// Whether it asks for the plan as a tree.
pub fn explains_plan(sql: &str) -> bool {
    let is = |token: Option<Token<'_>>, expected: &str| matches!(token, Some(Token::Word(word)) if word.eq_ignore_ascii_case(expected));
    let mut tokens = significant(sql);
    is(tokens.next(), "explain") && is(tokens.next(), "query")
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
            "select'pragma'",
            "with a as (select 1) select * from a",
            "explain select 1",
            "explain query plan select 1",
            "Explain  Query\tPlan\nwith a as (select 1) select * from a",
            "explain /* why */ with a as (select 1) select * from a",
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
            "explain explain select 1",
            "'select'",
            "insert into t values (1)",
            "delete from t",
            "create table t (a)",
            "attach database 'x' as x",
            "vacuum into 'x'",
            "pragma table_info(t)",
            "begin",
            "values (1)",
            "/* select */ delete from t",
            "-- select\ndelete from t",
            "\u{feff}select 1",
        ] {
            assert_eq!(refusal(sql), "Statement must be a SELECT", "{sql}");
        }
    }

    #[test]
    fn a_null_character_would_hide_what_follows() {
        assert!(refusal("select 1\0; delete from t").contains("null"));
    }

    #[test]
    fn a_plan_is_told_from_other_explanations() {
        assert!(explains("-- x\nEXPLAIN select 1") && !explains_plan("explain select 1"));
        assert!(explains_plan("explain query plan select 1"));
        assert!(!explains("select 'explain'"));
    }
}
