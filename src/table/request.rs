//! From the query string of a table page to a [`TableRequest`]: typed and
//! bounded, without a look at the database. Names and meaning are those of
//! <https://docs.datasette.io/en/latest/json_api.html>.

use std::collections::BTreeSet;

pub use super::arguments::{Format, Shape};
use super::arguments::{
    given, non_empty, parse_bool, parse_extras, parse_shape, parse_time_limit, parse_ttl,
};
use super::extras::{Extra, FacetRequest, Scope, facet_requests};
use crate::config::{Settings, TableConfig};
use crate::engine::ExtrasMode;
use crate::error::{Error, Result};
use crate::text::query::QueryString;

/// What a client asks of a table, checked as far as the query string alone allows.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an argument of its own"
)]
#[derive(Debug, Clone)]
pub struct TableRequest {
    /// Filter arguments as sent, key and value, sorted.
    pub filters: Vec<(String, String)>,
    /// `_where`: SQL conditions.
    pub wheres: Vec<String>,
    /// `_search` and `_search_COLUMN`: key and text, in the order sent.
    pub searches: Vec<(String, String)>,
    /// `_searchmode`: whether the text is FTS syntax (`raw`) or plain words.
    pub search_raw: Option<bool>,
    /// `_fts_table` and `_fts_pk`
    pub fts: (Option<String>, Option<String>),
    /// `_through`
    pub through: Vec<Through>,
    /// `_sort` or `_sort_desc`, or the configuration's.
    pub sort: Option<Sort>,
    /// Rows a page.
    pub size: usize,
    /// `_next`: where the page before ended.
    pub next: Option<String>,
    /// `_col`
    pub columns: Vec<String>,
    /// `_nocol`
    pub without_columns: Vec<String>,
    /// `_json`: columns whose text is shown as the JSON that it holds.
    pub json_columns: Vec<String>,
    /// `_labels` and `_label`
    pub labels: Labels,
    /// `_shape`
    pub shape: Shape,
    /// `_nl`: one JSON object a line.
    pub newline_delimited: bool,
    /// `_json_infinity`: write infinities as `Infinity`, which is not JSON.
    pub json_infinity: bool,
    /// `_nocount`
    pub no_count: bool,
    /// `_nofacet`
    pub no_facet: bool,
    /// `_nosuggest`
    pub no_suggest: bool,
    /// Facets of the configuration and of the request.
    pub facets: Vec<FacetRequest>,
    /// Values a facet at the most.
    pub facet_size: usize,
    /// `_facet_partial=off`: facets that run out of time are left out.
    pub no_partial_facets: bool,
    /// `_extra`, and what other arguments bring along.
    pub extras: BTreeSet<Extra>,
    /// `_ttl`: seconds that caches may keep the answer.
    pub ttl: u64,
    /// `_timelimit`: milliseconds for the rows, if below the setting.
    pub time_limit_ms: u64,
    /// `_extras`: how to run the extras; only with `trace_debug`.
    pub mode: Option<ExtrasMode>,
}

/// `_sort` and `_sort_desc`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub column: String,
    /// Downwards.
    pub descending: bool,
}

/// `_through={"table": …, "column": …, "value": …}`: rows that a row of another
/// table points at.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Through {
    /// The other table.
    pub table: String,
    /// A column of the other table …
    pub column: String,
    /// … that has this value.
    #[serde(deserialize_with = "text_or_number")]
    pub value: String,
}

/// Which foreign keys are shown with a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// None.
    Off,
    /// All.
    All,
    /// Those of these columns.
    Columns(Vec<String>),
}

impl Labels {
    /// Whether those of a column are shown.
    pub fn include(&self, column: &str) -> bool {
        match self {
            Self::Off => false,
            Self::All => true,
            Self::Columns(names) => names.iter().any(|name| name == column),
        }
    }
}

impl TableRequest {
    /// Reads the query string. [`Error::BadRequest`] says what is wrong with which argument.
    pub fn parse(
        query: &QueryString,
        format: Format,
        settings: &Settings,
        config: &TableConfig,
    ) -> Result<Self> {
        let shape = parse_shape(query, format)?;
        let whole_rows_only =
            matches!(shape, Shape::Array | Shape::Object) && format == Format::Json;
        let no_facet = given(query, "_nofacet") || whole_rows_only;
        let facets = facet_requests(query, config)?;
        if !settings.allow_facet && query.keys().any(|key| key.starts_with("_facet")) {
            return Err(Error::BadRequest(
                "Facets are turned off on this server: remove _facet".into(),
            ));
        }
        let mut extras = parse_extras(query, format, Scope::Table)?;
        if query
            .keys()
            .any(|key| key == "_facet" || key.starts_with("_facet_"))
        {
            extras.insert(Extra::FacetResults);
        }
        if extras.contains(&Extra::Count) {
            extras.insert(Extra::CountTruncated);
        }
        Ok(Self {
            filters: filter_arguments(query),
            wheres: query.get_all("_where").map(str::to_owned).collect(),
            searches: parse_searches(query),
            search_raw: match query.get("_searchmode") {
                Some("raw") => Some(true),
                Some("escaped") => Some(false),
                _ => None,
            },
            fts: (non_empty(query, "_fts_table"), non_empty(query, "_fts_pk")),
            through: parse_through(query)?,
            sort: parse_sort(query, config)?,
            size: parse_size(query, settings, config)?,
            next: non_empty(query, "_next"),
            columns: query.get_all("_col").map(str::to_owned).collect(),
            without_columns: query.get_all("_nocol").map(str::to_owned).collect(),
            json_columns: query.get_all("_json").map(str::to_owned).collect(),
            labels: parse_labels(query, format),
            shape,
            newline_delimited: given(query, "_nl") && shape == Shape::Array,
            json_infinity: parse_bool(query, "_json_infinity")?.unwrap_or(false),
            no_count: given(query, "_nocount") || whole_rows_only,
            no_facet,
            no_suggest: given(query, "_nosuggest"),
            facets,
            facet_size: parse_facet_size(query, settings, config),
            no_partial_facets: parse_bool(query, "_facet_partial")? == Some(false),
            extras,
            ttl: parse_ttl(query, settings),
            time_limit_ms: parse_time_limit(query, settings)?,
            mode: match query.get("_extras") {
                Some(mode) if settings.trace_debug => Some(
                    mode.parse()
                        .map_err(|e| Error::BadRequest(format!("_extras={e}")))?,
                ),
                _ => None,
            },
        })
    }

