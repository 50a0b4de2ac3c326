//! Keyset pages: `_next` tokens and the conditions that begin a page after one.
//!
//! A token names the last row of the page before: the value sorted by, if any,
//! and the primary key, each `~` encoded, with commas between. That is
//! Datasette's form. A value whose text alone would not find the row again says
//! its type: `$null`, and after a `$` and a letter an integer (`$i.10`), a real
//! (`$r.1.5`), a blob in hex (`$b.00ff`) or the empty text (`$t.`); an encoded text never holds a `$`.
//!
//! The order is always total: the sort column, then the primary key. So every
//! row comes exactly once, also among ties and NULLs, which SQLite sorts first.

use super::filters::Params;
use super::request::Sort;
use crate::db::schema::Affinity;
use crate::db::{BorrowedValue, Value};
use crate::error::{Error, Result};
use crate::text::identifier::escape;
use crate::text::tilde;

/// The token of the empty text.
const EMPTY_TEXT: &str = "$t.";

/// A column of the order.
#[derive(Debug, Clone)]
pub struct OrderColumn {
    /// Its name.
    pub name: String,
    /// Its affinity, which decides how SQLite compares a text with it.
    pub affinity: Affinity,
    /// Downwards.
    pub descending: bool,
    /// Whether it only ever holds integers: a row number, under whatever name.
    pub only_integers: bool,
}

impl OrderColumn {
    /// SQLite's row number, as a last resort to tell rows apart.
    pub fn row_number() -> Self {
        Self {
            name: "rowid".into(),
            affinity: Affinity::Integer,
            descending: false,
            only_integers: true,
        }
    }
}

/// The columns that rows are ordered by: the sort column, if any, then the key.
#[derive(Debug, Clone)]
pub struct Order {
    /// The column asked for.
    pub sort: Option<OrderColumn>,
    /// The primary key or rowid; empty for a view, whose pages go by offset.
    pub key: Vec<OrderColumn>,
}

impl Order {
    /// The order for a request.
    /// `key_is_rowid`: the key is the row number of the table.
    pub fn new(
        sort: Option<&Sort>,
        affinity: impl Fn(&str) -> Affinity,
        key: &[String],
        key_is_rowid: bool,
    ) -> Self {
        let column = |name: &str, descending, only_integers| OrderColumn {
            name: name.to_owned(),
            affinity: affinity(name),
            descending,
            only_integers,
        };
        Self {
            sort: sort.map(|sort| column(&sort.column, sort.descending, false)),
            key: key
                .iter()
                .map(|name| column(name, false, key_is_rowid))
                .collect(),
        }
    }

    /// How many columns there are, and so parts of a token.
    pub fn len(&self) -> usize {
        self.sort.iter().len() + self.key.len()
    }

    /// Whether there is none: a view that is not sorted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `order by …` with a space after it, or nothing.
    pub fn sql(&self) -> String {
        let mut terms: Vec<String> = Vec::new();
        for column in self.sort.iter().chain(&self.key) {
            // Sorted by a column of the key: naming it twice would say nothing new.
            let repeated =
                !terms.is_empty() && self.sort.as_ref().is_some_and(|s| s.name == column.name);
            if !repeated {
                let descending = if column.descending { " desc" } else { "" };
                terms.push(format!("{}{descending}", escape(&column.name)));
            }
        }
        if terms.is_empty() {
            String::new()
        } else {
            format!("order by {}", terms.join(", "))
        }
    }

