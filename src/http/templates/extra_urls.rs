//! `extra_css_urls` and `extra_js_urls`: style sheets and scripts that the
//! configuration adds to all pages, or to those of a database, a table or a stored query.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::names::Subject;
use crate::config::Config;

/// The key of the style sheets, in the configuration and in templates.
pub const CSS: &str = "extra_css_urls";
/// The key of the scripts.
pub const JS: &str = "extra_js_urls";

/// A file that a page loads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtraUrl {
    /// Where it is.
    pub url: String,
    /// Its integrity hash, or nothing.
    pub sri: String,
    /// Whether a script is a module.
    pub module: bool,
}

/// What one level of the configuration adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Level {
    /// Style sheets.
    pub css: Vec<ExtraUrl>,
    /// Scripts.
    pub js: Vec<ExtraUrl>,
}

/// Where in a database something is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Place {
    Database(String),
    Table(String, String),
    Query(String, String),
}

/// The files of every level that has some.
#[derive(Debug, Default)]
pub struct ExtraUrls {
    instance: Level,
    others: HashMap<Place, Level>,
}

impl ExtraUrls {
    /// Reads them. An address that begins with one slash is one of this server, and gets its `base_url`.
    pub fn read(config: &Config) -> Self {
        let base = config.settings.base_url.trim_end_matches('/');
        let mut others = HashMap::new();
        let mut add = |place, entry: &Value| {
            let level = entry.as_object().map(|map| level(map, base));
            if let Some(level) = level.filter(|level| *level != Level::default()) {
                others.insert(place, level);
            }
        };
        for (database, entry) in members(config.raw().get("databases")) {
            add(Place::Database(database.clone()), entry);
            for (table, entry) in members(entry.get("tables")) {
                add(Place::Table(database.clone(), table.clone()), entry);
            }
            for (query, entry) in members(entry.get("queries")) {
                add(Place::Query(database.clone(), query.clone()), entry);
            }
        }
        Self {
            instance: level(config.raw(), base),
            others,
        }
    }

    /// Those of all pages.
    pub fn instance(&self) -> &Level {
        &self.instance
    }

    /// Those of one page, if there are more than those of all pages: of the site first.
    pub fn of(&self, subject: &Subject<'_>) -> Option<Level> {
        if self.others.is_empty() {
            return None;
        }
        let (database, inner) = match *subject {
            Subject::Database(database) | Subject::Query(database, None) => (database, None),
            Subject::Table(database, table) | Subject::Row(database, table) => (
                database,
                Some(Place::Table(database.to_owned(), table.to_owned())),
            ),
            Subject::Query(database, Some(query)) => (
                database,
                Some(Place::Query(database.to_owned(), query.to_owned())),
            ),
            Subject::Index | Subject::Error(_) | Subject::Other(_) => return None,
        };
        let database = self.others.get(&Place::Database(database.to_owned()));
        let inner = inner.and_then(|place| self.others.get(&place));
        if database.is_none() && inner.is_none() {
            return None;
        }
        let mut all = self.instance.clone();
        for level in database.into_iter().chain(inner) {
            for (list, more) in [(&mut all.css, &level.css), (&mut all.js, &level.js)] {
                for url in more {
                    // A page loads no file twice.
                    if !list.contains(url) {
                        list.push(url.clone());
                    }
                }
            }
        }
        Some(all)
    }
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

fn level(entry: &Map<String, Value>, base: &str) -> Level {
    Level {
        css: urls(entry.get(CSS), base),
        js: urls(entry.get(JS), base),
    }
}

/// A list of addresses or of `{url, sri, module}`; one alone is a list of one.
fn urls(listed: Option<&Value>, base: &str) -> Vec<ExtraUrl> {
    let one = listed.filter(|value| !value.is_array() && !value.is_null());
    let many = listed.and_then(Value::as_array);
    many.into_iter()
        .flatten()
        .chain(one)
        .filter_map(|entry| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str);
            let url = entry.as_str().or_else(|| text("url"))?;
            let is_ours = url.starts_with('/') && !url.starts_with("//");
            Some(ExtraUrl {
                url: if is_ours {
                    format!("{base}{url}")
                } else {
                    url.to_owned()
                },
                sri: text("sri").unwrap_or_default().to_owned(),
                module: entry
                    .get("module")
                    .and_then(Value::as_bool)
                    .unwrap_or_default(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(config: &Value) -> ExtraUrls {
        let config = config.as_object().expect("an object").clone();
        ExtraUrls::read(&Config::new(Map::new(), config).expect("valid"))
    }

    fn css(level: &Level) -> String {
        let urls = level.css.iter().map(|css| css.url.as_str());
        urls.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn addresses_of_this_server_get_its_base() {
        let read = read(&json!({
            "settings": {"base_url": "/d/"},
            "extra_css_urls": ["/x.css", "//cdn/z.css", {"url": "https://e.com/y.css", "sri": "sha"}],
            "extra_js_urls": {"url": "m.js", "module": true},
        }));
        let level = read.instance();
        assert_eq!(css(level), "/d/x.css //cdn/z.css https://e.com/y.css");
        assert_eq!(level.css[2].sri, "sha");
        assert!(level.js[0].module && level.js[0].url == "m.js");
        assert_eq!(read.of(&Subject::Database("d")), None);
    }

    #[test]
    fn a_page_has_those_of_its_database_and_of_itself() {
        let read = read(&json!({
            "extra_css_urls": ["a"],
            "databases": {"d": {
                "extra_css_urls": ["b", "a"],
                "tables": {"t": {"extra_css_urls": ["c"]}},
                "queries": {"q": {"sql": "select 1", "extra_css_urls": ["e"]}, "plain": "select 2"},
            }},
        }));
        for (subject, urls) in [
            (Subject::Index, None),
            (Subject::Database("d"), Some("a b")),
            (Subject::Table("d", "t"), Some("a b c")),
            (Subject::Row("d", "t"), Some("a b c")),
            (Subject::Table("d", "other"), Some("a b")),
            (Subject::Query("d", None), Some("a b")),
            (Subject::Query("d", Some("q")), Some("a b e")),
            (Subject::Query("d", Some("plain")), Some("a b")),
            (Subject::Table("other", "t"), None),
        ] {
            let found = read.of(&subject).map(|level| css(&level));
            assert_eq!(found.as_deref(), urls, "{subject:?}");
        }
    }
}
