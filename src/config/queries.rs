//! The stored queries of a database: SQL with a name, from the configuration.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::metadata::as_text;

/// A query that the configuration gives a name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredQuery {
    /// The name, a part of its address.
    pub name: String,
    /// The SQL.
    pub sql: String,
    /// The heading of its page.
    pub title: Option<String>,
    /// Plain text below the heading.
    pub description: Option<String>,
    /// HTML that is shown instead of the description.
    pub description_html: Option<String>,
    /// Whether the page shows the SQL only to those who ask for it.
    pub hide_sql: bool,
    /// What follows `#` in links to it.
    pub fragment: Option<String>,
    /// The parameters that its form shows, in order; none for those of the SQL.
    pub parameters: Vec<String>,
    /// Whether it writes.
    pub is_write: bool,
    /// `on_success_message`, `on_success_message_sql`, `on_success_redirect`,
    /// `on_error_message` and `on_error_redirect`, in this order.
    pub outcomes: [Option<String>; 5],
}

/// The keys of [`StoredQuery::outcomes`].
const OUTCOMES: [&str; 5] = [
    "on_success_message",
    "on_success_message_sql",
    "on_success_redirect",
    "on_error_message",
    "on_error_redirect",
];

/// The stored queries of one database.
#[derive(Debug, Clone, Default)]
pub struct StoredQueries {
    sorted: Vec<Arc<StoredQuery>>,
    by_name: HashMap<String, Arc<StoredQuery>>,
}

impl StoredQueries {
    /// Reads the `queries` of a database's configuration.
    ///
    /// # Errors
    /// One sentence on a query that has no SQL.
    pub(super) fn read(database: &Map<String, Value>) -> Result<Self, String> {
        let entries = match database.get("queries") {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Object(entries)) => entries,
            Some(_) => return Err("queries: a mapping of names to SQL is expected".to_owned()),
        };
        let read = entries.iter().map(|(name, entry)| {
            StoredQuery::read(name, entry)
                .map(Arc::new)
                .map_err(|reason| format!("queries.{name}: {reason}"))
        });
        let mut sorted = read.collect::<Result<Vec<_>, _>>()?;
        sorted.sort_by_cached_key(|query| (query.sort_key(), query.name.clone()));
        let by_name = sorted
            .iter()
            .map(|query| (query.name.clone(), query.clone()))
            .collect();
        Ok(Self { sorted, by_name })
    }

    /// All of them, by title.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StoredQuery>> {
        self.sorted.iter()
    }

    /// The query of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<StoredQuery>> {
        self.by_name.get(name)
    }
}

impl StoredQuery {
    fn read(name: &str, entry: &Value) -> Result<Self, &'static str> {
        let mut query = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let entry = match entry {
            Value::String(sql) => {
                query.sql.clone_from(sql);
                return Ok(query);
            }
            Value::Object(entry) => entry,
            _ => return Err("SQL is expected, or a mapping with the key sql"),
        };
        let text = |key: &str| entry.get(key).filter(|v| !v.is_null()).map(as_text);
        let switch = |key: &str| entry.get(key).is_some_and(is_true);
        let parameters = entry.get("params").and_then(Value::as_array);
        query.sql = text("sql").ok_or("the key sql is missing")?;
        query.title = text("title");
        query.description = text("description");
        query.description_html = text("description_html");
        query.hide_sql = switch("hide_sql");
        query.fragment = text("fragment");
        query.parameters = parameters.into_iter().flatten().map(as_text).collect();
        query.is_write = switch("write");
        query.outcomes = OUTCOMES.map(text);
        Ok(query)
    }

    /// What its page and links to it call it.
    pub fn label(&self) -> &str {
        match self.title.as_deref() {
            Some(title) if !title.is_empty() => title,
            _ => &self.name,
        }
    }

    /// What lists are sorted by, before the name.
    pub fn sort_key(&self) -> String {
        self.label().to_ascii_lowercase()
    }

    /// All that is known of it, as Datasette's JSON says it.
    pub fn as_json(&self, database: &str) -> Map<String, Value> {
        let mut all = Map::new();
        let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
        put("database", database.into());
        put("name", self.name.as_str().into());
        put("sql", self.sql.as_str().into());
        put("title", json!(self.title));
        put("description", json!(self.description));
        put("description_html", json!(self.description_html));
        put("hide_sql", self.hide_sql.into());
        put("fragment", json!(self.fragment));
        put("parameters", json!(self.parameters));
        put("is_write", self.is_write.into());
        put("is_private", false.into());
        put("is_trusted", true.into());
        put("source", "config".into());
        put("owner_id", Value::Null);
        for (key, value) in OUTCOMES.iter().zip(&self.outcomes) {
            put(key, json!(value));
        }
        all
    }
}

/// What a configuration takes for a switch that is on.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(on) => *on,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(word) => !matches!(word.as_str(), "" | "0" | "off" | "false" | "no"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(queries: &Value) -> Result<StoredQueries, String> {
        StoredQueries::read(json!({"queries": queries}).as_object().unwrap())
    }

    #[test]
    fn a_query_is_sql_or_sql_with_what_there_is_to_say_of_it() {
        let queries = read(&json!({
            "b": "select 1",
            "a": {"sql": "select :x", "title": "Zed", "params": ["x"], "hide_sql": true, "write": 0,
                  "on_success_redirect": "/"},
            "C": {"sql": "select 3"},
        }))
        .unwrap();
        let order: Vec<&str> = queries.iter().map(|query| query.name.as_str()).collect();
        assert_eq!(order, ["b", "C", "a"], "by title, whatever the case");
        let a = queries.get("a").unwrap();
        assert!(a.hide_sql && !a.is_write);
        assert_eq!(
            (a.label(), a.parameters.as_slice()),
            ("Zed", &["x".to_owned()][..])
        );
        assert_eq!(a.as_json("d")["on_success_redirect"], "/");
        assert_eq!(queries.get("b").unwrap().sql, "select 1");
        assert_eq!(queries.get("none"), None);
    }

    #[test]
    fn a_query_without_sql_is_told_by_name() {
        for wrong in [json!({"title": "T"}), json!(5), json!({"sql": null})] {
            let reason = read(&json!({"q": wrong})).unwrap_err();
            assert!(
                reason.starts_with("queries.q: ")
                    && reason.contains("sql") | reason.contains("SQL"),
                "{reason}"
            );
        }
        assert!(read(&json!(["select 1"])).is_err());
    }
}