    /// The token for a row with these values.
    pub fn token(
        &self,
        sort_value: Option<BorrowedValue<'_>>,
        key_values: &[BorrowedValue<'_>],
    ) -> String {
        let sort = self
            .sort
            .iter()
            .zip(sort_value)
            .map(|(column, value)| part(value, column.affinity));
        let key = self
            .key
            .iter()
            .zip(key_values)
            .map(|(column, value)| part(*value, column.affinity));
        let token = sort.chain(key).collect::<Vec<_>>().join(",");
        // An argument without a value would be no argument.
        if token.is_empty() {
            EMPTY_TEXT.into()
        } else {
            token
        }
    }

    /// The condition for rows after a token. Its parameters go to the end of `params`.
    /// A token that lacks parts at its end stands before all rows that begin with those it has.
    /// [`Error::BadRequest`] for a token that this order could not have made.
    pub fn after(&self, token: &str, params: &mut Params) -> Result<String> {
        let columns: Vec<&OrderColumn> = self.sort.iter().chain(&self.key).collect();
        let parts: Vec<&str> = token.split(',').collect();
        if parts.len() > columns.len() {
            return Err(bad_token(token));
        }
        let mut values = Vec::with_capacity(columns.len());
        for (part, column) in parts.iter().zip(&columns) {
            let value = value_of(part, column.affinity)
                .filter(|value| !column.only_integers || matches!(value, Value::Integer(_)));
            values.push(value.ok_or_else(|| bad_token(token))?);
        }
        let (sort_values, key_values) = values.split_at(self.sort.iter().len());
        // Key before sort, as Datasette numbers its parameters.
        let key = after_key(&self.key, key_values, params);
        let (Some(sort), Some(value)) = (&self.sort, sort_values.first()) else {
            return Ok(key);
        };
        let column = escape(&sort.name);
        Ok(match (value, sort.descending) {
            (Value::Null, true) => format!("({column} is null and {key})"),
            (Value::Null, false) => {
                format!("({column} is not null or ({column} is null and {key}))")
            }
            (value, descending) => {
                let name = bind(params, value);
                let (operator, or_null) = if descending {
                    ("<", format!(" or {column} is null"))
                } else {
                    (">", String::new())
                };
                format!("({column} {operator} {name}{or_null} or ({column} = {name} and {key}))")
            }
        })
    }
}

/// `(a > 1) or (a = 1 and b > 2)` …; a NULL in the key sorts before all else.
fn after_key(key: &[OrderColumn], values: &[Value], params: &mut Params) -> String {
    if values.is_empty() {
        return "1".into();
    }
    let is_whole = values.len() == key.len();
    let key = &key[..values.len()];
    let names: Vec<Option<String>> = values
        .iter()
        .map(|value| (!value.is_null()).then(|| bind(params, value)))
        .collect();
    let equal = |n: usize| {
        let column = escape(&key[n].name);
        names[n].as_ref().map_or_else(
            || format!("{column} is null"),
            |name| format!("{column} = {name}"),
        )
    };
    let above = |n: usize| {
        let column = escape(&key[n].name);
        names[n].as_ref().map_or_else(
            || format!("{column} is not null"),
            |name| format!("{column} > {name}"),
        )
    };
    if let [only] = key
        && only.name == "rowid"
    {
        return above(0);
    }
    let mut alternatives: Vec<String> = (0..key.len())
        .map(|last| {
            let mut terms: Vec<String> = (0..last).map(equal).collect();
            terms.push(above(last));
            format!("({})", terms.join(" and "))
        })
        .collect();
    if !is_whole {
        let terms: Vec<String> = (0..key.len()).map(equal).collect();
        alternatives.push(format!("({})", terms.join(" and ")));
    }
    format!("({})", alternatives.join("\n  or\n"))
}

fn bind(params: &mut Params, value: &Value) -> String {
    let name = format!("p{}", params.len());
    let placeholder = format!(":{name}");
    params.push((name, value.clone()));
    placeholder
}

fn bad_token(token: &str) -> Error {
    Error::BadRequest(format!(
        "_next={token} is no token for this table and sort order - take it from next_url"
    ))
}

fn is_numeric(affinity: Affinity) -> bool {
    matches!(
        affinity,
        Affinity::Integer | Affinity::Real | Affinity::Numeric
    )
}

/// One part of a token.
fn part(value: BorrowedValue<'_>, affinity: Affinity) -> String {
    match value {
        Value::Null => "$null".into(),
        Value::Integer(_) if is_numeric(affinity) => tilde::encode(value.display().as_bytes()),
        Value::Real(f) if is_numeric(affinity) && f.is_finite() => {
            tilde::encode(value.display().as_bytes())
        }
        Value::Integer(i) => format!("$i.{i}"),
        Value::Real(_) => format!("$r.{}", value.display()),
        Value::Text(bytes) => tilde::encode(bytes),
        Value::Blob(bytes) => {
            use std::fmt::Write;
            bytes.iter().fold("$b.".to_owned(), |mut out, byte| {
                let _ = write!(out, "{byte:02x}");
                out
            })
        }
    }
}

/// The value of one part. In a column of numbers the text of a number is bound as
/// that number: SQLite would convert it, but may round a float's last digit.
fn value_of(part: &str, affinity: Affinity) -> Option<Value> {
    if let Some(typed) = part.strip_prefix('$') {
        return match typed.split_once('.') {
            None => (typed == "null").then_some(Value::Null),
            Some(("i", digits)) => digits.parse().ok().map(Value::Integer),
            Some(("r", digits)) => digits
                .parse()
                .ok()
                .filter(|f: &f64| !f.is_nan())
                .map(Value::Real),
            Some(("t", "")) => Some(Value::text("")),
            Some(("b", hex)) => hex_bytes(hex).map(Value::Blob),
            _ => None,
        };
    }
    let bytes = tilde::decode_bytes(part);
    if is_numeric(affinity)
        && let Ok(text) = std::str::from_utf8(&bytes)
    {
        if let Ok(integer) = text.parse() {
            return Some(Value::Integer(integer));
        }
        if let Some(real) = text.parse().ok().filter(|f: &f64| f.is_finite()) {
            return Some(Value::Real(real));
        }
    }
    Some(Value::Text(bytes.into()))
}

fn hex_bytes(hex: &str) -> Option<Box<[u8]>> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| {
        digits
            .chunks(2)
            .map(|pair| pair[0] * 16 + pair[1])
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_survives_its_token_in_every_kind_of_column() {
        let values = [
            Value::Null,
            Value::Integer(i64::MIN),
            Value::Real(0.1),
            Value::Real(f64::INFINITY),
            Value::text("a,b $null~"),
            Value::text(""),
            Value::Text([0xff, b'x'].as_slice().into()),
            Value::Blob([0, 255].as_slice().into()),
        ];
        for affinity in [
            Affinity::Text,
            Affinity::Integer,
            Affinity::Real,
            Affinity::Numeric,
            Affinity::Blob,
        ] {
            for value in &values {
                let token = part(value.borrowed(), affinity);
                assert_eq!(
                    value_of(&token, affinity).as_ref(),
                    Some(value),
                    "{token} in {affinity:?}"
                );
            }
        }
    }

    #[test]
    fn tokens_that_no_page_gives_are_refused() {
        let order = Order::new(
            None,
            |_| Affinity::Integer,
            &["a".into(), "b".into()],
            false,
        );
        for token in ["1,2,3", "$nul,2", "$i.x,2", "$b.0,1"] {
            assert!(order.after(token, &mut Params::new()).is_err(), "{token}");
        }
    }

    #[test]
    fn a_row_number_is_an_integer() {
        let order = Order::new(None, |_| Affinity::Integer, &["id".into()], true);
        assert!(order.after("7", &mut Params::new()).is_ok());
        for token in ["x", "1.5", "$null", ""] {
            assert!(order.after(token, &mut Params::new()).is_err(), "{token}");
        }
    }

    #[test]
    fn the_condition_is_datasette_s_for_plain_keys() {
        let order = Order::new(None, |_| Affinity::Text, &["a".into(), "b".into()], false);
        let mut params = Params::new();
        assert_eq!(
            order.after("x,y", &mut params).unwrap(),
            "((a > :p0)\n  or\n(a = :p0 and b > :p1))"
        );
        assert_eq!(params[1], ("p1".into(), Value::text("y")));
    }
}
