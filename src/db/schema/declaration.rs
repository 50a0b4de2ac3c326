//! The declaration of a virtual table: its module and the module's arguments.
//!
//! SQLite keeps the statement as it was typed, and modules read their arguments out of that text, so this reads them the same way.

/// `CREATE VIRTUAL TABLE … USING module (arguments)`, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declaration {
    /// The module's name in lower case.
    pub module: String,
    /// The arguments as they were typed, without comments and outer white space.
    arguments: Vec<String>,
}

impl Declaration {
    /// Reads a statement; `None` if it does not make a virtual table.
    pub fn parse(sql: &str) -> Option<Self> {
        let mut tokens = Tokens { rest: sql };
        tokens.expect("create")?;
        tokens.expect("virtual")?;
        tokens.expect("table")?;
        tokens.skip_if_not_exists();
        tokens.solid()?;
        let mut token = tokens.solid()?;
        if token == "." {
            tokens.solid()?;
            token = tokens.solid()?;
        }
        if !token.eq_ignore_ascii_case("using") {
            return None;
        }
        Some(Self {
            module: unquote(tokens.solid()?).to_ascii_lowercase(),
            arguments: arguments(&mut tokens),
        })
    }

    /// The name in the argument `key="name"` or `key=[name]`. Other quotes, and
    /// none, do not count: Datasette sees a full-text table by these two forms,
    /// and a page must not be searchable here and not there.
    pub fn named(&self, key: &str) -> Option<String> {
        self.value(key)
            .filter(|value| value.starts_with(['"', '[']))
            .map(unquote)
    }

    /// The value of the argument `key=value` as SQLite reads it, through any quotes or none.
    pub fn option(&self, key: &str) -> Option<String> {
        self.value(key).map(unquote)
    }

    /// The arguments without their quotes.
    pub fn names(&self) -> Vec<String> {
        self.arguments.iter().map(|name| unquote(name)).collect()
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.arguments
            .iter()
            .filter_map(|argument| argument.split_once('='))
            .find(|(k, _)| k.trim().eq_ignore_ascii_case(key))
            .map(|(_, value)| value.trim())
    }
}

