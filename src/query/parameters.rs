//! The named parameters of SQL, found in its text: a form has to show them
//! even while the SQL does not compile.

use std::collections::HashSet;

use super::tokens::{Token, tokens};

/// The name of each `:name`, `$name` and `@name` once, in the order of first use. What
/// stands in strings, quoted names and comments is none.
pub fn named(sql: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    tokens(sql)
        .filter_map(|(token, _)| match token {
            Token::Parameter(name) => Some(name),
            _ => None,
        })
        .filter(|name| seen.insert(*name))
        .collect()
}

/// Whether a form shows it: names that begin with an underscore are not for visitors to fill in.
pub fn is_for_visitors(name: &str) -> bool {
    !name.starts_with('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_once_each_in_order() {
        assert_eq!(named("select :a, :b_2 || :a where x=:C"), ["a", "b_2", "C"]);
        assert_eq!(named("select $a, @b, :a, :c"), ["a", "b", "c"]);
        assert_eq!(named("select :größe, :1"), ["größe", "1"]);
        assert_eq!(named("select 1 : 2, $, @"), [""; 0]);
        assert_eq!(named("select a$b, t.c@x, ?1, ?"), ["x"]);
    }

    #[test]
    fn a_cast_as_in_postgresql_is_none() {
        assert_eq!(named("select '1'::int"), [""; 0]);
        assert_eq!(named("select x::text, :y"), ["y"]);
        assert_eq!(named("select $a::b"), ["a::b"], "a name as in Tcl");
    }

    #[test]
    fn strings_names_and_comments_hold_none() {
        for sql in [
            "select '03:31'",
            "select 'it''s :a'",
            "select \"a:b\", `c:d`, [e:f]",
            "select 1 -- :nope",
            "select 1 -- :nope\n, 2 /* :nada */ as b",
            "select 1 /* :open",
        ] {
            assert_eq!(named(sql), [""; 0], "{sql}");
        }
        assert_eq!(named("select '--' || :name"), ["name"]);
        assert_eq!(named("select '/*' || :name || '*/'"), ["name"]);
        assert_eq!(named("-- it's\nselect :name, 'x'"), ["name"]);
        assert_eq!(named("select 1 -- :x\n+ :y"), ["y"]);
    }

    #[test]
    fn an_open_quote_quotes_nothing() {
        assert_eq!(named("select ' :a"), ["a"]);
        assert_eq!(named("select [ :a"), ["a"]);
        assert_eq!(named("select '''' || :a"), ["a"]);
    }

    #[test]
    fn many_open_quotes_take_no_longer_than_their_number() {
        for pattern in ["[", "'a", "'\"`", "/*", "--", "'''"] {
            let sql = pattern.repeat(50_000);
            assert_eq!(named(&sql), [""; 0], "{pattern}");
        }
    }
}
