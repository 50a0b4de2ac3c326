//! Metadata and configuration files: YAML or JSON in, one JSON value out, with
//! the options that Datasette 0.x kept in `metadata.json` moved to where 1.0
//! reads them.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

/// What an option of a table is called; in metadata it belongs to the configuration.
const TABLE_OPTIONS: [&str; 10] = [
    "hidden",
    "sort",
    "sort_desc",
    "size",
    "sortable_columns",
    "label_column",
    "facets",
    "fts_table",
    "fts_pk",
    "searchmode",
];

/// Keys whose values are true or false, where a word such as `yes` stands for one of them.
const SWITCHES: [&str; 5] = [
    "allow",
    "allow_sql",
    "unauthenticated",
    "hidden",
    "hide_sql",
];

/// Reads a file that holds one mapping, in JSON or YAML; `-` is standard input.
///
/// # Errors
/// One sentence that names the file: it cannot be read, is neither JSON nor
/// YAML, or holds something else than a mapping.
pub fn read(path: &Path) -> Result<Map<String, Value>, String> {
    let text = if path.as_os_str() == "-" {
        io::read_to_string(io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Parses JSON, or YAML where it is no JSON.
fn parse(text: &str) -> Result<Map<String, Value>, String> {
    let value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) => from_yaml(text)?,
    };
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err("a mapping is expected at the top".to_owned()),
    }
}

fn from_yaml(text: &str) -> Result<Value, String> {
    let mut value: serde_norway::Value =
        serde_norway::from_str(text).map_err(|error| format!("not valid JSON or YAML: {error}"))?;
    value
        .apply_merge()
        .map_err(|error| format!("not valid YAML: {error}"))?;
    let mut value = yaml_to_json(value);
    read_switches(&mut value);
    Ok(value)
}

/// YAML 1.1, which Datasette's files are written in, reads a bare `no` as false where
/// YAML 1.2 has a text. It is false in rules, where a mistake would shut people out;
/// elsewhere it may well be a text, such as a country.
fn read_switches(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if SWITCHES.contains(&key.as_str())
                    && let Some(switch) = value.as_str().and_then(switch)
                {
                    *value = Value::Bool(switch);
                }
                read_switches(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(read_switches),
        _ => {}
    }
}

fn switch(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "yes" | "on" => Some(true),
        "no" | "off" => Some(false),
        _ => None,
    }
}

/// YAML has keys that are no text (`2020:`); they become text, as a database or a column would be called.
fn yaml_to_json(value: serde_norway::Value) -> Value {
    use serde_norway::Value as Yaml;
    match value {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => Value::Bool(value),
        Yaml::Number(number) => serde_json::to_value(&number).unwrap_or(Value::Null),
        Yaml::String(text) => Value::String(text),
        Yaml::Sequence(items) => Value::Array(items.into_iter().map(yaml_to_json).collect()),
        Yaml::Mapping(pairs) => Value::Object(
            pairs
                .into_iter()
                .map(|(key, value)| (key_text(key), yaml_to_json(value)))
                .collect(),
        ),
        Yaml::Tagged(tagged) => yaml_to_json(tagged.value),
    }
}

fn key_text(key: serde_norway::Value) -> String {
    match yaml_to_json(key) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Adds `update` to `base`: mappings are merged, everything else is replaced.
pub fn merge(base: &mut Map<String, Value>, update: Map<String, Value>) {
    for (key, value) in update {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(inner)), Value::Object(update)) => merge(inner, update),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// `("databases.data.tables.t.sort", "col")` as nested mappings. A value that is JSON is taken as JSON.
pub fn nest(dotted: &str, value: Value) -> Map<String, Value> {
    let (key, value) = match dotted.split_once('.') {
        Some((key, rest)) => (key, Value::Object(nest(rest, value))),
        None => (dotted, value),
    };
    Map::from_iter([(key.to_owned(), value)])
}

/// Moves what Datasette 1.0 reads from the configuration (`plugins`, `allow`
/// and the options of tables) out of the metadata.
pub fn move_options(metadata: &mut Map<String, Value>, config: &mut Map<String, Value>) {
    move_access(metadata, &mut Vec::new(), config);
    let databases = metadata.get_mut("databases").and_then(Value::as_object_mut);
    for (database, entry) in databases.into_iter().flatten() {
        let tables = entry.get_mut("tables").and_then(Value::as_object_mut);
        for (table, entry) in tables.into_iter().flatten() {
            let Some(entry) = entry.as_object_mut() else {
                continue;
            };
            for option in TABLE_OPTIONS {
                if let Some(value) = entry.shift_remove(option) {
                    let path = ["databases", database, "tables", table];
                    if let Some(place) = descend(config, path) {
                        place.insert(option.to_owned(), value);
                    }
                }
            }
        }
    }
    prune(metadata);
}

/// Moves every `plugins` and `allow`, at whatever depth.
fn move_access(
    source: &mut Map<String, Value>,
    path: &mut Vec<String>,
    config: &mut Map<String, Value>,
) {
    for key in ["plugins", "allow"] {
        if let Some(value) = source.shift_remove(key)
            && let Some(place) = descend(config, path.iter().map(String::as_str))
        {
            place.insert(key.to_owned(), value);
        }
    }
    for (key, value) in source {
        if let Value::Object(inner) = value {
            path.push(key.clone());
            move_access(inner, path, config);
            path.pop();
        }
    }
}

/// The mapping at a path, made where it is missing; `None` where something else is in the way.
fn descend<'m, 'p>(
    mut map: &'m mut Map<String, Value>,
    path: impl IntoIterator<Item = &'p str>,
) -> Option<&'m mut Map<String, Value>> {
    for step in path {
        map = map
            .entry(step)
            .or_insert_with(|| Value::Object(Map::new()))
            .as_object_mut()?;
    }
    Some(map)
}

