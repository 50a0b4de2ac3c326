//! `allow` blocks: which actors one matches, as Datasette does it.
//! <https://docs.datasette.io/en/latest/authentication.html#defining-permissions-with-allow-blocks>

use serde_json::Value;

use super::Actor;

/// Whether `allow` lets the actor in. `true` and `null` let everybody in,
/// `false` and an empty mapping nobody. A mapping names facts of an actor and
/// the values that open: one fact that fits is enough.
pub fn matches(allow: &Value, actor: Option<&Actor>) -> bool {
    let wanted = match allow {
        Value::Null | Value::Bool(true) => return true,
        Value::Object(wanted) => wanted,
        _ => return false,
    };
    match actor {
        None => wanted.get("unauthenticated") == Some(&Value::Bool(true)),
        Some(actor) => wanted.iter().any(|(key, values)| {
            let fact = actor.facts().get(key);
            fact.is_some_and(|fact| fits(values, fact))
        }),
    }
}

/// Whether one of the wanted values is one of the actor's. `*` is any.
fn fits(wanted: &Value, fact: &Value) -> bool {
    if wanted.as_str() == Some("*") {
        return true;
    }
    if fact.is_null() {
        return false;
    }
    let facts = one_or_more(fact);
    one_or_more(wanted)
        .iter()
        .any(|value| facts.contains(value))
}

fn one_or_more(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        one => std::slice::from_ref(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lets_in(allow: &Value, actor: &Value) -> bool {
        let actor = actor.as_object().map(|facts| Actor::new(facts.clone()));
        matches(allow, actor.as_ref())
    }

    #[test]
    fn everybody_or_nobody() {
        for actor in [json!(null), json!({"id": "root"})] {
            for open in [json!(true), json!(null)] {
                assert!(lets_in(&open, &actor), "{open} {actor}");
            }
            for closed in [json!(false), json!({}), json!("root"), json!({"id": []})] {
                assert!(!lets_in(&closed, &actor), "{closed} {actor}");
            }
        }
    }

    #[test]
    fn one_value_that_fits_is_enough() {
        let staff = json!({"id": ["ann", 5], "roles": ["staff"]});
        for actor in [
            json!({"id": "ann"}),
            json!({"id": 5}),
            json!({"id": "bob", "roles": ["guest", "staff"]}),
            json!({"roles": "staff"}),
        ] {
            assert!(lets_in(&staff, &actor), "{actor}");
        }
        for actor in [
            json!(null),
            json!({"id": "bob"}),
            json!({"id": "5"}),
            json!({"roles": ["guest"]}),
            json!({"id": null}),
        ] {
            assert!(!lets_in(&staff, &actor), "{actor}");
        }
    }

    #[test]
    fn a_star_is_any_value_and_unauthenticated_is_nobody_known() {
        assert!(lets_in(&json!({"id": "*"}), &json!({"id": "x"})));
        assert!(!lets_in(&json!({"id": "*"}), &json!({"name": "x"})));
        assert!(!lets_in(&json!({"id": "*"}), &json!(null)));
        let unknown = json!({"unauthenticated": true});
        assert!(lets_in(&unknown, &json!(null)));
        assert!(!lets_in(&unknown, &json!({"id": "x"})));
        assert!(!lets_in(&json!({"unauthenticated": false}), &json!(null)));
    }
}
