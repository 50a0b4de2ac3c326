//! The configuration: settings, metadata and the options of databases and
//! tables, read and checked once when the program starts and never changed
//! after. A page looks its table up in a hash map and borrows what it finds.

pub mod file;
mod metadata;
mod queries;
mod references;
pub mod settings;
mod table;
mod value;

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::auth::AccessOptions;
pub use metadata::Metadata;
pub use queries::{StoredQueries, StoredQuery};
use references::{MASK, Resolved, is_reference};
pub use settings::Settings;
pub use table::{FacetConfig, Size, TableConfig};

/// Keys whose values `/-/config.json` does not show.
const SECRET_WORDS: [&str; 6] = ["secret", "key", "password", "token", "hash", "dsn"];

/// Keys that a configuration may have at its top, besides `settings`.
const TOP_KEYS: [&str; 9] = [
    "allow",
    "allow_sql",
    "databases",
    "extra_css_urls",
    "extra_js_urls",
    "permissions",
    "plugins",
    "settings",
    "column_types",
];

/// What is configured of one database.
#[derive(Debug, Clone, Default)]
pub struct DatabaseConfig {
    /// Title, description, source and so on.
    pub metadata: Metadata,
    /// Its stored queries.
    pub queries: StoredQueries,
    /// The whole entry of the configuration, for its access rules.
    pub raw: Map<String, Value>,
    tables: HashMap<String, TableConfig>,
}

/// Everything that was configured.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The settings.
    pub settings: Settings,
    instance: Metadata,
    databases: HashMap<String, DatabaseConfig>,
    raw: Map<String, Value>,
    /// What `/-/config.json` shows.
    shown: Map<String, Value>,
    /// `--default-deny`: where no rule speaks, nobody may do anything.
    pub default_deny: bool,
    /// `--version-note`
    pub version_note: Option<String>,
    /// What whoever starts the program should know, a sentence each.
    pub warnings: Vec<String>,
    no_database: DatabaseConfig,
    no_table: TableConfig,
}

impl Config {
    /// Makes the configuration of a metadata file's and a configuration file's mappings.
    ///
    /// # Errors
    /// One sentence on a setting that does not exist or does not take its value.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the files are read for this alone"
    )]
    pub fn new(metadata: Map<String, Value>, config: Map<String, Value>) -> Result<Self, String> {
        let settings = read_settings(&config)?;
        let warnings = unknown_keys(&config);
        let (metadata, config) = (Resolved::of(&metadata)?, Resolved::of(&config)?);
        let unset: BTreeSet<_> = metadata.unset.iter().chain(&config.unset).collect();
        let unset = unset.into_iter().map(|name| {
            format!("the configuration asks for the environment variable {name}, which is not set")
        });
        let warnings = warnings.into_iter().chain(unset).collect();
        let mut shown = config.shown;
        file::move_options(&mut metadata.shown.clone(), &mut shown);
        let (mut metadata, mut config) = (metadata.values, config.values);
        file::move_options(&mut metadata, &mut config);
        let databases = read_databases(&metadata, &config)?;
        Ok(Self {
            settings,
            instance: Metadata::read(&metadata, &["databases"]),
            databases,
            raw: config,
            shown,
            default_deny: false,
            version_note: None,
            warnings,
            no_database: DatabaseConfig::default(),
            no_table: TableConfig::default(),
        })
    }

    /// What is said of the whole site.
    pub fn instance(&self) -> &Metadata {
        &self.instance
    }

    /// What is configured of a database; nothing, if it is not mentioned.
    pub fn database(&self, database: &str) -> &DatabaseConfig {
        self.databases.get(database).unwrap_or(&self.no_database)
    }

    /// What is configured of a table; nothing, if it is not mentioned.
    pub fn table(&self, database: &str, table: &str) -> &TableConfig {
        self.databases
            .get(database)
            .and_then(|database| database.tables.get(table))
            .unwrap_or(&self.no_table)
    }

    /// The HTML of all descriptions that the metadata has.
    pub fn descriptions(&self) -> impl Iterator<Item = &str> {
        let databases = self.databases.values().flat_map(|database| {
            let tables = database.tables.values().map(|table| &table.metadata);
            tables.chain([&database.metadata])
        });
        let all = databases.chain([&self.instance]);
        all.map(|metadata| metadata.description_html.as_str())
    }

    /// The configuration without its secrets, for `/-/config.json`.
    pub fn redacted(&self) -> Value {
        redact(&Value::Object(self.shown.clone()))
    }

    /// What the settings say of access.
    pub fn access_options(&self) -> AccessOptions {
        AccessOptions {
            allow_sql: self.settings.default_allow_sql,
            allow_download: self.settings.allow_download,
            default_deny: self.default_deny,
            ..AccessOptions::default()
        }
    }

    /// The configuration as it was read, secrets and all.
    pub fn raw(&self) -> &Map<String, Value> {
        &self.raw
    }
}

