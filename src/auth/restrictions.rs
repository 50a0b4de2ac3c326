//! `_r`: what a token may do at the most, whatever its actor may.
//!
//! `{"a": [actions], "d": {database: [actions]}, "r": {database: {table: [actions]}}}`,
//! actions by name or abbreviation.

use serde_json::Value;

use super::{Action, Actor, Resource};

/// Whether the actor's restrictions, if there are any, leave room for the action.
pub fn permit(actor: &Actor, action: Action, resource: Resource<'_>) -> bool {
    let Some(restrictions) = actor.facts().get("_r") else {
        return true;
    };
    // To see one table one has to get as far as its database and the site.
    if action == Action::ViewInstance {
        return !is_empty(restrictions);
    }
    if names(restrictions.get("a"), action) {
        return true;
    }
    let Some(database) = resource.database() else {
        return false;
    };
    let of_database = restrictions.get("d").and_then(|d| d.get(database));
    if names(of_database, action) {
        return true;
    }
    let of_tables = restrictions.get("r").and_then(|r| r.get(database));
    match resource {
        Resource::Table(_, name) | Resource::Query(_, name) => {
            names(of_tables.and_then(|tables| tables.get(name)), action)
        }
        _ => {
            action == Action::ViewDatabase && (!is_empty_at(of_database) || !is_empty_at(of_tables))
        }
    }
}

fn names(list: Option<&Value>, action: Action) -> bool {
    let list = list.and_then(Value::as_array);
    list.is_some_and(|list| {
        list.iter()
            .filter_map(Value::as_str)
            .any(|name| name == action.name() || name == action.abbreviation())
    })
}

fn is_empty_at(part: Option<&Value>) -> bool {
    part.is_none_or(is_empty)
}

fn is_empty(part: &Value) -> bool {
    match part {
        Value::Object(map) => map.values().all(is_empty),
        Value::Array(list) => list.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn may(restrictions: &Value, action: Action, resource: Resource<'_>) -> bool {
        let facts = json!({"id": "x", "_r": restrictions});
        permit(
            &Actor::new(facts.as_object().unwrap().clone()),
            action,
            resource,
        )
    }

    #[test]
    fn an_actor_without_restrictions_is_not_restricted() {
        let actor = Actor::with_id("x");
        assert!(permit(&actor, Action::ExecuteSql, Resource::Database("d")));
    }

    #[test]
    fn actions_are_named_for_all_for_a_database_or_for_a_table() {
        let table = Resource::Table("d", "t");
        for open in [
            json!({"a": ["view-table"]}),
            json!({"a": ["vt"]}),
            json!({"d": {"d": ["vt"]}}),
            json!({"r": {"d": {"t": ["vt"]}}}),
        ] {
            assert!(may(&open, Action::ViewTable, table), "{open}");
            assert!(!may(&open, Action::ExecuteSql, Resource::Database("d")));
            assert!(may(&open, Action::ViewInstance, Resource::Instance));
        }
        for closed in [
            json!({}),
            json!({"a": ["es"]}),
            json!({"d": {"e": ["vt"]}}),
            json!({"r": {"d": {"u": ["vt"]}}}),
        ] {
            assert!(!may(&closed, Action::ViewTable, table), "{closed}");
        }
    }

    #[test]
    fn a_token_for_a_table_gets_as_far_as_its_database() {
        let token = json!({"r": {"d": {"t": ["vt"]}}});
        assert!(may(&token, Action::ViewDatabase, Resource::Database("d")));
        assert!(!may(&token, Action::ViewDatabase, Resource::Database("e")));
    }
}
