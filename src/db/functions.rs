//! SQL functions that Turntable adds to every connection.

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use super::tally;

/// Registers them all.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function(
        "escape_fts",
        1,
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC,
        |context| {
            Ok(context
                .get::<Option<String>>(0)?
                .map(|text| escape_fts(&text)))
        },
    )?;
    tally::register(connection)
}

/// A search text as a query of FTS: each word and each phrase in double
/// quotes, so that no character of it is taken for FTS syntax. A missing
/// closing quote is added.
pub fn escape_fts(search: &str) -> String {
    let mut terms: Vec<String> = Vec::new();
    for (n, part) in search.split('"').enumerate() {
        if n % 2 == 1 {
            if !part.is_empty() {
                terms.push(format!("\"{part}\""));
            }
        } else {
            terms.extend(part.split_whitespace().map(|word| format!("\"{word}\"")));
        }
    }
    terms.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_phrases_are_quoted() {
        assert_eq!(escape_fts("well-known fox"), r#""well-known" "fox""#);
        assert_eq!(
            escape_fts(r#"say "red fox" AND"#),
            r#""say" "red fox" "AND""#
        );
        assert_eq!(escape_fts(r#"open "phrase"#), r#""open" "phrase""#);
        assert_eq!(escape_fts(r#""""#), "");
    }
}
