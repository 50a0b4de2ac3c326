//! Every setting of the program with its name, type, default and help: those of
//! Datasette 1.0 under their own names, then ours.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::value::SettingValue;

/// What `--help-settings` tells of one setting.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The name, as typed after `--setting`.
    pub name: &'static str,
    /// What it takes, to finish the sentence "… takes".
    pub takes: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Whether Turntable has it and Datasette does not.
    pub ours: bool,
}

macro_rules! settings {
    ($($origin:ident $name:ident: $type:ty = $default:expr, $help:literal;)+) => {
        /// The settings, typed and checked. See <https://docs.datasette.io/en/latest/settings.html>.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Settings {
            $(#[doc = $help] pub $name: $type,)+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default.into(),)+ }
            }
        }

        /// All settings in the order of `/-/settings.json`.
        pub static DEFINITIONS: &[Definition] = &[
            $(Definition {
                name: stringify!($name),
                takes: <$type as SettingValue>::TAKES,
                help: $help,
                ours: settings!(@ours $origin),
            },)+
        ];

        impl Settings {
            /// Puts a value of a configuration file in its place.
            fn put(&mut self, name: &str, value: &Value) -> Result<(), String> {
                match name {
                    $(stringify!($name) => {
                        self.$name = <$type as SettingValue>::from_json(value)
                            .ok_or_else(|| wrong_value(name, <$type as SettingValue>::TAKES, value))?;
                    })+
                    _ => return Err(unknown(name)),
                }
                Ok(())
            }

            /// One setting as JSON.
            fn shown(&self, name: &str) -> Value {
                match name {
                    $(stringify!($name) => self.$name.to_json(),)+
                    _ => Value::Null,
                }
            }
        }

        /// Turns a word of the command line into the value that a configuration file would hold.
        ///
        /// # Errors
        /// One sentence that names the setting and what it takes.
        pub fn read_word(name: &str, word: &str) -> Result<Value, String> {
            match name {
                $(stringify!($name) => <$type as SettingValue>::from_word(word)
                    .map(|value| value.to_json())
                    .ok_or_else(|| wrong_value(name, <$type as SettingValue>::TAKES, &Value::from(word))),)+
                _ => Err(unknown(name)),
            }
        }
    };
    (@ours datasette) => { false };
    (@ours turntable) => { true };
}

settings! {
    datasette default_page_size: usize = 100usize, "Rows on a table page that does not ask for a size";
    datasette max_returned_rows: usize = 1000usize, "Most rows that a table page or a query returns";
    datasette max_insert_rows: usize = 100usize, "Most rows that one insert request may carry";
    datasette max_post_body_bytes: usize = 2_097_152usize, "Most bytes of a POST body that is held in memory, 0 for no limit";
    datasette num_sql_threads: usize = 3usize, "Threads that run SQL";
    datasette sql_time_limit_ms: u64 = 1000u64, "Milliseconds after which a query is stopped";
    datasette default_facet_size: usize = 30usize, "Values that a facet shows";
    datasette facet_time_limit_ms: u64 = 200u64, "Milliseconds that a facet may take";
    datasette facet_suggest_time_limit_ms: u64 = 50u64, "Milliseconds that one suggested facet may take";
    datasette allow_facet: bool = true, "Whether a visitor may facet with ?_facet=";
    datasette allow_download: bool = true, "Whether database files may be downloaded";
    datasette allow_signed_tokens: bool = true, "Whether signed API tokens are accepted and made";
    datasette default_allow_sql: bool = true, "Whether anyone may run SQL of their own";
    datasette max_signed_tokens_ttl: u64 = 0u64, "Longest life of a signed API token in seconds, 0 for no limit";
    datasette suggest_facets: bool = true, "Whether facets are suggested";
    datasette default_cache_ttl: u64 = 5u64, "Seconds that a page may be cached, sent as max-age";
    datasette cache_size_kb: u64 = 0u64, "SQLite's page cache of a connection in KB, 0 for SQLite's own default";
    datasette allow_csv_stream: bool = true, "Whether ?_stream=1 may send all rows as CSV";
    datasette max_csv_mb: u64 = 100u64, "Most megabytes of a CSV, 0 for no limit";
    datasette truncate_cells_html: usize = 2048usize, "Characters of a cell that an HTML page shows, 0 for all";
    datasette force_https_urls: bool = false, "Whether absolute URLs always begin with https";
    datasette template_debug: bool = false, "Whether ?_context=1 shows the context of a template";
    datasette trace_debug: bool = false, "Whether ?_trace=1 shows the SQL that ran";
    datasette base_url: String = "/", "Path under which the site is reached, such as /data/";
    turntable max_pages: usize = 0usize, "Pages that are worked on at once, 0 to derive it from the threads";
    turntable page_wait_ms: u64 = 5000u64, "Milliseconds that a page waits to be admitted before it is answered 503";
    turntable result_cache_mb: u64 = 64u64, "Megabytes of answers that are kept while their database stays the same, 0 to keep none";
    turntable shutdown_grace_ms: u64 = 10_000u64, "Milliseconds that running requests have to finish after a stop signal";
}

impl Settings {
    /// Reads the `settings` of a configuration. `null` leaves a default.
    ///
    /// # Errors
    /// One sentence that names the setting and what it takes.
    pub fn from_config(values: &Map<String, Value>) -> Result<Self, String> {
        let mut settings = Self::default();
        for (name, value) in values {
            if value.is_null() && is_known(name) {
                continue;
            }
            settings.put(name, value)?;
        }
        settings.base_url = normalised_base(&settings.base_url);
        Ok(settings)
    }

    /// What `/-/settings.json` shows: Datasette's names and no others.
    pub fn as_json(&self) -> Map<String, Value> {
        self.shown_where(|definition| !definition.ours)
    }

