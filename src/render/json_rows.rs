//! Rows as JSON, in each shape, whatever page they are on.

use std::collections::HashMap;

use super::json::{push_json, push_value};
use super::links::row_path_into;
use crate::db::BorrowedValue;
use crate::error::{Error, Result};
use crate::table::arguments::Shape;
use crate::table::block::Row;
use crate::table::extras::labels::{Labels, label_of};
use crate::table::rows::Rows;
use crate::text::json;

/// Bytes that a value takes about besides those of a text or blob, to size the buffer.
const VALUE_BYTES: usize = 8;

/// How the rows are to be written.
#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    /// `_shape`
    pub shape: Shape,
    /// `_nl`: one object a line, in the shape of an array.
    pub lines: bool,
    /// `_json_infinity`: write infinities as `Infinity`, which is not JSON.
    pub infinity: bool,
    /// `_json`: columns whose text is shown as the JSON that it holds.
    pub json_columns: &'o [String],
}

/// Writes the rows of a page.
pub struct JsonRows<'r> {
    rows: &'r Rows,
    labels: &'r [Option<Labels>],
    options: &'r Options<'r>,
    /// How many columns are shown: the first ones.
    columns: usize,
    /// What stands before the value and the position, for each member of a row
    /// that is an object: `{"name": `, `, "name": `.
    members: Vec<(Vec<u8>, usize)>,
    /// Columns whose text is shown as JSON.
    as_json: Vec<bool>,
}

impl<'r> JsonRows<'r> {
    /// `columns` are the names of those that are shown, the first of the rows'.
    pub fn new(
        columns: &[String],
        rows: &'r Rows,
        labels: &'r [Option<Labels>],
        options: &'r Options<'r>,
    ) -> Self {
        let as_json = columns
            .iter()
            .map(|name| options.json_columns.contains(name));
        Self {
            rows,
            labels,
            options,
            columns: columns.len(),
            members: members(columns),
            as_json: as_json.collect(),
        }
    }

    /// An empty buffer of about the right size.
    pub fn buffer(&self) -> Vec<u8> {
        let (texts, names) = match self.options.shape {
            Shape::ArrayFirst => (0, 0),
            Shape::Arrays => (self.rows.bytes(), 0),
            Shape::Objects | Shape::Array | Shape::Object => (
                self.rows.bytes(),
                self.members.iter().map(|(name, _)| name.len()).sum(),
            ),
        };
        // An eighth for escapes and base64; where that is too little, the buffer grows.
        let row = names + self.columns * VALUE_BYTES;
        Vec::with_capacity(512 + texts + texts / 8 + self.rows.len() * row)
    }

    /// The answer in a shape that is the rows and nothing else; `None` in the
    /// others. `key` has the positions of the key's columns, or the reason why
    /// rows can't be written by key, which becomes [`Error::BadRequest`].
    pub fn alone(&self, key: Result<&[usize], &str>) -> Result<Option<Vec<u8>>> {
        let mut out = self.buffer();
        match self.options.shape {
            Shape::Objects | Shape::Arrays => return Ok(None),
            Shape::Object => {
                let key = key.map_err(|reason| Error::BadRequest(reason.to_owned()))?;
                self.by_key(&mut out, key);
            }
            Shape::Array if self.options.lines => self.lines(&mut out),
            Shape::Array | Shape::ArrayFirst => self.write(&mut out),
        }
        Ok(Some(out))
    }

    /// An array of the rows.
    pub fn write(&self, out: &mut Vec<u8>) {
        let one = match self.options.shape {
            Shape::Arrays => Self::values,
            Shape::ArrayFirst => Self::first,
            Shape::Objects | Shape::Array | Shape::Object => Self::object,
        };
        out.push(b'[');
        for (n, row) in self.rows.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            one(self, out, row);
        }
        out.push(b']');
    }

    /// The rows as lines of a longer text, whose first piece has `is_first`. The last line of
    /// it ends with a newline if `ends_lines`; else newlines stand between the lines only.
    pub fn piece(&self, is_first: bool, ends_lines: bool) -> Vec<u8> {
        let mut out = self.buffer();
        for (n, row) in self.rows.iter().enumerate() {
            let is_very_first = is_first && n == 0;
            if !ends_lines && !is_very_first {
                out.push(b'\n');
            }
            self.object(&mut out, row);
            if ends_lines {
                out.push(b'\n');
            }
        }
        out
    }

    fn lines(&self, out: &mut Vec<u8>) {
        for (n, row) in self.rows.iter().enumerate() {
            if n > 0 {
                out.push(b'\n');
            }
            self.object(out, row);
        }
    }

    fn by_key(&self, out: &mut Vec<u8>, key: &[usize]) {
        out.push(b'{');
        let mut path = String::new();
        for (n, row) in self.rows.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            path.clear();
            row_path_into(&mut path, key.iter().map(|&n| row.value(n)));
            json::push_string(out, &path);
            out.extend_from_slice(b": ");
            self.object(out, row);
        }
        out.push(b'}');
    }

    fn object(&self, out: &mut Vec<u8>, row: Row<'_>) {
        if self.members.is_empty() {
            out.push(b'{');
        }
        for (name, position) in &self.members {
            out.extend_from_slice(name);
            self.cell(out, *position, row.value(*position));
        }
        out.push(b'}');
    }

    fn values(&self, out: &mut Vec<u8>, row: Row<'_>) {
        out.push(b'[');
        for (n, value) in row.values().take(self.columns).enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            self.cell(out, n, value);
        }
        out.push(b']');
    }

    fn first(&self, out: &mut Vec<u8>, row: Row<'_>) {
        self.cell(out, 0, row.value(0));
    }

    fn cell(&self, out: &mut Vec<u8>, column: usize, value: BorrowedValue<'_>) {
        let infinity = self.options.infinity;
        if let Some(label) = label_of(self.labels, column, value) {
            out.extend_from_slice(b"{\"value\": ");
            push_value(out, value, infinity);
            out.extend_from_slice(b", \"label\": ");
            push_value(out, label.borrowed(), infinity);
            out.push(b'}');
            return;
        }
        if self.as_json[column]
            && let BorrowedValue::Text(text) = value
            && let Ok(parsed) = serde_json::from_slice::<serde_json::Value>(text)
            && push_json(out, &parsed).is_ok()
        {
            return;
        }
        push_value(out, value, infinity);
    }
}

/// An object has each name once: where the first column of that name stands,
/// with the value of the last, as in a Python dictionary.
fn members(columns: &[String]) -> Vec<(Vec<u8>, usize)> {
    let mut members: Vec<(Vec<u8>, usize)> = Vec::with_capacity(columns.len());
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(columns.len());
    for (position, name) in columns.iter().enumerate() {
        if let Some(&place) = places.get(name.as_str()) {
            members[place].1 = position;
            continue;
        }
        places.insert(name, members.len());
        let mut key = Vec::with_capacity(name.len() + 6);
        key.extend_from_slice(if members.is_empty() { b"{" } else { b", " });
        json::push_string(&mut key, name);
        key.extend_from_slice(b": ");
        members.push((key, position));
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_twice_has_the_last_value_in_the_first_place() {
        let columns = ["a", "b", "a"].map(str::to_owned);
        let members = members(&columns);
        let read: Vec<_> = members
            .iter()
            .map(|(key, at)| (String::from_utf8_lossy(key).into_owned(), *at))
            .collect();
        assert_eq!(
            read,
            [("{\"a\": ".to_owned(), 2), (", \"b\": ".to_owned(), 1)]
        );
    }
}
