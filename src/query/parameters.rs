//! The `:name` parameters of SQL, found in its text: a form has to show them
//! even while the SQL does not compile.

/// Each name once, in the order of first use. What stands in strings, quoted
/// names and comments is none; a quote that is never closed quotes nothing.
pub fn named(sql: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let bytes = sql.as_bytes();
    let mut at = 0;
    // Looked for once: without this, unclosed brackets would cost quadratic time.
    let last_bracket = memchr::memrchr(b']', bytes);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at + 1..];
        let skip = match byte {
            b'-' if rest.first() == Some(&b'-') => memchr::memchr(b'\n', rest).or(Some(rest.len())),
            b'/' if rest.first() == Some(&b'*') => Some(comment_end(&rest[1..]) + 1),
            b'\'' | b'"' | b'`' => quoted_end(rest, byte),
            b'[' if last_bracket > Some(at) => memchr::memchr(b']', rest).map(|end| end + 1),
            b':' => {
                let name = word(&sql[at + 1..]);
                if !name.is_empty() && seen.insert(name) {
                    names.push(name);
                }
                Some(name.len())
            }
            _ => None,
        };
        at += 1 + skip.unwrap_or(0);
    }
    names
}

/// The length of a comment without its opening; it may go on to the end of the text.
fn comment_end(text: &[u8]) -> usize {
    memchr::memmem::find(text, b"*/").map_or(text.len(), |end| end + 2)
}

/// The length of a quoted text without its opening quote. A doubled quote does not close it.
fn quoted_end(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(quote, &text[at..])? + 1;
        if text.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_once_each_in_order() {
        assert_eq!(named("select :a, :b_2 || :a where x=:C"), ["a", "b_2", "C"]);
        assert_eq!(named("select :größe, :1"), ["größe", "1"]);
        assert_eq!(named("select 1 : 2"), [""; 0]);
        assert_eq!(named("select '1'::int"), ["int"]);
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
        for pattern in ["[", "'a", "'\"`", "/*", "--"] {
            let sql = pattern.repeat(50_000);
            assert_eq!(named(&sql), [""; 0], "{pattern}");
        }
    }
}
