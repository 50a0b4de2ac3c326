//! What a person should know of the site, a database or a table: title,
//! description, source, licence.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::text::json;

/// The named texts of one level, each `""` when absent, as templates want them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Metadata {
    /// The heading of the page.
    pub title: String,
    /// Plain text below the heading.
    pub description: String,
    /// HTML that is shown instead of the description.
    pub description_html: String,
    /// Where the data comes from.
    pub source: String,
    /// A link for the source.
    pub source_url: String,
    /// The licence of the data.
    pub license: String,
    /// A link for the licence.
    pub license_url: String,
    /// What the data is about.
    pub about: String,
    /// A link for it.
    pub about_url: String,
    /// All that the file says of this level, known here or not, as text: the
    /// `metadata` of the JSON pages.
    #[serde(skip)]
    pub all: Map<String, Value>,
}

impl Metadata {
    /// Reads one level; keys in `below` belong to the levels under it.
    pub(super) fn read(entry: &Map<String, Value>, below: &[&str]) -> Self {
        let text = |key: &str| entry.get(key).map(as_text).unwrap_or_default();
        Self {
            title: text("title"),
            description: text("description"),
            description_html: text("description_html"),
            source: text("source"),
            source_url: text("source_url"),
            license: text("license"),
            license_url: text("license_url"),
            about: text("about"),
            about_url: text("about_url"),
            all: entry
                .iter()
                .filter(|(key, _)| !below.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), Value::String(as_text(value))))
                .collect(),
        }
    }
}

/// Datasette keeps metadata as text: what is no text is written as Python's JSON.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => {
            let mut out = Vec::new();
            // A tree that was read from JSON or YAML can be written.
            let _ = json::push_tree(&mut out, other);
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_texts_are_named_and_all_of_them_are_kept() {
        let entry = json!({"title": "T", "license": null, "custom": {"a": 1}, "tables": {"x": {}}});
        let metadata = Metadata::read(entry.as_object().expect("object"), &["tables"]);
        assert_eq!(metadata.title, "T");
        assert_eq!(metadata.source, "");
        assert_eq!(
            Value::Object(metadata.all),
            json!({"title": "T", "license": "null", "custom": "{\"a\": 1}"})
        );
    }
}
