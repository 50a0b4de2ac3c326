//! From the query string of the SQL page, or of a stored query, to a
//! [`QueryRequest`]: typed and bounded, without a look at the database.

use std::collections::BTreeSet;

use super::fence::Rules;
use super::parameters::{is_for_visitors, named};
use crate::config::{Settings, StoredQuery, TableConfig};
use crate::db::Value;
use crate::error::{Error, Result};
use crate::table::arguments::{
    Format, Shape, given, parse_bool, parse_extras, parse_shape, parse_time_limit,
};
use crate::table::extras::{Extra, FacetRequest, Scope, facet_requests};
use crate::text::query::QueryString;

/// What a client asks of the SQL page or of a stored query.
#[derive(Debug, Clone)]
pub struct QueryRequest {
    /// The SQL; empty if there is none.
    pub sql: String,
    /// The arguments, each with its first value: what parameters are bound to. On the
    /// SQL page all but `sql`.
    pub arguments: Vec<(String, String)>,
    /// The parameters that the form shows, with their values.
    pub parameters: Vec<(String, String)>,
    /// Values that the server gives to parameters of a stored query, by name.
    pub magic: Vec<(String, Value)>,
    /// What the SQL may reach.
    pub rules: Rules,
    /// Rows at the most; `None` for no limit.
    pub size: Option<usize>,
    /// `_timelimit`: milliseconds, if below the setting; 0 is no limit.
    pub time_limit_ms: u64,
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
    /// `_facet` and its like.
    pub facets: Vec<FacetRequest>,
    /// `_facet_size`: values of a facet at the most.
    pub facet_size: usize,
    /// Milliseconds for each facet; 0 is no limit.
    pub facet_time_limit_ms: u64,
}

impl QueryRequest {
    /// Reads the query string of the SQL page. [`Error::BadRequest`] says what is wrong with which argument.
    pub fn parse(query: &QueryString, format: Format, settings: &Settings) -> Result<Self> {
        let sql = query.get("sql").unwrap_or_default().to_owned();
        let mut request = Self::read(query, format, settings, sql)?;
        request.arguments.retain(|(key, _)| key != "sql");
        Ok(request)
    }

    /// Reads the query string of a stored query.
    pub fn of_stored(
        query: &QueryString,
        format: Format,
        settings: &Settings,
        stored: &StoredQuery,
    ) -> Result<Self> {
        let mut request = Self::read(query, format, settings, stored.sql.clone())?;
        request.rules.is_configured = true;
        if !stored.parameters.is_empty() {
            let names = stored.parameters.iter();
            request.parameters = names.map(|name| with_value(query, name)).collect();
        }
        Ok(request)
    }

    fn read(query: &QueryString, format: Format, settings: &Settings, sql: String) -> Result<Self> {
        let grouped = query.grouped().into_iter();
        let arguments = grouped
            .filter_map(|(key, values)| Some((key.to_owned(), (*values.first()?).to_owned())))
            .collect();
        let shape = parse_shape(query, format)?;
        let names = named(&sql).into_iter().filter(|name| is_for_visitors(name));
        Ok(Self {
            parameters: names.map(|name| with_value(query, name)).collect(),
            arguments,
            magic: Vec::new(),
            rules: Rules::default(),
            sql,
            size: Some(settings.max_returned_rows).filter(|&rows| rows > 0),
            time_limit_ms: parse_time_limit(query, settings)?,
            shape,
            newline_delimited: given(query, "_nl") && shape == Shape::Array,
            json_columns: query.get_all("_json").map(str::to_owned).collect(),
            json_infinity: parse_bool(query, "_json_infinity")?.unwrap_or(false),
            extras: parse_extras(query, format, Scope::Query)?,
            facets: facets(query, format, shape, settings)?,
            facet_size: facet_size(query, settings),
            facet_time_limit_ms: settings.facet_time_limit_ms,
        })
    }

    /// Whether there is nothing to run.
    pub fn is_blank(&self) -> bool {
        self.sql.trim().is_empty()
    }

    /// The value of an argument, of which a parameter may have the name.
    pub fn argument(&self, name: &str) -> Option<&str> {
        let mut arguments = self.arguments.iter();
        let found = arguments.find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether the SQL has parameters whose values only the server knows.
    pub fn has_magic(&self) -> bool {
        !self.magic.is_empty()
    }
}

fn with_value(query: &QueryString, name: &str) -> (String, String) {
    let value = query.get(name).unwrap_or_default();
    (name.to_owned(), value.to_owned())
}

/// The facets that are to be counted: none in forms that have no place for them.
fn facets(
    query: &QueryString,
    format: Format,
    shape: Shape,
    settings: &Settings,
) -> Result<Vec<FacetRequest>> {
    let facets = facet_requests(query, &TableConfig::default())?;
    if !settings.allow_facet && query.keys().any(|key| key.starts_with("_facet")) {
        return Err(Error::BadRequest(
            "Facets are turned off on this server: remove _facet".into(),
        ));
    }
    let has_place = format != Format::Csv && matches!(shape, Shape::Objects | Shape::Arrays);
    Ok(if has_place && !given(query, "_nofacet") {
        facets
    } else {
        Vec::new()
    })
}

fn facet_size(query: &QueryString, settings: &Settings) -> usize {
    let most = settings.max_returned_rows;
    let size = match query.get("_facet_size") {
        Some("max") => Some(most),
        size => size.and_then(|size| size.parse().ok()),
    };
    size.unwrap_or(settings.default_facet_size).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> QueryRequest {
        QueryRequest::parse(
            &QueryString::parse(query),
            Format::Json,
            &Settings::default(),
        )
        .unwrap()
    }

    fn pairs(request: &QueryRequest) -> Vec<(&str, &str)> {
        let parameters = request.parameters.iter();
        parameters
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    #[test]
    fn parameters_are_those_of_the_sql_with_the_values_of_arguments() {
        let request = parse("sql=select+:a,+$b,+:_c&a=1&a=2&x=3&_c=4");
        assert_eq!(pairs(&request), [("a", "1"), ("b", "")]);
        assert_eq!(request.argument("x"), Some("3"));
        assert_eq!(request.argument("sql"), None);
    }

    #[test]
    fn a_stored_query_may_name_its_parameters_in_their_order() {
        let stored = StoredQuery {
            sql: "select :a, :b, :sql".into(),
            parameters: vec!["b".into(), "a".into()],
            ..StoredQuery::default()
        };
        let query = QueryString::parse("a=1&sql=2");
        let request =
            QueryRequest::of_stored(&query, Format::Json, &Settings::default(), &stored).unwrap();
        assert_eq!(pairs(&request), [("b", ""), ("a", "1")]);
        assert_eq!(request.argument("sql"), Some("2"));
        assert_eq!(request.sql, stored.sql);
    }

    #[test]
    fn a_time_limit_can_only_be_lowered() {
        assert_eq!(parse("sql=x&_timelimit=50").time_limit_ms, 50);
        let most = Settings::default().sql_time_limit_ms;
        assert_eq!(parse("sql=x&_timelimit=99999999").time_limit_ms, most);
    }

    #[test]
    fn facets_are_for_forms_that_have_a_place_for_them() {
        assert_eq!(parse("sql=x&_facet=a&_facet_date=b").facets.len(), 2);
        assert_eq!(parse("sql=x&_facet=a&_shape=arrays").facets.len(), 1);
        for without in ["_shape=array", "_shape=arrayfirst", "_nofacet=1"] {
            assert_eq!(parse(&format!("sql=x&_facet=a&{without}")).facets, []);
        }
    }
}
