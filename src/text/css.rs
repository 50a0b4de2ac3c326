//! Class names for tables and columns, so that a site's own style sheet can address them.

use std::fmt::Write as _;

use md5::{Digest, Md5};

use super::is_space;

/// The CSS class of a table or column name, as Datasette's `to_css_class` makes it.
///
/// A name of letters, digits, `-` and `_` that begins with a letter is its own class. Any other is stripped to such a name and gets the
/// first six digits of its MD5 sum, so that two names that strip to the same stay apart.
pub fn class(name: &str) -> String {
    if is_class(name) {
        return name.to_owned();
    }
    let stripped = name.trim_start_matches('_').trim_start_matches('-');
    let words: Vec<&str> = stripped
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    let mut out = words.join("-");
    out.retain(is_class_character);
    if !out.is_empty() {
        out.push('-');
    }
    for byte in &Md5::digest(name.as_bytes())[..3] {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn is_class(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_class_character)
}

fn is_class_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simple_name_is_its_own_class() {
        assert_eq!(class("simple"), "simple");
        assert_eq!(class("My-Table_9"), "My-Table_9");
    }

    #[test]
    fn other_names_are_stripped_and_told_apart_by_a_sum() {
        for (name, expected) in [
            ("_x", "x-d93f2a"),
            ("-x", "x-d25c18"),
            ("_-x", "x-5b9db0"),
            ("-_x", "_x-31d085"),
            ("9x", "9x-41d60d"),
            ("with space", "with-space-37fdaf"),
            ("a  b\t c", "a-b-c-aaa9e9"),
            (" lead", "lead-44b6c2"),
            ("ünï", "n-3241a6"),
            ("a.b/c", "abc-d8c60f"),
            ("\u{1c}x\u{1d}y", "x-y-78a16b"),
            ("é é a", "--a-f0b8db"),
            ("a é b", "a--b-e93928"),
        ] {
            assert_eq!(class(name), expected);
        }
    }

    #[test]
    fn a_name_of_which_nothing_is_left_is_its_sum() {
        assert_eq!(class("日本"), "4dbed2");
        assert_eq!(class(""), "d41d8c");
    }

    #[test]
    fn a_line_break_is_no_part_of_a_class() {
        assert!(class("simple\n").starts_with("simple-"));
    }
}
