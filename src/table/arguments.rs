//! Arguments that several kinds of pages take, with one meaning on all of them.

use std::collections::BTreeSet;

use super::extras::{Extra, Scope};
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::text::query::QueryString;

/// `_shape`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// An object whose `rows` are objects.
    Objects,
    /// An object whose `rows` are arrays.
    Arrays,
    /// An array of objects.
    Array,
    /// An object of objects by primary key.
    Object,
    /// An array of the first column's values.
    ArrayFirst,
}

/// The form that the answer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page for people.
    Html,
    /// `.json`
    Json,
    /// `.csv`
    Csv,
}

/// Whether an argument is there with a value; any value counts, also `0`, as in Datasette.
pub fn given(query: &QueryString, key: &str) -> bool {
    query.get(key).is_some_and(|value| !value.is_empty())
}

/// The value of an argument that has one.
pub fn non_empty(query: &QueryString, key: &str) -> Option<String> {
    query
        .get(key)
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
}

/// A switch: `on`, `off` and their like. `None` if it is not there.
pub fn parse_bool(query: &QueryString, key: &str) -> Result<Option<bool>> {
    match query.get(key) {
        None | Some("") => Ok(None),
        Some("on" | "true" | "True" | "1") => Ok(Some(true)),
        Some("off" | "false" | "False" | "0") => Ok(Some(false)),
        Some(other) => Err(Error::BadRequest(format!("{key}={other} - use on or off"))),
    }
}

/// `_shape`, which only JSON has.
pub fn parse_shape(query: &QueryString, format: Format) -> Result<Shape> {
    if format != Format::Json {
        return Ok(Shape::Objects);
    }
    match query.get("_shape").unwrap_or("objects") {
        "objects" => Ok(Shape::Objects),
        "arrays" => Ok(Shape::Arrays),
        "array" => Ok(Shape::Array),
        "object" => Ok(Shape::Object),
        "arrayfirst" => Ok(Shape::ArrayFirst),
        other => Err(Error::BadRequest(format!(
            "Invalid _shape: {other} - use objects, arrays, array, object or arrayfirst"
        ))),
    }
}

/// `_extra`: the extras that a kind of page has.
pub fn parse_extras(query: &QueryString, format: Format, scope: Scope) -> Result<BTreeSet<Extra>> {
    let names: BTreeSet<&str> = query
        .get_all("_extra")
        .flat_map(|list| list.split(','))
        .filter(|name| !name.is_empty())
        .collect();
    let (known, unknown): (Vec<_>, Vec<_>) = names
        .into_iter()
        .map(|name| (name, Extra::by_name(name, scope)))
        .partition(|(_, extra)| extra.is_some());
    // A page for people shows what it shows; unknown names do no harm there.
    if !unknown.is_empty() && format != Format::Html {
        let names: Vec<_> = unknown.into_iter().map(|(name, _)| name).collect();
        return Err(Error::BadRequest(format!(
            "Unknown _extra: {} - _extra=extras lists those there are",
            names.join(", ")
        )));
    }
    Ok(known.into_iter().filter_map(|(_, extra)| extra).collect())
}

/// `_timelimit` in milliseconds, if below the setting; 0 is no limit.
pub fn parse_time_limit(query: &QueryString, settings: &Settings) -> Result<u64> {
    let Some(limit) = non_empty(query, "_timelimit") else {
        return Ok(settings.sql_time_limit_ms);
    };
    let limit: u64 = limit
        .parse()
        .ok()
        .filter(|&limit| limit > 0)
        .ok_or_else(|| Error::BadRequest("_timelimit must be a number of milliseconds".into()))?;
    Ok(if settings.sql_time_limit_ms == 0 {
        limit
    } else {
        limit.min(settings.sql_time_limit_ms)
    })
}

/// `_ttl`: seconds that caches may keep the answer.
pub fn parse_ttl(query: &QueryString, settings: &Settings) -> u64 {
    query
        .get("_ttl")
        .and_then(|ttl| ttl.parse().ok())
        .unwrap_or(settings.default_cache_ttl)
}