    /// Whether the answer holds this extra.
    pub fn wants(&self, extra: Extra) -> bool {
        self.extras.contains(&extra)
    }
}

/// Whether an argument is a filter: special ones begin with `_` and have no `__` in them.
pub fn is_filter(key: &str) -> bool {
    !key.starts_with('_') || key.contains("__")
}

fn filter_arguments(query: &QueryString) -> Vec<(String, String)> {
    let mut filters: Vec<_> = query
        .pairs()
        .iter()
        .filter(|(key, _)| is_filter(key))
        .cloned()
        .collect();
    filters.sort();
    filters
}

fn parse_searches(query: &QueryString) -> Vec<(String, String)> {
    query
        .grouped()
        .into_iter()
        .filter(|(key, _)| *key == "_search" || (key.starts_with("_search_") && key.len() > 8))
        .filter_map(|(key, values)| Some((key.to_owned(), (*values.first()?).to_owned())))
        .collect()
}

fn parse_through(query: &QueryString) -> Result<Vec<Through>> {
    query
        .get_all("_through")
        .map(|json| {
            serde_json::from_str(json).map_err(|error| {
                Error::BadRequest(format!(
                    "_through must be JSON such as {{\"table\": \"t\", \"column\": \"c\", \"value\": \"1\"}}: {error}"
                ))
            })
        })
        .collect()
}

fn text_or_number<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> std::result::Result<String, D::Error> {
    use serde::Deserialize;
    use serde::de::Error as _;
    match serde_json::Value::deserialize(from)? {
        serde_json::Value::String(text) => Ok(text),
        serde_json::Value::Number(number) => Ok(number.to_string()),
        other => Err(D::Error::custom(format!(
            "value must be text or a number, not {other}"
        ))),
    }
}

fn parse_sort(query: &QueryString, config: &TableConfig) -> Result<Option<Sort>> {
    let sort =
        |column: Option<String>, descending| column.map(|column| Sort { column, descending });
    let (up, down) = (non_empty(query, "_sort"), non_empty(query, "_sort_desc"));
    let (up, down) = match (up, down) {
        (None, None) => (config.sort.clone(), config.sort_desc.clone()),
        asked => asked,
    };
    if up.is_some() && down.is_some() {
        return Err(Error::BadRequest(
            "Cannot use _sort and _sort_desc at the same time".into(),
        ));
    }
    Ok(sort(up, false).or_else(|| sort(down, true)))
}

fn parse_size(query: &QueryString, settings: &Settings, config: &TableConfig) -> Result<usize> {
    let max = settings.max_returned_rows;
    let Some(asked) = query.get("_size").filter(|size| !size.is_empty()) else {
        return Ok(config
            .size
            .map_or(settings.default_page_size, |size| size.limited(max))
            .min(max));
    };
    if asked == "max" {
        return Ok(max);
    }
    let size: usize = asked
        .trim()
        .parse()
        .map_err(|_| Error::BadRequest("_size must be a positive integer".into()))?;
    if size > max {
        return Err(Error::BadRequest(format!("_size must be <= {max}")));
    }
    Ok(size)
}

fn parse_facet_size(query: &QueryString, settings: &Settings, config: &TableConfig) -> usize {
    let max = settings.max_returned_rows;
    query
        .get("_facet_size")
        .and_then(|size| {
            if size == "max" {
                Some(max)
            } else {
                size.parse().ok()
            }
        })
        .or_else(|| config.facet_size.map(|size| size.limited(max)))
        .unwrap_or(settings.default_facet_size)
        .min(max)
}

fn parse_labels(query: &QueryString, format: Format) -> Labels {
    if query.contains("_label") {
        return Labels::Columns(query.get_all("_label").map(str::to_owned).collect());
    }
    let by_default = format == Format::Html;
    if parse_bool(query, "_labels")
        .ok()
        .flatten()
        .unwrap_or(by_default)
    {
        Labels::All
    } else {
        Labels::Off
    }
}
