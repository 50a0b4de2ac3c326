//! From the query string of the SQL page to a [`QueryRequest`]: typed and
//! bounded, without a look at the database.

use std::collections::BTreeSet;

use super::parameters;
use crate::config::Settings;
use crate::error::Result;
use crate::table::arguments::{
    Format, Shape, given, parse_bool, parse_extras, parse_shape, parse_time_limit,
};
use crate::table::extras::{Extra, Scope};
use crate::text::query::QueryString;

/// What a client asks of the SQL page.
#[derive(Debug, Clone)]
pub struct QueryRequest {
    /// The SQL; empty if there is none.
    pub sql: String,
    /// All arguments but `sql`, each with its first value: what parameters are bound to.
    pub arguments: Vec<(String, String)>,
    /// The parameters that the SQL names, with their values, for the form.
    pub parameters: Vec<(String, String)>,
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
}

impl QueryRequest {
    /// Reads the query string. [`crate::error::Error::BadRequest`] says what is wrong with which argument.
    pub fn parse(query: &QueryString, format: Format, settings: &Settings) -> Result<Self> {
        let sql = query.get("sql").unwrap_or_default();
        let grouped = query.grouped().into_iter();
        let arguments: Vec<(String, String)> = grouped
            .filter(|(key, _)| *key != "sql")
            .filter_map(|(key, values)| Some((key.to_owned(), (*values.first()?).to_owned())))
            .collect();
        let shape = parse_shape(query, format)?;
        // Names that begin with an underscore are not for visitors to fill in.
        let names = parameters::named(sql).into_iter();
        let parameters = names
            .filter(|name| !name.starts_with('_'))
            .map(|name| {
                (
                    name.to_owned(),
                    query.get(name).unwrap_or_default().to_owned(),
                )
            })
            .collect();
        Ok(Self {
            parameters,
            arguments,
            sql: sql.to_owned(),
            size: Some(settings.max_returned_rows).filter(|&rows| rows > 0),
            time_limit_ms: parse_time_limit(query, settings)?,
            shape,
            newline_delimited: given(query, "_nl") && shape == Shape::Array,
            json_columns: query.get_all("_json").map(str::to_owned).collect(),
            json_infinity: parse_bool(query, "_json_infinity")?.unwrap_or(false),
            extras: parse_extras(query, format, Scope::Query)?,
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

    #[test]
    fn parameters_are_those_of_the_sql_with_the_values_of_arguments() {
        let request = parse("sql=select+:a,+:b,+:_c&a=1&a=2&x=3&_c=4");
        let pairs: Vec<_> = request
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(pairs, [("a", "1"), ("b", "")]);
        assert_eq!(request.argument("x"), Some("3"));
        assert_eq!(request.argument("sql"), None);
    }

    #[test]
    fn a_time_limit_can_only_be_lowered() {
        assert_eq!(parse("sql=x&_timelimit=50").time_limit_ms, 50);
        let most = Settings::default().sql_time_limit_ms;
        assert_eq!(parse("sql=x&_timelimit=99999999").time_limit_ms, most);
    }
}