/// Drops mappings that hold nothing, from the leaves up.
fn prune(map: &mut Map<String, Value>) {
    map.retain(|_, value| match value {
        Value::Object(inner) => {
            prune(inner);
            !inner.is_empty()
        }
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn json_and_yaml_read_the_same_and_keep_their_order() {
        let from_json = parse(r#"{"title": "T", "databases": {"b": {}, "a": {}}}"#).expect("JSON");
        let from_yaml = parse("title: T\ndatabases:\n  b: {}\n  a: {}\n").expect("YAML");
        assert_eq!(from_json, from_yaml);
        let keys: Vec<_> = from_yaml["databases"]
            .as_object()
            .expect("object")
            .keys()
            .collect();
        assert_eq!(keys, ["b", "a"]);
    }

    #[test]
    fn an_empty_file_is_an_empty_configuration_and_a_list_is_an_error() {
        assert!(parse("").expect("empty").is_empty());
        assert!(parse("# only a comment\n").expect("empty").is_empty());
        assert!(parse("- 1\n- 2\n").expect_err("a list").contains("mapping"));
        assert!(parse("a: [1, 2").is_err());
    }

    #[test]
    fn a_number_as_a_key_names_a_database() {
        let map = parse("databases:\n  2020:\n    title: Year\n").expect("YAML");
        assert_eq!(map["databases"]["2020"]["title"], "Year");
    }

    #[test]
    fn words_for_true_and_false_are_such_in_rules() {
        let yaml = "allow: no\ndatabases: {d: {allow: {unauthenticated: yes}, source: no}}\n";
        let map = parse(yaml).expect("YAML");
        assert_eq!(map["allow"], false);
        assert_eq!(
            map["databases"]["d"],
            json!({"allow": {"unauthenticated": true}, "source": "no"})
        );
        let map = parse(r#"{"allow": "no"}"#).expect("JSON");
        assert_eq!(map["allow"], "no");
    }

    #[test]
    fn yaml_merge_keys_are_applied() {
        let map = parse("base: &b {sort: x}\nother:\n  <<: *b\n  size: 3\n").expect("YAML");
        assert_eq!(map["other"], json!({"sort": "x", "size": 3}));
    }

    #[test]
    fn a_dotted_name_nests_and_merges_without_losing_its_neighbours() {
        let mut config = object(&json!({"databases": {"data": {"tables": {"t": {"size": 5}}}}}));
        merge(
            &mut config,
            nest("databases.data.tables.t.sort", json!("col")),
        );
        assert_eq!(
            config["databases"]["data"]["tables"]["t"],
            json!({"size": 5, "sort": "col"})
        );
    }

    #[test]
    fn the_options_of_a_table_move_to_the_configuration() {
        let mut metadata = object(&json!({
            "title": "Site",
            "databases": {"d": {"tables": {"t": {"title": "T", "sort": "x", "facets": ["a"]}, "u": {"hidden": true}}}}
        }));
        let mut config = object(&json!({"databases": {"d": {"tables": {"t": {"size": 3}}}}}));
        move_options(&mut metadata, &mut config);
        assert_eq!(
            Value::Object(metadata),
            json!({"title": "Site", "databases": {"d": {"tables": {"t": {"title": "T"}}}}}),
            "what is empty goes"
        );
        assert_eq!(
            config["databases"]["d"]["tables"],
            json!({"t": {"size": 3, "sort": "x", "facets": ["a"]}, "u": {"hidden": true}})
        );
    }

    #[test]
    fn access_rules_move_at_every_depth() {
        let mut metadata = object(&json!({
            "allow": {"id": "root"}, "plugins": {"p": {"a": 1}},
            "databases": {"d": {"allow": false, "source": "S", "tables": {"t": {"allow": true}}}}
        }));
        let mut config = Map::new();
        move_options(&mut metadata, &mut config);
        assert_eq!(
            Value::Object(metadata),
            json!({"databases": {"d": {"source": "S"}}})
        );
        assert_eq!(
            Value::Object(config),
            json!({
                "allow": {"id": "root"}, "plugins": {"p": {"a": 1}},
                "databases": {"d": {"allow": false, "tables": {"t": {"allow": true}}}}
            }),
            "comparison is by content"
        );
    }
}
