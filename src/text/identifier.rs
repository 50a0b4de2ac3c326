//! Names of tables and columns in SQL.

use std::borrow::Cow;

/// The name as SQL, as Datasette's `escape_sqlite` writes it: bare if it is an ASCII word and no keyword, else in double quotes.
///
/// Two keywords that Datasette leaves bare, `nothing` and `returning`, are quoted: SQLite refuses them as names.
pub fn escape(name: &str) -> Cow<'_, str> {
    if is_word(name) && !is_keyword(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(quote(name))
    }
}

/// The name in double quotes, with those inside it doubled.
pub fn quote(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push('"');
    for (i, part) in name.split('"').enumerate() {
        if i > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
    out
}

fn is_word(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_keyword(name: &str) -> bool {
    KEYWORDS
        .binary_search_by(|keyword| {
            keyword
                .bytes()
                .cmp(name.bytes().map(|byte| byte.to_ascii_lowercase()))
        })
        .is_ok()
}

/// SQLite's keywords, without those that it takes for names wherever a name may stand (`first`, `over`, `rows`). In order.
#[rustfmt::skip]
const KEYWORDS: [&str; 126] = [
    "abort", "action", "add", "after", "all", "alter", "analyze", "and", "as", "asc", "attach", "autoincrement",
    "before", "begin", "between", "by", "cascade", "case", "cast", "check", "collate", "column", "commit", "conflict",
    "constraint", "create", "cross", "current_date", "current_time", "current_timestamp", "database", "default",
    "deferrable", "deferred", "delete", "desc", "detach", "distinct", "drop", "each", "else", "end", "escape", "except",
    "exclusive", "exists", "explain", "fail", "for", "foreign", "from", "full", "glob", "group", "having", "if",
    "ignore", "immediate", "in", "index", "indexed", "initially", "inner", "insert", "instead", "intersect", "into",
    "is", "isnull", "join", "key", "left", "like", "limit", "match", "natural", "no", "not", "nothing", "notnull",
    "null", "of", "offset", "on", "or", "order", "outer", "plan", "pragma", "primary", "query", "raise", "recursive",
    "references", "regexp", "reindex", "release", "rename", "replace", "restrict", "returning", "right", "rollback",
    "row", "savepoint", "select", "set", "table", "temp", "temporary", "then", "to", "transaction", "trigger", "union",
    "unique", "update", "using", "vacuum", "values", "view", "virtual", "when", "where", "with", "without",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::Connection;

    #[test]
    fn words_are_bare_and_all_else_is_quoted() {
        for (name, expected) in [
            ("name", "name"),
            ("_Name_9", "_Name_9"),
            ("9name", "\"9name\""),
            ("", "\"\""),
            ("with space", "\"with space\""),
            ("ünï", "\"ünï\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("line\n", "\"line\n\""),
            ("select", "\"select\""),
            ("Group", "\"Group\""),
            ("first", "first"),
            ("rowid", "rowid"),
        ] {
            assert_eq!(escape(name), expected);
        }
        assert_eq!(quote("name"), "\"name\"");
    }

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    /// Makes a table and a column of that name and reads them back.
    fn is_accepted(name: &str) -> rusqlite::Result<()> {
        let conn = Connection::open_in_memory()?;
        let (escaped, quoted) = (escape(name), quote(name));
        conn.execute_batch(&format!("create table {quoted} ({quoted} text, n)"))?;
        conn.execute_batch(&format!(
            "insert into {escaped} ({escaped}) values ('x');
             select {escaped}, count(*) as n from {escaped} where {escaped} is not null and {escaped}.{escaped} > 1
             group by {escaped} order by n desc, {escaped} limit 1;
             update {escaped} set {escaped} = 'y' where {escaped} = 'x'"
        ))?;
        let value: String =
            conn.query_one(&format!("select {escaped} from {escaped}"), [], |row| {
                row.get(0)
            })?;
        assert_eq!(value, "y");
        Ok(())
    }

    #[test]
    fn sqlite_takes_every_keyword_as_a_name() {
        let bare = "always current do exclude false filter first following generated groups last materialized nulls others over \
                    partition preceding range rowid rows ties true unbounded window within";
        for name in KEYWORDS.into_iter().chain(bare.split_whitespace()) {
            is_accepted(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn sqlite_takes_any_name(name in "[^\0]{0,12}") {
            prop_assume!(!name.eq_ignore_ascii_case("n") && !name.to_ascii_lowercase().starts_with("sqlite_"));
            prop_assert!(is_accepted(&name).is_ok(), "{:?}", is_accepted(&name));
        }
    }
}
