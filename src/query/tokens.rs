//! SQL cut into tokens, by SQLite's rules: <https://www.sqlite.org/lang_expr.html>,
//! <https://www.sqlite.org/c3ref/bind_blob.html>. The text may be unfinished, since a form
//! shows the parameters of SQL that is still being written.

/// A piece of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'s> {
    /// White space or a comment.
    Space,
    /// A keyword, or a name without quotes.
    Word(&'s str),
    /// A parameter with a name: without the `:`, `$` or `@` at its front.
    Parameter(&'s str),
    /// `;`
    Semicolon,
    /// A string, a name in quotes, a number, an operator.
    Other,
}

/// The tokens of a text, each with the place where it ends.
pub struct Tokens<'s> {
    sql: &'s str,
    at: usize,
    /// Looked for once: without this, unclosed brackets would cost quadratic time.
    last_bracket: Option<usize>,
    /// Where each kind of quote was opened and never closed, for the same reason.
    unclosed: [Option<usize>; 3],
}

/// Cuts `sql` into tokens.
pub fn tokens(sql: &str) -> Tokens<'_> {
    Tokens {
        sql,
        at: 0,
        last_bracket: memchr::memrchr(b']', sql.as_bytes()),
        unclosed: [None; 3],
    }
}

/// The tokens that mean something.
pub fn significant(sql: &str) -> impl Iterator<Item = Token<'_>> {
    tokens(sql)
        .map(|(token, _)| token)
        .filter(|token| *token != Token::Space)
}

/// The first statement without the `;` after it and without comments at its end.
pub fn statement(sql: &str) -> &str {
    let mut end = 0;
    for (token, at) in tokens(sql) {
        match token {
            Token::Semicolon => break,
            Token::Space => {}
            _ => end = at,
        }
    }
    &sql[..end]
}

impl<'s> Iterator for Tokens<'s> {
    type Item = (Token<'s>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.sql.as_bytes();
        let start = self.at;
        let first = *bytes.get(start)?;
        let rest = &bytes[start + 1..];
        let (token, length) = match first {
            b'-' if rest.first() == Some(&b'-') => {
                let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                (Token::Space, end + 1)
            }
            b'/' if rest.first() == Some(&b'*') => (Token::Space, comment_end(&rest[1..]) + 2),
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => (Token::Space, 1),
            b';' => (Token::Semicolon, 1),
            b'\'' | b'"' | b'`' => (Token::Other, 1 + self.quoted_end(start, first)),
            b'[' if self.last_bracket > Some(start) => {
                let end = memchr::memchr(b']', rest).map_or(0, |end| end + 1);
                (Token::Other, 1 + end)
            }
            // A cast as in PostgreSQL, which SQLite refuses: what follows is a type.
            b':' if rest.first() == Some(&b':') => (Token::Other, 2 + word_length(&rest[1..])),
            b':' | b'$' | b'@' => match parameter_length(rest) {
                0 => (Token::Other, 1),
                length => (
                    Token::Parameter(&self.sql[start + 1..=start + length]),
                    1 + length,
                ),
            },
            b'0'..=b'9' => (Token::Other, 1 + word_length(rest)),
            first if is_word(first) => {
                let length = 1 + word_length(rest);
                (Token::Word(&self.sql[start..start + length]), length)
            }
            _ => (Token::Other, 1),
        };
        self.at = start + length;
        Some((token, self.at))
    }
}

impl Tokens<'_> {
    /// The length of a quoted text without its opening quote. A doubled quote does not
    /// close it; a quote that nothing closes quotes nothing.
    fn quoted_end(&mut self, start: usize, quote: u8) -> usize {
        let kind = match quote {
            b'\'' => 0,
            b'"' => 1,
            _ => 2,
        };
        if self.unclosed[kind].is_some_and(|from| start >= from) {
            return 0;
        }
        let text = &self.sql.as_bytes()[start + 1..];
        let mut at = 0;
        loop {
            match memchr::memchr(quote, &text[at..]) {
                None => {
                    // Those that follow stand in pairs, and quote nothing either.
                    self.unclosed[kind] = Some(start);
                    return 0;
                }
                Some(found) => at += found + 1,
            }
            if text.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
    }
}

/// The length of a comment without its opening; it may go on to the end of the text.
fn comment_end(text: &[u8]) -> usize {
    memchr::memmem::find(text, b"*/").map_or(text.len(), |end| end + 2)
}

/// What SQLite takes for a part of a name.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn word_length(text: &[u8]) -> usize {
    let end = text.iter().position(|&byte| !is_word(byte));
    end.unwrap_or(text.len())
}

/// The length of a parameter's name. As in Tcl it may have `::` in it.
fn parameter_length(text: &[u8]) -> usize {
    let mut length = word_length(text);
    while length > 0 && text[length..].starts_with(b"::") {
        length += 2 + word_length(&text[length + 2..]);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_ends_before_its_semicolon_and_its_last_comment() {
        for (sql, expected) in [
            ("select 1", "select 1"),
            ("select 1 ;; -- end", "select 1"),
            ("select 1 /* open", "select 1"),
            ("select ';' -- a\n, 2;", "select ';' -- a\n, 2"),
            ("select [;], \"a;\"", "select [;], \"a;\""),
            ("-- nothing", ""),
            (";", ""),
        ] {
            assert_eq!(statement(sql), expected, "{sql}");
        }
    }

    #[test]
    fn the_tokens_of_a_text_cover_it() {
        for sql in [
            "select 'é' || :größe, $a::b, @c -- x",
            "' [ \" ` : $ @ :: / - -- /*",
            "1e5 + .5 <> x'00' ?1",
        ] {
            let mut last = 0;
            for (_, end) in tokens(sql) {
                assert!(end > last && sql.is_char_boundary(end), "{sql} {end}");
                last = end;
            }
            assert_eq!(last, sql.len(), "{sql}");
        }
    }

    #[test]
    fn keywords_are_words() {
        let words: Vec<_> = significant("/* a */ Explain\nselect(1)").collect();
        assert_eq!(words[..2], [Token::Word("Explain"), Token::Word("select")]);
    }
}
