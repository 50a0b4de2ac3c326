//! The rules of the configuration, and what follows from them.
//!
//! Rules stand at three levels: a table or stored query, its database, the
//! site. The lowest level at which a rule speaks of an action decides; at one
//! level a rule that forbids beats one that allows. Where none speaks, everybody
//! may look and run SQL. This is Datasette's way:
//! <https://docs.datasette.io/en/latest/authentication.html>

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::allow::matches;
use super::{Action, Actor, Resource, restrictions};
use crate::error::{Error, Result};

/// The id of the actor that `--root` lets in.
const ROOT: &str = "root";

/// Who may do what.
#[derive(Debug, Clone, Default)]
pub struct Access {
    site: Rules,
    databases: HashMap<String, DatabaseRules>,
    options: AccessOptions,
    /// Whether any rule is written down at all.
    has_rules: bool,
}

/// What the command line and the settings say of access.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch")]
pub struct AccessOptions {
    /// `--root`: the actor `root` may do everything that no rule forbids.
    pub root: bool,
    /// `--default-deny`: where no rule speaks, nobody may do anything.
    pub default_deny: bool,
    /// The setting `default_allow_sql`.
    pub allow_sql: bool,
    /// The setting `allow_download`.
    pub allow_download: bool,
}

impl Default for AccessOptions {
    fn default() -> Self {
        Self {
            root: false,
            default_deny: false,
            allow_sql: true,
            allow_download: true,
        }
    }
}

#[derive(Debug, Clone, Default)]
struct DatabaseRules {
    own: Rules,
    tables: HashMap<String, Rules>,
    queries: HashMap<String, Rules>,
}

/// The rules of one level.
#[derive(Debug, Clone, Default)]
struct Rules {
    allow: Option<Value>,
    allow_sql: Option<Value>,
    permissions: Map<String, Value>,
}

impl Access {
    /// Reads the rules of a configuration.
    pub fn new(config: &Map<String, Value>, options: AccessOptions) -> Self {
        let databases: HashMap<_, _> = entries(config, "databases")
            .map(|(name, entry)| (name.clone(), DatabaseRules::read(entry)))
            .collect();
        let site = Rules::read(config);
        let has_rules = !site.is_empty() || databases.values().any(|rules| !rules.is_empty());
        Self {
            site,
            databases,
            options,
            has_rules,
        }
    }

    /// What the command line and the settings say.
    pub fn options(&self) -> AccessOptions {
        self.options
    }

    /// Whether the actor, or nobody known, may do this.
    pub fn may(&self, actor: Option<&Actor>, action: Action, resource: Resource<'_>) -> bool {
        if action == Action::DownloadDatabase && !self.options.allow_download {
            return false;
        }
        let required = action.requires().is_none_or(|required| {
            let of = resource
                .database()
                .map_or(Resource::Instance, Resource::Database);
            self.may(actor, required, of)
        });
        required
            && self.is_allowed(actor, action, resource)
            && actor.is_none_or(|actor| restrictions::permit(actor, action, resource))
    }

    /// 403 unless the actor may do this.
    pub fn check(
        &self,
        actor: Option<&Actor>,
        action: Action,
        resource: Resource<'_>,
    ) -> Result<()> {
        if self.may(actor, action, resource) {
            return Ok(());
        }
        Err(Error::Forbidden(match (action, resource) {
            (Action::ViewInstance, _) | (_, Resource::Instance) => {
                format!("Permission denied: {}", action.name())
            }
            (Action::ExecuteSql, Resource::Database(name)) => {
                format!("You may not run SQL on the database {name}")
            }
            (Action::DownloadDatabase, Resource::Database(name)) => {
                format!("You may not download the database {name}")
            }
            (_, Resource::Database(name)) => format!("You may not see the database {name}"),
            (_, Resource::Table(_, name)) => format!("You may not see the table {name}"),
            (_, Resource::Query(_, name)) => format!("You may not see the query {name}"),
        }))
    }

