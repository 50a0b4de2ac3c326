//! Values that stand elsewhere: `{"$env": "NAME"}` is an environment variable,
//! `{"$file": "path"}` the text of a file. They are looked up once, at the start,
//! and no page shows them.
//! <https://docs.datasette.io/en/latest/plugins.html#secret-configuration-values>

use serde_json::{Map, Value};

/// What a page shows in the place of a secret.
pub(super) const MASK: &str = "***";

/// A mapping whose references were looked up.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// With what they stand for.
    pub values: Map<String, Value>,
    /// With [`MASK`] in their places.
    pub shown: Map<String, Value>,
    /// The environment variables that are not set; their values are null, as in Datasette.
    pub unset: Vec<String>,
}

impl Resolved {
    /// Looks up every reference, at whatever depth.
    ///
    /// # Errors
    /// One sentence that names a file that can't be read.
    pub fn of(map: &Map<String, Value>) -> Result<Self, String> {
        let mut resolved = Self::default();
        for (key, value) in map {
            let (value, shown) = look_up(value, &mut resolved.unset)?;
            resolved.values.insert(key.clone(), value);
            resolved.shown.insert(key.clone(), shown);
        }
        Ok(resolved)
    }
}

/// Whether a value is a reference: a mapping of this one key to a text.
pub(super) fn is_reference(value: &Value) -> bool {
    reference(value).is_some()
}

fn reference(value: &Value) -> Option<(&str, &str)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    let (key, name) = map.iter().next()?;
    matches!(key.as_str(), "$env" | "$file").then_some((key.as_str(), name.as_str()?))
}

/// The value and what is shown of it.
fn look_up(value: &Value, unset: &mut Vec<String>) -> Result<(Value, Value), String> {
    match (reference(value), value) {
        (Some(("$env", name)), _) => {
            let found = std::env::var_os(name);
            if found.is_none() {
                unset.push(name.to_owned());
            }
            let text = found.map(|text| Value::from(text.to_string_lossy()));
            Ok((text.unwrap_or_default(), Value::from(MASK)))
        }
        (Some((_, path)), _) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("$file: cannot read {path}: {error}"))?;
            Ok((Value::String(text), Value::from(MASK)))
        }
        (None, Value::Object(map)) => {
            let (mut values, mut shown) = (Map::new(), Map::new());
            for (key, value) in map {
                let (value, mask) = look_up(value, unset)?;
                values.insert(key.clone(), value);
                shown.insert(key.clone(), mask);
            }
            Ok((Value::Object(values), Value::Object(shown)))
        }
        (None, Value::Array(items)) => {
            let pairs: Result<Vec<_>, String> =
                items.iter().map(|item| look_up(item, unset)).collect();
            let (values, shown) = pairs?.into_iter().unzip();
            Ok((Value::Array(values), Value::Array(shown)))
        }
        (None, other) => Ok((other.clone(), other.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resolve(value: &Value) -> Result<Resolved, String> {
        Resolved::of(value.as_object().expect("an object"))
    }

    #[test]
    fn a_file_and_a_variable_stand_for_their_texts_and_are_not_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret.txt");
        std::fs::write(&path, "from a file\n").expect("written");
        // Cargo sets this one for every test.
        let resolved = resolve(&json!({
            "p": {"deep": [{"$env": "CARGO_PKG_NAME"}], "f": {"$file": path}, "plain": "x"}
        }))
        .expect("resolved");
        assert_eq!(
            Value::Object(resolved.values),
            json!({"p": {"deep": ["turntable"], "f": "from a file\n", "plain": "x"}})
        );
        assert_eq!(
            Value::Object(resolved.shown),
            json!({"p": {"deep": ["***"], "f": "***", "plain": "x"}})
        );
    }

    #[test]
    fn a_variable_that_is_not_set_is_null_and_told() {
        let resolved = resolve(&json!({"a": {"$env": "TURNTABLE_NOT_SET"}})).expect("resolved");
        assert_eq!(Value::Object(resolved.values), json!({"a": null}));
        assert_eq!(resolved.unset, ["TURNTABLE_NOT_SET"]);
    }

    #[test]
    fn a_file_that_is_missing_is_named() {
        let error = resolve(&json!({"a": {"$file": "/no/such/file"}})).expect_err("missing");
        assert!(error.contains("/no/such/file"), "{error}");
    }

    #[test]
    fn what_only_looks_like_a_reference_stays() {
        for value in [
            json!({"$env": "A", "b": 1}),
            json!({"$env": 5}),
            json!({"env": "A"}),
        ] {
            assert!(!is_reference(&value), "{value}");
        }
    }
}
