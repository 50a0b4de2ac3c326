//! The configuration of one table, read once when the program starts.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::metadata::{Metadata, as_text};
use super::value::SettingValue;

/// A number, or as many as `max_returned_rows` allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// So many.
    Rows(usize),
    /// `"max"`.
    Max,
}

impl Size {
    /// The number, given what `max` stands for.
    pub fn limited(self, max: usize) -> usize {
        match self {
            Self::Rows(rows) => rows,
            Self::Max => max,
        }
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) if word == "max" => Some(Self::Max),
            Value::String(word) => word.parse().ok().map(Self::Rows),
            value => usize::from_json(value).map(Self::Rows),
        }
    }
}

/// A facet that a table always shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetConfig {
    /// `column`, `array`, `date`, or a kind that nobody knows.
    pub kind: String,
    /// The column.
    pub column: String,
}

/// Everything that the configuration and the metadata say of one table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableConfig {
    /// Title, description, source and so on.
    pub metadata: Metadata,
    /// Descriptions of columns by name, in the order of the file.
    pub columns: Vec<(String, String)>,
    /// The column to sort by when the request names none.
    pub sort: Option<String>,
    /// The column to sort by, from the end.
    pub sort_desc: Option<String>,
    /// Rows on a page when the request does not say.
    pub size: Option<Size>,
    /// Facets that are always shown.
    pub facets: Vec<FacetConfig>,
    /// Values that a facet shows when the request does not say.
    pub facet_size: Option<Size>,
    /// The column that names a row.
    pub label_column: Option<String>,
    /// Columns that may be sorted by; `None` for all.
    pub sortable_columns: Option<Vec<String>>,
    /// Whether lists leave the table out; `None` where the configuration does not say.
    pub hidden: Option<bool>,
    /// The full-text table to search.
    pub fts_table: Option<String>,
    /// The column that the full-text table's rowid refers to.
    pub fts_pk: Option<String>,
    /// Whether `?_search=` takes FTS syntax without asking.
    pub searchmode_raw: bool,
}

impl TableConfig {
    pub(super) fn read(
        config: Option<&Map<String, Value>>,
        metadata: Option<&Map<String, Value>>,
    ) -> Self {
        let option = |key: &str| {
            config
                .and_then(|config| config.get(key))
                .filter(|value| !value.is_null())
        };
        let text = |key: &str| option(key).map(as_text);
        Self {
            metadata: metadata
                .map(|metadata| Metadata::read(metadata, &["columns"]))
                .unwrap_or_default(),
            columns: metadata
                .and_then(|metadata| metadata.get("columns"))
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(column, description)| (column.clone(), as_text(description)))
                .collect(),
            sort: text("sort"),
            sort_desc: text("sort_desc"),
            size: option("size").and_then(Size::read),
            facets: option("facets")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(read_facet)
                .collect(),
            facet_size: option("facet_size").and_then(Size::read),
            label_column: text("label_column"),
            sortable_columns: option("sortable_columns")
                .and_then(Value::as_array)
                .map(|columns| columns.iter().map(as_text).collect()),
            hidden: option("hidden").and_then(bool::from_json),
            fts_table: text("fts_table"),
            fts_pk: text("fts_pk"),
            searchmode_raw: option("searchmode").is_some_and(|mode| mode == "raw"),
        }
    }

    /// The description of a column.
    pub fn column_description(&self, column: &str) -> Option<&str> {
        self.columns
            .iter()
            .find(|(name, _)| name == column)
            .map(|(_, description)| description.as_str())
    }
}

/// `"state"`, `{"array": "tags"}` or `{"date": {"simple": "created"}}`.
fn read_facet(value: &Value) -> Option<FacetConfig> {
    let facet = |kind: &str, column: &str| FacetConfig {
        kind: kind.to_owned(),
        column: column.to_owned(),
    };
    match value {
        Value::String(column) => Some(facet("column", column)),
        Value::Object(entry) => {
            let (kind, column) = entry.iter().next()?;
            let column = match column {
                Value::Object(long) => long.get("simple").or_else(|| long.get("column"))?,
                short => short,
            };
            Some(facet(kind, column.as_str()?))
        }
        _ => None,
    }
}

/// Reads the tables of one database, whichever file names them.
pub(super) fn read_tables(
    config: Option<&Map<String, Value>>,
    metadata: Option<&Map<String, Value>>,
) -> HashMap<String, TableConfig> {
    let tables = |entry: Option<&Map<String, Value>>| -> Map<String, Value> {
        entry
            .and_then(|entry| entry.get("tables"))
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    };
    let (config, metadata) = (tables(config), tables(metadata));
    config
        .keys()
        .chain(metadata.keys())
        .map(|name| {
            let config = config.get(name).and_then(Value::as_object);
            let metadata = metadata.get(name).and_then(Value::as_object);
            (name.clone(), TableConfig::read(config, metadata))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(config: &Value) -> TableConfig {
        TableConfig::read(config.as_object(), None)
    }

    #[test]
    fn a_size_is_a_number_or_max() {
        assert_eq!(table(&json!({"size": 10})).size, Some(Size::Rows(10)));
        assert_eq!(table(&json!({"size": "max"})).size, Some(Size::Max));
        assert_eq!(table(&json!({"size": null})).size, None);
        assert_eq!(Size::Max.limited(1000), 1000);
    }

    #[test]
    fn facets_come_in_three_spellings() {
        let facets =
            table(&json!({"facets": ["a", {"array": "b"}, {"date": {"simple": "c"}}, 5]})).facets;
        let read: Vec<_> = facets
            .iter()
            .map(|f| (f.kind.as_str(), f.column.as_str()))
            .collect();
        assert_eq!(read, [("column", "a"), ("array", "b"), ("date", "c")]);
    }

    #[test]
    fn no_sortable_columns_and_an_empty_list_differ() {
        assert_eq!(table(&json!({})).sortable_columns, None);
        assert_eq!(
            table(&json!({"sortable_columns": []})).sortable_columns,
            Some(vec![])
        );
    }

    #[test]
    fn hidden_may_say_no() {
        assert_eq!(table(&json!({"hidden": true})).hidden, Some(true));
        assert_eq!(table(&json!({"hidden": false})).hidden, Some(false));
        assert_eq!(table(&json!({})).hidden, None);
    }
}