/// Splits what is in the parentheses at the commas that are in no quotes and no inner parentheses.
fn arguments(tokens: &mut Tokens<'_>) -> Vec<String> {
    if tokens.solid() != Some("(") {
        return Vec::new();
    }
    let mut arguments = Vec::new();
    let mut argument = String::new();
    let mut depth = 0_u32;
    for token in tokens {
        match token {
            ")" if depth == 0 => break,
            "," if depth == 0 => {
                arguments.push(argument.trim().to_owned());
                argument.clear();
                continue;
            }
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        // A comment stands for white space.
        let comment = token.starts_with("--") || token.starts_with("/*");
        argument.push_str(if comment { " " } else { token });
    }
    arguments.push(argument.trim().to_owned());
    arguments
}

/// A name or value without its quotes, of any of the four kinds that SQLite knows.
fn unquote(text: &str) -> String {
    let close = match text.chars().next() {
        Some('[') => ']',
        Some(quote @ ('"' | '\'' | '`')) => quote,
        _ => return text.to_owned(),
    };
    let Some(inner) = text[1..].strip_suffix(close) else {
        return text.to_owned();
    };
    if close == ']' {
        inner.to_owned()
    } else {
        inner.replace(&format!("{close}{close}"), &close.to_string())
    }
}

/// The pieces of SQL text: words, quoted texts with their quotes, comments, runs of white space, and single other characters.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    /// The next token that is neither white space nor a comment.
    fn solid(&mut self) -> Option<&'a str> {
        self.find(|token| {
            !token.starts_with(|c: char| c.is_ascii_whitespace())
                && !token.starts_with("--")
                && !token.starts_with("/*")
        })
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        self.solid()?.eq_ignore_ascii_case(word).then_some(())
    }

    fn skip_if_not_exists(&mut self) {
        let before = self.rest;
        if ["if", "not", "exists"]
            .into_iter()
            .any(|word| self.expect(word).is_none())
        {
            self.rest = before;
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest;
        let first = text.chars().next()?;
        let run = |belongs: fn(char) -> bool| text.find(|c| !belongs(c)).unwrap_or(text.len());
        let end = match first {
            '"' | '\'' | '`' | '[' => quoted_length(text, first),
            '-' if text.starts_with("--") => text.find('\n').unwrap_or(text.len()),
            '/' if text.starts_with("/*") => text[2..].find("*/").map_or(text.len(), |at| at + 4),
            _ if first.is_ascii_whitespace() => run(|c| c.is_ascii_whitespace()),
            _ if is_word(first) => run(is_word),
            _ => first.len_utf8(),
        };
        let (token, rest) = text.split_at(end);
        self.rest = rest;
        Some(token)
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$') || !character.is_ascii()
}

/// The length of the quoted text that `text` begins with, quotes included; a doubled quote does not end it, except for brackets.
fn quoted_length(text: &str, open: char) -> usize {
    let close = if open == '[' { ']' } else { open };
    let mut at = 1;
    while let Some(found) = text[at..].find(close) {
        at += found + 1;
        if close == ']' || !text[at..].starts_with(close) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn content(sql: &str) -> Option<String> {
        Declaration::parse(sql)?.named("content")
    }

    #[test]
    fn a_declaration_is_found_however_it_is_typed() {
        for sql in [
            "CREATE VIRTUAL TABLE f USING fts5(a)",
            "create virtual table if not exists \"a \"\"using\"\" b\".[f]\n using FTS5 (a)",
            "CREATE VIRTUAL TABLE /* one */ f -- two\n USING \"fts5\"(a, b)",
            "CREATE VIRTUAL TABLE if USING fts5(a)",
            "CREATE VIRTUAL TABLE ünï USING`fts5`(a)",
            "CREATE VIRTUAL TABLE f USING fts5",
        ] {
            assert_eq!(
                Declaration::parse(sql).map(|d| d.module).as_deref(),
                Some("fts5"),
                "{sql}"
            );
        }
        for sql in [
            "CREATE TABLE f (a)",
            "CREATE VIEW f AS SELECT 'CREATE VIRTUAL TABLE f USING fts5(a)'",
            "CREATE VIRTUAL TABLE f",
            "",
        ] {
            assert_eq!(Declaration::parse(sql), None, "{sql}");
        }
    }

    #[test]
    fn names_are_read_through_their_quotes() {
        for (argument, expected) in [
            ("content=\"t\"", "t"),
            ("content=[t]", "t"),
            ("CONTENT = [t]", "t"),
            ("content=\"say \"\"hi\"\"\"", "say \"hi\""),
            ("content=\"a,b)\"", "a,b)"),
            ("content=/* which */ [t] -- end\n", "t"),
        ] {
            let sql = format!("CREATE VIRTUAL TABLE f USING fts5(a, (b, c), {argument}, d)");
            assert_eq!(content(&sql).as_deref(), Some(expected), "{argument}");
        }
    }

    #[test]
    fn other_arguments_are_no_option() {
        assert_eq!(
            content("CREATE VIRTUAL TABLE f USING fts5(content, 'content=t', content_rowid='id')"),
            None
        );
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(rest in "[-a/*.,()\\[\\]'\"`é \n]{0,30}") {
            Declaration::parse(&format!("create virtual table {rest}"));
            Declaration::parse(&format!("create virtual table t using m({rest}"));
            let tokens: String = Tokens { rest: &rest }.collect();
            prop_assert_eq!(tokens, rest);
        }

        #[test]
        fn a_quoted_name_comes_back(name: String) {
            let sql = format!("create virtual table f using fts5(a, content={})", crate::text::identifier::quote(&name));
            prop_assert_eq!(content(&sql), Some(name));
        }
    }
}
