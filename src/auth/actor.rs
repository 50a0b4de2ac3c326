//! Who is asking.

use serde_json::{Map, Value};

/// Somebody who has shown who they are: names and values, `id` among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Actor {
    facts: Map<String, Value>,
}

impl Actor {
    /// An actor of whom `facts` are known.
    pub fn new(facts: Map<String, Value>) -> Self {
        Self { facts }
    }

    /// An actor with an `id` and nothing else.
    pub fn with_id(id: &str) -> Self {
        let mut facts = Map::new();
        facts.insert("id".to_owned(), id.into());
        Self { facts }
    }

    /// The `id` as text, if there is one.
    pub fn id(&self) -> Option<String> {
        self.text("id")
    }

    /// One fact as text.
    pub fn text(&self, key: &str) -> Option<String> {
        match self.facts.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// What a page calls the actor.
    pub fn name(&self) -> String {
        ["display", "name", "username", "login", "id"]
            .iter()
            .find_map(|key| self.text(key))
            .unwrap_or_default()
    }

    /// All that is known.
    pub fn facts(&self) -> &Map<String, Value> {
        &self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_actor_is_called_by_the_best_name_there_is() {
        let actor = |facts: Value| Actor::new(facts.as_object().unwrap().clone());
        assert_eq!(actor(json!({"id": 7})).name(), "7");
        assert_eq!(actor(json!({"id": 7, "name": "Ann"})).name(), "Ann");
        assert_eq!(actor(json!({"name": "Ann", "display": "A."})).name(), "A.");
        assert_eq!(actor(json!({"role": "x"})).name(), "");
    }
}
