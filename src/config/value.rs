//! How one setting's value is read from a word of the command line or from a
//! JSON value of a configuration file, and how it is shown.

use serde_json::Value;

/// A type that a setting can have.
pub(super) trait SettingValue: Sized {
    /// What the setting takes, to finish the sentence "… takes".
    const TAKES: &'static str;

    /// Reads a word of the command line.
    fn from_word(word: &str) -> Option<Self>;

    /// Reads a value of a configuration file.
    fn from_json(value: &Value) -> Option<Self>;

    /// The value as `/-/settings.json` shows it.
    fn to_json(&self) -> Value;
}

impl SettingValue for bool {
    const TAKES: &'static str = "on/off, true/false or 1/0";

    fn from_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "on" | "true" | "1" => Some(true),
            "off" | "false" | "0" => Some(false),
            _ => None,
        }
    }

    /// YAML 1.2 reads a bare `off` as text where YAML 1.1, which Datasette's
    /// files are written in, has a boolean: so the words are taken here too.
    fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(*value),
            Value::String(word) => match word.to_ascii_lowercase().as_str() {
                "yes" => Some(true),
                "no" => Some(false),
                word => Self::from_word(word),
            },
            _ => None,
        }
    }

    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }
}

/// Digits only: no sign, no blanks.
fn digits<T: std::str::FromStr>(word: &str) -> Option<T> {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        word.parse().ok()
    } else {
        None
    }
}

impl SettingValue for u64 {
    const TAKES: &'static str = "a whole number, 0 or more";

    fn from_word(word: &str) -> Option<Self> {
        digits(word)
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64()
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl SettingValue for usize {
    const TAKES: &'static str = u64::TAKES;

    fn from_word(word: &str) -> Option<Self> {
        digits(word)
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64().and_then(|value| value.try_into().ok())
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl SettingValue for String {
    const TAKES: &'static str = "a text";

    fn from_word(word: &str) -> Option<Self> {
        Some(word.to_owned())
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }

    fn to_json(&self) -> Value {
        Value::from(self.as_str())
    }
}
