//! Magic parameters: values that the server gives to stored queries, such as who asks
//! and when. The names are Datasette's: <https://docs.datasette.io/en/latest/sql_queries.html#magic-parameters>.
//! Visitors' own SQL has none; there a `:_header_host` is a parameter like others.

use serde_json::Value as Json;
use time::OffsetDateTime;

use crate::auth::{Actor, random_word};
use crate::db::Value;
use crate::error::{Error, Result};
use crate::query::parameters::named;

/// Random characters that one parameter can be at the most.
const MOST_CHARS: usize = 1_000;

/// What a request tells.
pub struct Known<'r> {
    /// Who asks.
    pub actor: Option<&'r Actor>,
    /// The value of a header.
    pub header: &'r dyn Fn(&str) -> Option<String>,
    /// The value of a cookie.
    pub cookie: &'r dyn Fn(&str) -> Option<String>,
    /// When it came.
    pub now: OffsetDateTime,
}

/// The values of the magic parameters in `sql`, by name. What nobody knows of an actor is
/// NULL; a header or cookie that was not sent is empty.
///
/// # Errors
/// [`Error::InvalidSql`] on a name that begins like one of them and is none.
pub fn values(sql: &str, known: &Known<'_>) -> Result<Vec<(String, Value)>> {
    let mut values = Vec::new();
    for name in named(sql) {
        if let Some(value) = value(name, known)? {
            values.push((name.to_owned(), value));
        }
    }
    Ok(values)
}

/// `None` for a parameter that is like others.
fn value(name: &str, known: &Known<'_>) -> Result<Option<Value>> {
    let Some((kind, key)) = name.strip_prefix('_').and_then(|name| name.split_once('_')) else {
        return Ok(None);
    };
    let given = |text: Option<String>| Value::text(&text.unwrap_or_default());
    let wrong = |right: &str| {
        Err(Error::InvalidSql(format!(
            "There is no parameter :{name} - use {right}"
        )))
    };
    Ok(Some(match kind {
        "actor" => fact(known.actor.and_then(|actor| actor.facts().get(key))),
        "header" => given((known.header)(&key.replace('_', "-"))),
        "cookie" => given((known.cookie)(key)),
        "now" => match key {
            "epoch" => Value::Integer(known.now.unix_timestamp()),
            "date_utc" => Value::text(&date(known.now)),
            "datetime_utc" => Value::text(&format!("{}T{}Z", date(known.now), time(known.now))),
            _ => return wrong(":_now_epoch, :_now_date_utc or :_now_datetime_utc"),
        },
        "random" => {
            let length = key.strip_prefix("chars_").and_then(|n| n.parse().ok());
            match length {
                Some(length @ 1..=MOST_CHARS) => Value::text(&random_chars(length)),
                _ => return wrong(&format!(":_random_chars_N with N from 1 to {MOST_CHARS}")),
            }
        }
        _ => return Ok(None),
    }))
}

/// A fact about an actor as SQLite would store it.
fn fact(fact: Option<&Json>) -> Value {
    match fact {
        None | Some(Json::Null) => Value::Null,
        Some(Json::Bool(is)) => Value::Integer(i64::from(*is)),
        Some(Json::String(text)) => Value::text(text),
        Some(Json::Number(number)) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Real(number.as_f64().unwrap_or_default()),
        },
        Some(other) => Value::text(&other.to_string()),
    }
}

fn random_chars(length: usize) -> String {
    let mut chars = String::new();
    while chars.len() < length {
        chars.push_str(&random_word());
    }
    chars.truncate(length);
    chars
}

/// `2024-02-29`
fn date(now: OffsetDateTime) -> String {
    let (year, month, day) = (now.year(), u8::from(now.month()), now.day());
    format!("{year:04}-{month:02}-{day:02}")
}

/// `12:34:56`
fn time(now: OffsetDateTime) -> String {
    let (hour, minute, second) = now.to_hms();
    format!("{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(sql: &str) -> Result<Vec<(String, Value)>> {
        let facts = json!({"id": "ann", "age": 7, "is_admin": true, "roles": ["a"]});
        let actor = Actor::new(facts.as_object().unwrap().clone());
        let header = |name: &str| (name == "user-agent").then(|| "curl".to_owned());
        let cookie = |name: &str| (name == "foo").then(|| "bar".to_owned());
        values(
            sql,
            &Known {
                actor: Some(&actor),
                header: &header,
                cookie: &cookie,
                now: OffsetDateTime::from_unix_timestamp(1_709_210_096).unwrap(),
            },
        )
    }

    #[test]
    fn each_name_has_its_value() {
        for (name, expected) in [
            ("_actor_id", Value::text("ann")),
            ("_actor_age", Value::Integer(7)),
            ("_actor_is_admin", Value::Integer(1)),
            ("_actor_roles", Value::text("[\"a\"]")),
            ("_actor_nope", Value::Null),
            ("_header_user_agent", Value::text("curl")),
            ("_header_nope", Value::text("")),
            ("_cookie_foo", Value::text("bar")),
            ("_cookie_nope", Value::text("")),
            ("_now_epoch", Value::Integer(1_709_210_096)),
            ("_now_date_utc", Value::text("2024-02-29")),
            ("_now_datetime_utc", Value::text("2024-02-29T12:34:56Z")),
        ] {
            let expected = vec![(name.to_owned(), expected)];
            assert_eq!(ask(&format!("select ${name}")), Ok(expected));
        }
        let random = ask("select :_random_chars_70").unwrap();
        assert!(matches!(&random[0].1, Value::Text(text) if text.len() == 70));
    }

    #[test]
    fn other_parameters_are_left_alone_and_misspelled_ones_are_told() {
        assert_eq!(ask("select :a, :_b, :_b_c, ':_now_epoch'"), Ok(vec![]));
        for wrong in [
            "_now_foo",
            "_random_chars_x",
            "_random_chars_0",
            "_random_x",
        ] {
            let error = ask(&format!("select :{wrong}")).unwrap_err();
            assert!(error.message().contains(wrong), "{}", error.message());
        }
    }
}
