//! What answers in CSV have in common, whatever rows they are made of.

use std::borrow::Cow;

use bytes::Bytes;

use super::request::Request;
use super::response::{TEXT, attachment};
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::table::arguments::given;

const MIB: u64 = 1024 * 1024;

/// Whether all rows are asked for (`_stream`), not just a page of them.
/// [`Error::BadRequest`] if that cannot be.
pub fn streams(http: &Request, settings: &Settings) -> Result<bool> {
    streams_as("CSV", http, settings)
}

/// The same for another form, which the errors name.
pub fn streams_as(form: &str, http: &Request, settings: &Settings) -> Result<bool> {
    if !given(&http.query, "_stream") {
        return Ok(false);
    }
    if !settings.allow_csv_stream {
        return Err(Error::BadRequest(format!("{form} streaming is disabled")));
    }
    if given(&http.query, "_next") {
        return Err(Error::BadRequest(format!(
            "_next not allowed for {form} streaming: it begins at the first row"
        )));
    }
    Ok(true)
}

/// Whether the first line has the names of the columns.
pub fn has_header(http: &Request) -> bool {
    http.query.get("_header") != Some("off")
}

/// The headers. With `_dl` the answer is a file; its name is `name` and `.csv`.
pub fn headers(http: &Request, name: &str) -> Vec<(&'static str, Cow<'static, str>)> {
    if !given(&http.query, "_dl") {
        return vec![("content-type", TEXT.into())];
    }
    vec![
        ("content-type", "text/csv; charset=utf-8".into()),
        (
            "content-disposition",
            attachment(&format!("{name}.csv")).into(),
        ),
    ]
}

/// Bytes at the most; 0 is no limit.
pub fn limit(settings: &Settings) -> u64 {
    settings.max_csv_mb.saturating_mul(MIB)
}

/// The CSV, or what is said instead if there is too much of it.
pub fn bounded(csv: Bytes, limit: u64) -> Bytes {
    if limit > 0 && csv.len() as u64 > limit {
        over_limit(limit)
    } else {
        csv
    }
}

/// What is said instead of CSV beyond the limit.
pub fn over_limit(limit: u64) -> Bytes {
    Bytes::from(format!("CSV contains more than {limit} bytes"))
}