    /// Turntable's own settings, for `/-/threads.json`.
    pub fn own_as_json(&self) -> Map<String, Value> {
        self.shown_where(|definition| definition.ours)
    }

    fn shown_where(&self, wanted: impl Fn(&Definition) -> bool) -> Map<String, Value> {
        DEFINITIONS
            .iter()
            .filter(|definition| wanted(definition))
            .map(|definition| (definition.name.to_owned(), self.shown(definition.name)))
            .collect()
    }
}

/// Whether there is a setting of that name.
pub fn is_known(name: &str) -> bool {
    DEFINITIONS.iter().any(|definition| definition.name == name)
}

/// The list that `--help-settings` prints.
pub fn help() -> String {
    let defaults = Settings::default();
    let mut text = String::from("Settings, each given as --setting NAME VALUE:\n");
    for definition in DEFINITIONS {
        let default = match defaults.shown(definition.name) {
            Value::String(text) => text,
            value => value.to_string(),
        };
        let _ = write!(
            text,
            "\n  {}\n      {} (takes {}; default {default})",
            definition.name, definition.help, definition.takes
        );
    }
    text.push('\n');
    text
}

fn wrong_value(name: &str, takes: &str, value: &Value) -> String {
    format!("setting {name} takes {takes}, not {value}")
}

fn unknown(name: &str) -> String {
    let names = DEFINITIONS.iter().map(|definition| definition.name);
    let meant = nearest(name, names);
    format!("there is no setting {name:?}{meant}; --help-settings lists them all")
}

/// ` (did you mean "…"?)` with the name that is most like what was written; `""` if none is.
pub(super) fn nearest(written: &str, names: impl Iterator<Item = &'static str>) -> String {
    const ALIKE: f64 = 0.8;
    names
        .map(|name| (strsim::jaro_winkler(written, name), name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > ALIKE)
        .map(|(_, name)| format!(" (did you mean {name:?}?)"))
        .unwrap_or_default()
}

/// A base that begins and ends with one slash.
fn normalised_base(typed: &str) -> String {
    match typed.trim_matches('/') {
        "" => "/".to_owned(),
        inner => format!("/{inner}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(values: &Value) -> Result<Settings, String> {
        Settings::from_config(values.as_object().expect("an object"))
    }

    #[test]
    fn an_empty_configuration_leaves_the_defaults_of_datasette() {
        let settings = read(&json!({})).expect("defaults");
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.default_page_size, 100);
        assert_eq!(settings.base_url, "/");
        assert!(settings.allow_facet);
    }

    #[test]
    fn every_boolean_word_of_datasette_is_understood() {
        for (word, expected) in [
            ("on", true),
            ("ON", true),
            ("true", true),
            ("1", true),
            ("off", false),
            ("False", false),
            ("0", false),
        ] {
            assert_eq!(
                read_word("allow_facet", word),
                Ok(json!(expected)),
                "{word}"
            );
        }
        let error = read_word("allow_facet", "perhaps").expect_err("no boolean");
        assert_eq!(
            error,
            "setting allow_facet takes on/off, true/false or 1/0, not \"perhaps\""
        );
    }

    #[test]
    fn a_number_has_digits_only() {
        assert_eq!(read_word("default_page_size", "25"), Ok(json!(25)));
        for word in ["-1", "+1", "1.5", "", " 1", "99999999999999999999999"] {
            assert!(read_word("default_page_size", word).is_err(), "{word:?}");
        }
    }

    #[test]
    fn a_wrong_name_is_told() {
        assert!(
            read_word("page_size", "1")
                .expect_err("unknown")
                .contains("page_size")
        );
        let error = read_word("sql_timelimit_ms", "1").expect_err("unknown");
        assert!(
            error.contains("did you mean \"sql_time_limit_ms\"?"),
            "{error}"
        );
        assert!(
            !read_word("zzz", "1")
                .expect_err("unknown")
                .contains("did you mean")
        );
        assert!(read(&json!({"page_size": 1})).is_err());
        assert!(read(&json!({"page_size": null})).is_err());
    }

    #[test]
    fn a_file_gives_types_and_null_means_the_default() {
        let settings =
            read(&json!({"default_page_size": null, "allow_facet": "off", "sql_time_limit_ms": 5}))
                .expect("valid");
        assert_eq!(settings.default_page_size, 100);
        assert!(!settings.allow_facet);
        assert_eq!(settings.sql_time_limit_ms, 5);
        assert!(
            read(&json!({"default_page_size": "5"})).is_err(),
            "text is no number"
        );
        assert!(read(&json!({"allow_facet": 1})).is_err());
    }

    #[test]
    fn a_base_url_begins_and_ends_with_a_slash() {
        for (typed, base) in [
            ("", "/"),
            ("/", "/"),
            ("data", "/data/"),
            ("/a/b", "/a/b/"),
            ("//x//", "/x/"),
        ] {
            assert_eq!(
                read(&json!({"base_url": typed})).expect("valid").base_url,
                base
            );
        }
    }

    #[test]
    fn the_settings_page_shows_the_names_of_datasette_alone() {
        let shown = Settings::default().as_json();
        assert_eq!(shown.len(), 24);
        assert_eq!(
            shown.keys().next().map(String::as_str),
            Some("default_page_size")
        );
        assert!(!shown.contains_key("max_pages"));
        assert_eq!(
            Settings::default().own_as_json().keys().collect::<Vec<_>>(),
            [
                "max_pages",
                "page_wait_ms",
                "result_cache_mb",
                "shutdown_grace_ms"
            ]
        );
    }

    #[test]
    fn the_help_names_every_setting() {
        let text = help();
        assert!(
            DEFINITIONS
                .iter()
                .all(|definition| text.contains(definition.name))
        );
    }
}
