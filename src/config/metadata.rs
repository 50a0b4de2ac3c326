//! What a person should know of the site, a database or a table: title,
//! description, source, licence.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::text::json;

/// Schemes of addresses that may be links.
const SCHEMES: [&str; 5] = ["http", "https", "ftp", "mailto", "tel"];

/// The texts that have a field of their own.
const NAMED: [&str; 9] = [
    "title",
    "description",
    "description_html",
    "source",
    "source_url",
    "license",
    "license_url",
    "about",
    "about_url",
];

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
    /// What else the file says of this level, for templates of the site.
    #[serde(flatten)]
    pub others: Map<String, Value>,
    /// All that the file says of this level, known here or not, as text: the
    /// `metadata` of the JSON pages.
    #[serde(skip)]
    pub all: Map<String, Value>,
}

impl Metadata {
    /// Reads one level; keys in `below` belong to the levels under it.
    pub(super) fn read(entry: &Map<String, Value>, below: &[&str]) -> Self {
        let text = |key: &str| {
            let value = entry.get(key).filter(|value| !value.is_null());
            value.map(as_text).unwrap_or_default()
        };
        let named = |name: &str, url: &str| named_link(text(name), text(url));
        let (source, source_url) = named("source", "source_url");
        let (license, license_url) = named("license", "license_url");
        let (about, about_url) = named("about", "about_url");
        Self {
            title: text("title"),
            description: text("description"),
            description_html: text("description_html"),
            source,
            source_url,
            license,
            license_url,
            about,
            about_url,
            others: entry
                .iter()
                .filter(|(key, _)| !NAMED.contains(&key.as_str()) && !below.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            all: entry
                .iter()
                .filter(|(key, _)| !below.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), Value::String(as_text(value))))
                .collect(),
        }
    }
}

/// A name and its link. What could run a script when it is clicked is no link; it
/// stays as a name if there is no other.
fn named_link(name: String, url: String) -> (String, String) {
    if is_link(&url) {
        (name, url)
    } else if name.is_empty() {
        (url, String::new())
    } else {
        (name, String::new())
    }
}

/// Whether an address is one of this site, or has one of the schemes that only lead somewhere.
fn is_link(url: &str) -> bool {
    let beginning = url.split(['/', '?', '#']).next().unwrap_or_default();
    match beginning.split_once(':') {
        None => true,
        Some((scheme, _)) => SCHEMES
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme)),
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
    fn an_address_that_could_run_a_script_is_no_link() {
        for url in [
            "javascript:alert(1)",
            " javascript:alert(1)",
            "JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
        ] {
            let entry = json!({"source_url": url, "license": "L", "license_url": url});
            let metadata = Metadata::read(entry.as_object().expect("object"), &[]);
            assert_eq!(metadata.source_url, "", "{url}");
            assert_eq!(metadata.source, url);
            assert_eq!(
                (metadata.license.as_str(), metadata.license_url.as_str()),
                ("L", "")
            );
            assert_eq!(metadata.all["source_url"], url, "the JSON has it as it is");
        }
        for url in [
            "https://e.com/a:b",
            "/a:b",
            "a?b:c",
            "mailto:a@b",
            "HTTP://e.com",
            "x",
            "",
        ] {
            let entry = json!({"about_url": url});
            let metadata = Metadata::read(entry.as_object().expect("object"), &[]);
            assert_eq!(metadata.about_url, url);
        }
    }

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
