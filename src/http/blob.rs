//! Bytes of a blob as a download.

use super::response::{Response, attachment};
use crate::db::{BorrowedValue, Value};
use crate::error::{Error, Result};
use crate::render::links::{BLOB_COLUMN, BLOB_HASH, blob_hash};
use crate::text::css;
use crate::text::query::QueryString;

/// Which blob is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    column: String,
    hash: Option<String>,
}

impl Wanted {
    /// Reads `_blob_column` and `_blob_hash`.
    pub fn parse(query: &QueryString) -> Result<Self> {
        let column = query
            .get(BLOB_COLUMN)
            .ok_or_else(|| Error::BadRequest(format!("?{BLOB_COLUMN}= is required")))?;
        Ok(Self {
            column: column.to_owned(),
            hash: query.get(BLOB_HASH).map(str::to_owned),
        })
    }

    /// The position of the column.
    pub fn position(&self, columns: &[String]) -> Result<usize> {
        let position = columns.iter().position(|name| *name == self.column);
        position.ok_or_else(|| Error::BadRequest(format!("{} is not a valid column", self.column)))
    }

    /// Whether a value is the one.
    pub fn matches(&self, value: BorrowedValue<'_>) -> bool {
        let Some(wanted) = &self.hash else {
            return true;
        };
        matches!(value, Value::Blob(bytes) if blob_hash(bytes) == *wanted)
    }

    /// The answer; without a value, because no row has it, [`Error::BadRequest`].
    /// `names` begin the name of the file.
    pub fn answer(&self, value: Option<Value>, names: &[&str]) -> Result<Response> {
        let bytes: Vec<u8> = match value {
            None => {
                return Err(Error::BadRequest(
                    "This link is out of date: the content has changed or is gone".into(),
                ));
            }
            Some(Value::Null) => Vec::new(),
            Some(Value::Text(bytes) | Value::Blob(bytes)) => bytes.into(),
            Some(number) => number.with_display(|digits| digits.into()),
        };
        let column = css::class(&self.column);
        let mut parts: Vec<&str> = names.to_vec();
        parts.push(&column);
        parts.extend(
            self.hash
                .as_deref()
                .map(|hash| hash.get(..6).unwrap_or(hash)),
        );
        let disposition = attachment(&format!("{}.blob", parts.join("-")));
        Ok(Response::whole(200, "application/binary", bytes)
            .header("x-content-type-options", "nosniff")
            .header("content-disposition", disposition))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(query: &str) -> Result<Wanted> {
        Wanted::parse(&QueryString::parse(query))
    }

    #[test]
    fn the_column_must_be_named_and_exist() {
        assert_eq!(wanted("x=1").unwrap_err().status(), 400);
        let wanted = wanted("_blob_column=b").unwrap();
        assert_eq!(wanted.position(&["a".into(), "b".into()]), Ok(1));
        assert_eq!(wanted.position(&["a".into()]).unwrap_err().status(), 400);
    }

    #[test]
    fn a_hash_picks_the_row() {
        let query = format!("_blob_column=b&_blob_hash={}", blob_hash(b"x"));
        let wanted = wanted(&query).unwrap();
        assert!(wanted.matches(Value::Blob(b"x")));
        assert!(!wanted.matches(Value::Blob(b"y")));
        assert!(!wanted.matches(Value::Text(b"x")));
        assert!(wanted.answer(None, &[]).is_err());
        let blob = Value::Blob(b"x".as_slice().into());
        let response = wanted.answer(Some(blob), &[]).unwrap();
        let name = format!("attachment; filename=\"b-{}.blob\"", &blob_hash(b"x")[..6]);
        assert!(
            response
                .headers
                .contains(&("content-disposition", name.into()))
        );
    }

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        let response = wanted("_blob_column=b")
            .unwrap()
            .answer(Some(Value::Null), &["t", "a\"; x=\"\n~2C"])
            .unwrap();
        let name = "attachment; filename=\"t-a; x=~2C-b.blob\"".to_owned();
        assert!(
            response
                .headers
                .contains(&("content-disposition", name.into()))
        );
    }
}