/// Turns `--setting NAME VALUE` into the mapping that a configuration file would have for it.
///
/// # Errors
/// One sentence on a name that does not exist or a value that it does not take.
pub fn from_command_line(name: &str, value: &str) -> Result<Map<String, Value>, String> {
    let setting = name.strip_prefix("settings.").unwrap_or(name);
    if name.starts_with("settings.") || !TOP_KEYS.contains(&name) && !name.contains('.') {
        let value = settings::read_word(setting, value)?;
        return Ok(file::nest(&format!("settings.{setting}"), value));
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok(file::nest(name, value))
}

/// The settings. A value from the environment or a file is a text, and read as a word of the command line would be.
fn read_settings(config: &Map<String, Value>) -> Result<Settings, String> {
    let written = match config.get("settings") {
        None | Some(Value::Null) => return Settings::from_config(&Map::new()),
        Some(Value::Object(written)) => written,
        Some(_) => return Err("settings: a mapping of names to values is expected".to_owned()),
    };
    let mut values = Resolved::of(written)?.values;
    for (name, value) in &mut values {
        if let (true, Value::String(text)) = (is_reference(&written[name]), &value) {
            *value = settings::read_word(name, text.trim())?;
        }
    }
    Settings::from_config(&values)
}

/// What stands at the top of the configuration and means nothing, a sentence each. Not an error:
/// a later Datasette may know it.
fn unknown_keys(config: &Map<String, Value>) -> Vec<String> {
    config
        .keys()
        .filter(|key| !TOP_KEYS.contains(&key.as_str()))
        .map(|key| {
            let meant = settings::nearest(key, TOP_KEYS.into_iter());
            format!("the configuration has a key {key:?}, which means nothing here{meant}")
        })
        .collect()
}

fn read_databases(
    metadata: &Map<String, Value>,
    config: &Map<String, Value>,
) -> Result<HashMap<String, DatabaseConfig>, String> {
    fn databases(map: &Map<String, Value>) -> Option<&Map<String, Value>> {
        map.get("databases").and_then(Value::as_object)
    }
    let (metadata, config) = (databases(metadata), databases(config));
    let entry = |map: Option<&Map<String, Value>>, name: &str| {
        map.and_then(|map| map.get(name))
            .and_then(Value::as_object)
            .cloned()
    };
    metadata
        .into_iter()
        .chain(config)
        .flat_map(Map::keys)
        .map(|name| {
            let (metadata, config) = (entry(metadata, name), entry(config, name));
            let queries = config.as_ref().map(StoredQueries::read).transpose();
            let read = DatabaseConfig {
                queries: queries
                    .map_err(|reason| format!("databases.{name}.{reason}"))?
                    .unwrap_or_default(),
                metadata: metadata
                    .as_ref()
                    .map(|metadata| Metadata::read(metadata, &["tables", "queries"]))
                    .unwrap_or_default(),
                tables: table::read_tables(config.as_ref(), metadata.as_ref()),
                raw: config.unwrap_or_default(),
            };
            Ok((name.clone(), read))
        })
        .collect()
}

fn redact(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| {
                    let lower = key.to_lowercase();
                    let secret = SECRET_WORDS.iter().any(|word| lower.contains(word));
                    let value = if secret {
                        Value::from(MASK)
                    } else {
                        redact(value)
                    };
                    (key.clone(), value)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(redact).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(metadata: &Value, config: &Value) -> Config {
        let object = |value: &Value| value.as_object().expect("an object").clone();
        Config::new(object(metadata), object(config)).expect("valid")
    }

    #[test]
    fn a_table_takes_options_from_both_files() {
        let config = config(
            &json!({"title": "Site", "databases": {"d": {"source": "S", "tables": {"t": {
                "title": "T", "columns": {"a": "first"}, "sort": "a"}}}}}),
            &json!({"databases": {"d": {"tables": {"t": {"facets": ["a"]}, "u": {"hidden": true}}}}}),
        );
        assert_eq!(config.instance().title, "Site");
        assert_eq!(config.database("d").metadata.source, "S");
        let table = config.table("d", "t");
        assert_eq!(table.metadata.title, "T");
        assert_eq!(table.column_description("a"), Some("first"));
        assert_eq!(table.sort.as_deref(), Some("a"));
        assert_eq!(table.facets.len(), 1);
        assert_eq!(config.table("d", "u").hidden, Some(true));
        assert_eq!(config.table("d", "none"), &TableConfig::default());
        assert_eq!(config.table("none", "t"), &TableConfig::default());
    }

    #[test]
    fn secrets_are_not_shown() {
        let config = config(
            &json!({}),
            &json!({"plugins": {"p": {"API_Key": "x", "list": [{"password": 1}], "url": "u"}}}),
        );
        assert_eq!(
            config.redacted(),
            json!({"plugins": {"p": {"API_Key": "***", "list": [{"password": "***"}], "url": "u"}}})
        );
    }

    #[test]
    fn what_comes_from_elsewhere_is_used_and_not_shown() {
        let config = config(
            &json!({"title": {"$env": "CARGO_PKG_NAME"},
                "databases": {"d": {"tables": {"t": {"sort": {"$env": "CARGO_PKG_NAME"}}}}}}),
            &json!({
                "settings": {"default_page_size": {"$env": "CARGO_PKG_VERSION_MAJOR"}},
                "plugins": {"p": {"url": {"$env": "CARGO_PKG_NAME"}}}
            }),
        );
        assert_eq!(config.instance().title, "turntable");
        assert_eq!(config.table("d", "t").sort.as_deref(), Some("turntable"));
        assert_eq!(config.settings.default_page_size, 0);
        assert_eq!(
            config.redacted(),
            json!({
                "settings": {"default_page_size": "***"},
                "plugins": {"p": {"url": "***"}},
                "databases": {"d": {"tables": {"t": {"sort": "***"}}}}
            })
        );
        assert!(config.warnings.is_empty());
    }

    #[test]
    fn what_means_nothing_is_told_with_what_may_have_been_meant() {
        let config = config(&json!({}), &json!({"setings": {}, "plugins": {}}));
        let [warning] = config.warnings.as_slice() else {
            panic!("{:?}", config.warnings);
        };
        assert!(
            warning.contains("\"setings\"") && warning.contains("\"settings\""),
            "{warning}"
        );
    }

    #[test]
    fn the_command_line_knows_settings_and_dotted_names() {
        let read = |name, value| from_command_line(name, value).map(Value::Object);
        assert_eq!(
            read("default_page_size", "7"),
            Ok(json!({"settings": {"default_page_size": 7}}))
        );
        assert_eq!(
            read("databases.data.tables.t.sort", "col"),
            Ok(json!({"databases": {"data": {"tables": {"t": {"sort": "col"}}}}}))
        );
        assert_eq!(
            read("databases.data.tables.t.facets", "[\"a\"]"),
            Ok(json!({"databases": {"data": {"tables": {"t": {"facets": ["a"]}}}}}))
        );
        assert_eq!(
            read("settings.allow_facet", "0"),
            Ok(json!({"settings": {"allow_facet": false}}))
        );
        assert_eq!(
            read("allow", "{\"id\": \"root\"}"),
            Ok(json!({"allow": {"id": "root"}}))
        );
        for name in ["page_size", "settings.page_size"] {
            assert!(
                read(name, "1")
                    .expect_err("unknown")
                    .contains("\"page_size\""),
                "{name}"
            );
        }
    }

    #[test]
    fn a_wrong_setting_in_a_file_is_told_by_name() {
        let wrong = json!({"settings": {"sql_time_limit_ms": "soon"}});
        let error = Config::new(Map::new(), wrong.as_object().expect("object").clone())
            .expect_err("no number");
        assert_eq!(
            error,
            "setting sql_time_limit_ms takes a whole number, 0 or more, not \"soon\""
        );
    }
}