    /// Whether the actor may do this and nobody known may not: then a page shows a lock.
    pub fn is_private(
        &self,
        actor: Option<&Actor>,
        action: Action,
        resource: Resource<'_>,
    ) -> bool {
        self.differs() && self.may(actor, action, resource) && !self.may(None, action, resource)
    }

    /// Whether somebody may see what others may not.
    pub fn differs(&self) -> bool {
        self.has_rules || self.options.default_deny
    }

    fn is_allowed(&self, actor: Option<&Actor>, action: Action, resource: Resource<'_>) -> bool {
        let database = resource
            .database()
            .and_then(|name| self.databases.get(name));
        let own = database.and_then(|rules| match resource {
            Resource::Table(_, name) => rules.tables.get(name),
            Resource::Query(_, name) => rules.queries.get(name),
            _ => None,
        });
        let speaks = |rules: Option<&Rules>| rules?.say(actor, action);
        if let Some(decided) = speaks(own).or_else(|| speaks(database.map(|rules| &rules.own))) {
            return decided;
        }
        let is_root = self.options.root && actor.is_some_and(|a| a.id().as_deref() == Some(ROOT));
        match self.site.say(actor, action) {
            Some(decided) => decided,
            None => is_root || self.by_default(action),
        }
    }

    /// What everybody may do where no rule speaks.
    fn by_default(&self, action: Action) -> bool {
        match action {
            _ if self.options.default_deny => false,
            Action::Debug => false,
            Action::ExecuteSql => self.options.allow_sql,
            _ => true,
        }
    }
}

impl DatabaseRules {
    fn read(entry: &Map<String, Value>) -> Self {
        let below = |key: &'static str| {
            entries(entry, key)
                .map(|(name, entry)| (name.clone(), Rules::read(entry)))
                .filter(|(_, rules)| !rules.is_empty())
                .collect()
        };
        Self {
            own: Rules::read(entry),
            tables: below("tables"),
            queries: below("queries"),
        }
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.tables.is_empty() && self.queries.is_empty()
    }
}

impl Rules {
    fn read(entry: &Map<String, Value>) -> Self {
        let permissions = entry.get("permissions").and_then(Value::as_object);
        Self {
            allow: entry.get("allow").cloned(),
            allow_sql: entry.get("allow_sql").cloned(),
            permissions: permissions.cloned().unwrap_or_default(),
        }
    }

    fn is_empty(&self) -> bool {
        self.allow.is_none() && self.allow_sql.is_none() && self.permissions.is_empty()
    }

    /// What these rules say of an action; `None` if nothing.
    fn say(&self, actor: Option<&Actor>, action: Action) -> Option<bool> {
        let rules = [
            self.allow.as_ref().filter(|_| action.is_view()),
            self.allow_sql
                .as_ref()
                .filter(|_| action == Action::ExecuteSql),
            self.permissions.get(action.name()),
        ];
        let mut said = rules.into_iter().flatten().peekable();
        said.peek()?;
        Some(said.all(|rule| matches(rule, actor)))
    }
}

