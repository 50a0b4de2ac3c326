//! What somebody may do: the databases, tables and queries for which an action is allowed.

use std::sync::Arc;

use crate::auth::{Action, Asker, Resource};
use crate::config::Config;
use crate::database::jump::stored_queries;
use crate::db::{Cancel, Database, PageSnapshot};
use crate::error::Result;

/// Something that an action is allowed with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Allowed {
    /// The database.
    pub database: String,
    /// The table, view or query, if the action is about one.
    pub child: Option<String>,
}

/// All that `action` is allowed with, by name. Actions that are about the site have none.
pub fn allowed(
    config: &Config,
    asker: Asker<'_>,
    databases: &[Arc<Database>],
    action: Action,
    cancel: &Cancel,
) -> Result<Vec<Allowed>> {
    let mut found = Vec::new();
    for database in databases {
        let name = database.name.as_str();
        let mut push = |child: Option<&str>| {
            found.push(Allowed {
                database: name.to_owned(),
                child: child.map(str::to_owned),
            });
        };
        match action {
            Action::ViewInstance | Action::Debug => {}
            Action::ViewDatabase | Action::DownloadDatabase | Action::ExecuteSql => {
                if asker.may(action, Resource::Database(name)) {
                    push(None);
                }
            }
            Action::ViewTable => {
                let schema = PageSnapshot::begin(database, cancel)?.schema()?;
                let schema = asker.schema(name, schema);
                let listed = schema.tables().filter(|table| table.listed);
                for table in listed.chain(schema.views()) {
                    push(Some(&table.name));
                }
            }
            Action::ViewQuery => {
                for query in stored_queries(config, asker, name) {
                    push(Some(query));
                }
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::auth::{Access, AccessOptions};
    use crate::db::registry::test_database;

    #[test]
    fn an_action_is_allowed_with_what_the_rules_leave() {
        let (_folder, database) =
            test_database("create table b(x); create table a(x); create view v as select 1");
        let config = json!({"databases": {"test": {"allow_sql": false,
            "tables": {"b": {"allow": false}}, "queries": {"q": "select 1"}}}});
        let config = config.as_object().unwrap();
        let access = Access::new(config, AccessOptions::default());
        let config = Config::new(serde_json::Map::new(), config.clone()).unwrap();
        let databases = [database];
        let names = |action| -> Vec<Option<String>> {
            let asker = Asker::new(&access, None);
            let found = allowed(&config, asker, &databases, action, &Cancel::default());
            found
                .unwrap()
                .into_iter()
                .map(|found| found.child)
                .collect()
        };
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(names(Action::ViewTable), [some("a"), some("v")]);
        assert_eq!(names(Action::ViewQuery), [some("q")]);
        assert_eq!(names(Action::ViewDatabase), [None]);
        assert_eq!(names(Action::ExecuteSql), []);
        assert_eq!(names(Action::ViewInstance), []);
    }
}
