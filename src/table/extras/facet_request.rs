//! Which facets a page shows: those of the configuration and of the request.

use crate::config::TableConfig;
use crate::error::{Error, Result};
use crate::text::query::QueryString;

/// What a facet groups by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FacetKind {
    /// The values of a column.
    Column,
    /// The days of a column of dates.
    Date,
    /// The elements of a column of JSON arrays.
    Array,
}

impl FacetKind {
    /// The name in JSON and configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Column => "column",
            Self::Date => "date",
            Self::Array => "array",
        }
    }

    /// The argument that adds such a facet.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Column => "_facet",
            Self::Date => "_facet_date",
            Self::Array => "_facet_array",
        }
    }

    fn by_name(name: &str) -> Option<Self> {
        [Self::Column, Self::Date, Self::Array]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Who asked for a facet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FacetSource {
    /// The configuration of the table; the page can't take it away.
    Config,
    /// The request.
    Request,
}

/// One facet to count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FacetRequest {
    /// What it groups by.
    pub kind: FacetKind,
    /// The column's name.
    pub column: String,
    /// Who asked.
    pub source: FacetSource,
}

/// The facets in the order of the results: columns, dates, arrays; those of the
/// configuration first. [`Error::BadRequest`] for a kind that there is not.
pub fn facet_requests(query: &QueryString, config: &TableConfig) -> Result<Vec<FacetRequest>> {
    let mut facets = Vec::new();
    for facet in &config.facets {
        if let Some(kind) = FacetKind::by_name(&facet.kind) {
            facets.push(FacetRequest {
                kind,
                column: facet.column.clone(),
                source: FacetSource::Config,
            });
        } else {
            tracing::warn!(
                "no facets of kind {:?}: that of column {:?} is left out",
                facet.kind,
                facet.column
            );
        }
    }
    for (key, values) in query.grouped() {
        let kind = match key {
            "_facet" => FacetKind::Column,
            "_facet_size" | "_facet_partial" => continue,
            _ => match key.strip_prefix("_facet_") {
                None => continue,
                // A filter on a column such as `_facet`: `_facet__exact=…`.
                Some(name) if name.starts_with('_') => continue,
                Some(name) => FacetKind::by_name(name).ok_or_else(|| {
                    Error::BadRequest(format!(
                        "{key} - there are _facet, _facet_date and _facet_array"
                    ))
                })?,
            },
        };
        for value in values {
            let facet = FacetRequest {
                kind,
                column: column_of(value)?,
                source: FacetSource::Request,
            };
            // Asked for twice, a facet is still counted once.
            if !facets.contains(&facet) {
                facets.push(facet);
            }
        }
    }
    facets.sort_by_key(|facet| facet.kind);
    Ok(facets)
}

/// A column's name, or `{"column": "name"}`.
fn column_of(value: &str) -> Result<String> {
    if !value.starts_with('{') {
        return Ok(value.to_owned());
    }
    let json: serde_json::Value = serde_json::from_str(value)
        .map_err(|error| Error::BadRequest(format!("_facet={value} is no JSON: {error}")))?;
    ["column", "simple"]
        .iter()
        .find_map(|key| json.get(key)?.as_str())
        .map(str::to_owned)
        .ok_or_else(|| Error::BadRequest(format!("_facet={value} names no \"column\"")))
}
