//! From the address and the query string of a row page to a [`RowRequest`]:
//! typed and bounded, without a look at the database.

use std::collections::BTreeSet;

use crate::config::Settings;
use crate::error::Result;
use crate::table::arguments::{
    Format, Shape, given, parse_bool, parse_extras, parse_shape, parse_ttl,
};
use crate::table::extras::{Extra, Scope};
use crate::text::query::QueryString;
use crate::text::tilde;

/// What a client asks of a row, checked as far as the address alone allows.
#[derive(Debug, Clone)]
pub struct RowRequest {
    /// The key as it was sent: `~` encoded values with commas between.
    pub path: String,
    /// The values of the key, as the bytes that were encoded.
    pub key: Vec<Vec<u8>>,
    /// `_shape`
    pub shape: Shape,
    /// `_nl`: one JSON object a line.
    pub newline_delimited: bool,
    /// `_json`: columns whose text is shown as the JSON that it holds.
    pub json_columns: Vec<String>,
    /// `_json_infinity`: write infinities as `Infinity`, which is not JSON.
    pub json_infinity: bool,
    /// `_extra`
    pub extras: BTreeSet<Extra>,
    /// `_ttl`: seconds that caches may keep the answer.
    pub ttl: u64,
}

impl RowRequest {
    /// Reads the key and the query string. [`crate::error::Error::BadRequest`] says what is wrong.
    pub fn parse(
        path: &str,
        query: &QueryString,
        format: Format,
        settings: &Settings,
    ) -> Result<Self> {
        let shape = parse_shape(query, format)?;
        Ok(Self {
            path: path.to_owned(),
            key: path.split(',').map(tilde::decode_bytes).collect(),
            shape,
            newline_delimited: given(query, "_nl") && shape == Shape::Array,
            json_columns: query.get_all("_json").map(str::to_owned).collect(),
            json_infinity: parse_bool(query, "_json_infinity")?.unwrap_or(false),
            extras: parse_extras(query, format, Scope::Row)?,
            ttl: parse_ttl(query, settings),
        })
    }

    /// The values of the key for people and for JSON.
    pub fn key_texts(&self) -> Vec<String> {
        let parts = self.key.iter();
        parts
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> Vec<String> {
        let query = QueryString::parse("");
        RowRequest::parse(path, &query, Format::Json, &Settings::default())
            .unwrap()
            .key_texts()
    }

    #[test]
    fn a_key_is_split_at_commas_before_it_is_decoded() {
        assert_eq!(key("1"), ["1"]);
        assert_eq!(key("a~2Cb,c+d"), ["a,b", "c d"]);
        assert_eq!(key(",~C3~A9"), ["", "é"]);
        assert_eq!(key("c,,3"), ["c", "", "3"]);
    }

    #[test]
    fn extras_of_tables_are_unknown_here() {
        let parse = |query: &str| {
            let query = QueryString::parse(query);
            RowRequest::parse("1", &query, Format::Json, &Settings::default())
        };
        assert!(parse("_extra=foreign_key_tables,columns").is_ok());
        assert_eq!(parse("_extra=count").unwrap_err().status(), 400);
    }
}
