//! Whether SQL gives the same rows as long as the database stays the same.
//!
//! Not so for chance, for the time of day, and for tables that show what a
//! connection is doing. What is not sure counts as unsteady: such a page is only
//! made anew each time. <https://www.sqlite.org/lang_datefunc.html>

/// Words that make SQL unsteady wherever they stand.
const WORDS: [&str; 12] = [
    "random",
    "randomblob",
    "current_date",
    "current_time",
    "current_timestamp",
    "changes",
    "total_changes",
    "last_insert_rowid",
    "dbstat",
    "sqlite_dbpage",
    "sqlite_stmt",
    "bytecode",
];
/// Functions of a moment, which is now if it is not given.
const OF_A_MOMENT: [&str; 5] = ["date", "time", "datetime", "julianday", "unixepoch"];
/// Texts that stand for this moment in the arguments of those.
const NOW: [&str; 2] = ["now", "subsec"];

/// Whether the result of `sql` depends on nothing but the content of the
/// database. Comments and texts count as if they were SQL.
pub fn is_steady(sql: &str) -> bool {
    let lower = sql.to_ascii_lowercase();
    if NOW.iter().any(|text| lower.contains(text)) {
        return false;
    }
    words(&lower).all(|(word, rest)| {
        let is_of_now = match word {
            "strftime" => has_one_argument(rest),
            _ => OF_A_MOMENT.contains(&word) && has_no_argument(rest),
        };
        !is_of_now && !WORDS.contains(&word) && !word.starts_with("pragma_")
    })
}

/// The words of SQL, each with what follows it.
fn words(sql: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = sql;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| !is_word(c));
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some((word, after))
    })
}

/// Whether `rest` goes on with `()`. A comment between hides an argument from us, or its lack.
fn has_no_argument(rest: &str) -> bool {
    rest.trim_start()
        .trim_start_matches(['"', '`', ']'])
        .trim_start()
        .strip_prefix('(')
        .is_some_and(|inside| inside.trim_start().starts_with([')', '/', '-']))
}

/// Whether there may be only the format.
fn has_one_argument(rest: &str) -> bool {
    rest.find(')').is_none_or(|end| !rest[..end].contains(','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_of_columns_is_steady() {
        for sql in [
            "",
            "state = 'CA' and n > 5",
            "create view v as select date, time from t where date > '2020-01-01'",
            "select date(created), strftime('%Y', created), count(*) from t group by 1",
            "select unixepoch(created) from t",
        ] {
            assert!(is_steady(sql), "{sql}");
        }
    }

    #[test]
    fn chance_and_the_time_of_day_are_not() {
        for sql in [
            "id > random()",
            "x = RANDOM ( )",
            "created < date('now', '-1 day')",
            "created < datetime()",
            "created < \"datetime\"( )",
            "created < date(/* today */)",
            "y = strftime('%Y')",
            "d = CURRENT_DATE",
            "select * from pragma_table_info('t')",
            "select unixepoch('subsec')",
        ] {
            assert!(!is_steady(sql), "{sql}");
        }
    }
}
