//! What a search of a database found.

use std::sync::Arc;

use crate::db::Value;
use crate::db::schema::Table;

/// Characters of a snippet that are shown, and of a label.
const LONGEST: usize = 300;
/// Begins and ends what was found in a snippet: characters that texts do not have.
pub const MARKS: (char, char) = ('\u{1}', '\u{2}');

/// The tables of a database with what was found in them.
pub struct SearchPage {
    /// Those that were asked, with the most found first.
    pub tables: Vec<SearchedTable>,
    /// Tables that could have been asked too, and were too many.
    pub not_asked: Vec<String>,
    /// Whether the page stays the same as long as the database does.
    pub lasts: bool,
}

/// A table that was searched.
pub struct SearchedTable {
    /// The table.
    pub table: Arc<Table>,
    /// The table or index whose page shows all that was found.
    pub all_at: String,
    /// The columns of its key; none if its rows have no pages.
    pub key_columns: Vec<String>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of searching a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was searched.
    Found {
        /// The first rows, the best of them first where the index can tell.
        hits: Vec<Hit>,
        /// Rows in all, at most one more than [`super::plan::CAP`]; `None` if time ran out.
        count: Option<i64>,
    },
    /// Time ran out.
    TooSlow,
    /// SQLite did not understand what was looked for, or the index is not as it should be.
    Failed(String),
}

impl Outcome {
    /// No row.
    pub fn nothing() -> Self {
        Self::Found {
            hits: Vec::new(),
            count: Some(0),
        }
    }

    /// Rows that were found, as far as that is known.
    pub fn count(&self) -> i64 {
        match self {
            Self::Found { hits, count } => {
                count.unwrap_or(i64::try_from(hits.len()).unwrap_or(i64::MAX))
            }
            _ => 0,
        }
    }
}

/// A row that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The values of its key.
    pub key: Vec<Value>,
    /// Its label.
    pub label: Option<String>,
    /// The text around what was found.
    pub snippet: Vec<Piece>,
}

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether it is what was looked for.
    pub is_match: bool,
}

/// The first characters of a text, with a sign if there were more.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A snippet with [`MARKS`] in it, taken apart.
pub fn pieces(snippet: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut is_match = false;
    let snippet = shortened(snippet);
    for text in snippet.split_inclusive([MARKS.0, MARKS.1]) {
        let next = match text.chars().next_back() {
            Some(mark) if mark == MARKS.0 => true,
            Some(mark) if mark == MARKS.1 => false,
            _ => is_match,
        };
        let text = text.trim_end_matches([MARKS.0, MARKS.1]);
        if !text.is_empty() {
            pieces.push(Piece {
                text: text.to_owned(),
                is_match,
            });
        }
        is_match = next;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_taken_apart_at_its_marks() {
        let texts = |snippet| -> Vec<(String, bool)> {
            let pieces = pieces(snippet).into_iter();
            pieces.map(|piece| (piece.text, piece.is_match)).collect()
        };
        let piece = |text: &str, is_match| (text.to_owned(), is_match);
        assert_eq!(
            texts("a \u{1}fox\u{2} ran\u{1}!"),
            [
                piece("a ", false),
                piece("fox", true),
                piece(" ran", false),
                piece("!", true)
            ]
        );
        assert_eq!(texts("none"), [piece("none", false)]);
        assert_eq!(texts(""), []);
    }

    #[test]
    fn what_is_long_is_cut_between_characters() {
        let text = "é".repeat(LONGEST + 1);
        assert_eq!(shortened(&text).chars().count(), LONGEST + 1);
        assert!(shortened(&text).ends_with('…'));
        assert_eq!(shortened("short"), "short");
    }
}