fn entries<'m>(
    map: &'m Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'m String, &'m Map<String, Value>)> {
    map.get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name, value.as_object()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn access(config: &Value) -> Access {
        let options = AccessOptions::default();
        Access::new(config.as_object().expect("an object"), options)
    }

    fn may(access: &Access, id: &str, action: Action, resource: Resource<'_>) -> bool {
        let actor = (!id.is_empty()).then(|| Actor::with_id(id));
        access.may(actor.as_ref(), action, resource)
    }

    const T: Resource<'_> = Resource::Table("d", "t");
    const D: Resource<'_> = Resource::Database("d");

    #[test]
    fn without_rules_everybody_may_look_and_nobody_may_look_inside() {
        let access = access(&json!({}));
        assert!(!access.differs());
        for action in Action::ALL {
            assert_eq!(may(&access, "", action, D), action != Action::Debug);
        }
    }

    #[test]
    fn a_rule_of_the_site_holds_for_all_below() {
        let access = access(&json!({"allow": {"id": "ann"}}));
        for resource in [Resource::Instance, D, T, Resource::Query("d", "q")] {
            let action = match resource {
                Resource::Instance => Action::ViewInstance,
                Resource::Database(_) => Action::ViewDatabase,
                Resource::Table(..) => Action::ViewTable,
                Resource::Query(..) => Action::ViewQuery,
            };
            assert!(may(&access, "ann", action, resource));
            assert!(!may(&access, "bob", action, resource));
            assert!(!may(&access, "", action, resource));
        }
        assert!(
            !may(&access, "", Action::ExecuteSql, D),
            "it needs to see it"
        );
    }

    #[test]
    fn the_nearest_rule_decides() {
        let access = access(&json!({"allow": false, "databases": {"d": {
            "allow": {"id": "ann"}, "tables": {"t": {"allow": true}, "u": {"allow": false}}}}}));
        assert!(may(&access, "", Action::ViewTable, T));
        assert!(!may(
            &access,
            "ann",
            Action::ViewTable,
            Resource::Table("d", "u")
        ));
        assert!(may(
            &access,
            "ann",
            Action::ViewTable,
            Resource::Table("d", "v")
        ));
        assert!(!may(&access, "", Action::ViewDatabase, D));
        assert!(!may(
            &access,
            "ann",
            Action::ViewInstance,
            Resource::Instance
        ));
    }

    #[test]
    fn a_rule_that_forbids_beats_one_that_allows_beside_it() {
        let access = access(&json!({"databases": {"d": {
            "allow": {"id": "ann"}, "permissions": {"view-table": true}}}}));
        assert!(!may(&access, "", Action::ViewTable, T));
        assert!(may(&access, "ann", Action::ViewTable, T));
    }

    #[test]
    fn sql_has_rules_of_its_own() {
        let config = json!({"allow_sql": {"id": "ann"}, "databases": {"d": {"allow_sql": true}}});
        let access = access(&config);
        assert!(may(&access, "", Action::ExecuteSql, D));
        assert!(!may(
            &access,
            "",
            Action::ExecuteSql,
            Resource::Database("e")
        ));
        assert!(may(
            &access,
            "ann",
            Action::ExecuteSql,
            Resource::Database("e")
        ));
        let options = AccessOptions {
            allow_sql: false,
            ..AccessOptions::default()
        };
        let access = Access::new(config.as_object().unwrap(), options);
        assert!(
            may(&access, "", Action::ExecuteSql, D),
            "a rule speaks first"
        );
        let access = Access::new(&Map::new(), options);
        assert!(!may(&access, "ann", Action::ExecuteSql, D));
    }

    #[test]
    fn root_may_all_that_no_rule_forbids() {
        let options = AccessOptions {
            root: true,
            default_deny: true,
            ..AccessOptions::default()
        };
        let config = json!({"databases": {"d": {"tables": {"t": {"allow": false}}}}});
        let access = Access::new(config.as_object().unwrap(), options);
        assert!(may(&access, "root", Action::Debug, Resource::Instance));
        assert!(may(&access, "root", Action::ExecuteSql, D));
        assert!(!may(&access, "root", Action::ViewTable, T));
        assert!(!may(&access, "ann", Action::ViewDatabase, D));
    }

    #[test]
    fn a_thing_is_private_if_only_some_may_see_it() {
        let access =
            access(&json!({"databases": {"d": {"tables": {"t": {"allow": {"id": "ann"}}}}}}));
        let ann = Actor::with_id("ann");
        assert!(access.is_private(Some(&ann), Action::ViewTable, T));
        assert!(!access.is_private(Some(&ann), Action::ViewDatabase, D));
        assert!(!access.is_private(None, Action::ViewTable, T));
    }
}
