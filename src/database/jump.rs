//! Where one can go from anywhere: databases, tables, views, stored queries and
//! the pages about the server, found by a part of their name.

use std::sync::Arc;

use crate::auth::{Action, Asker, Resource};
use crate::config::Config;
use crate::db::{Cancel, Database, PageSnapshot};
use crate::error::Result;

/// Places that one answer names. Datasette's.
const MOST: usize = 100;

/// What a place is, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A database.
    Database,
    /// A table.
    Table,
    /// A view.
    View,
    /// A stored query.
    Query,
    /// A page about the server.
    Debug,
}

impl Kind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Table => "table",
            Self::View => "view",
            Self::Query => "query",
            Self::Debug => "debug",
        }
    }
}

/// A place to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What it is.
    pub kind: Kind,
    /// What it is called: `database`, or `database: table`.
    pub name: String,
    /// The names that its address is made of: database and table, or that of a page about the server.
    pub path: Vec<String>,
    /// What it is for, where the name does not say it.
    pub description: Option<&'static str>,
}

/// The pages about the server, for those who may look inside.
const PAGES: [(&str, &str, &str); 9] = [
    ("Actions", "actions", "What a rule can allow or forbid"),
    (
        "Allowed",
        "allowed",
        "The databases, tables and queries that you may see",
    ),
    (
        "Allow blocks",
        "allow-debug",
        "Whom a rule of the configuration lets in",
    ),
    (
        "Configuration",
        "config",
        "The configuration, without secrets",
    ),
    ("Databases", "databases", "The files that are served"),
    ("Settings", "settings", "Settings and their values"),
    ("Threads", "threads", "What the engine is doing"),
    ("Versions", "versions", "Versions of Turntable and SQLite"),
    ("You", "actor", "Who you are to this server"),
];

/// The places whose name has the words of `search` in it, in their order, and
/// whether there were more than are named. All places, if there are no words.
pub fn places(
    config: &Config,
    asker: Asker<'_>,
    databases: &[Arc<Database>],
    search: &str,
    cancel: &Cancel,
) -> Result<(Vec<Place>, bool)> {
    let search = search.to_lowercase();
    let words: Vec<&str> = search.split_whitespace().collect();
    let mut found = Vec::new();
    let mut offer = |place: Place| {
        let is_found = has_words(&place.name, &words)
            || place
                .description
                .is_some_and(|text| has_words(text, &words));
        if is_found {
            found.push(place);
        }
    };
    for database in databases {
        offer(Place {
            kind: Kind::Database,
            name: database.name.clone(),
            path: vec![database.name.clone()],
            description: None,
        });
        let inside = |kind, name: &str| Place {
            kind,
            name: format!("{}: {name}", database.name),
            path: vec![database.name.clone(), name.to_owned()],
            description: None,
        };
        let schema = PageSnapshot::begin(database, cancel)?.schema()?;
        let schema = asker.schema(&database.name, schema);
        for table in schema.tables().filter(|table| table.listed) {
            offer(inside(Kind::Table, &table.name));
        }
        for view in schema.views() {
            offer(inside(Kind::View, &view.name));
        }
        for name in stored_queries(config, asker, &database.name) {
            offer(inside(Kind::Query, name));
        }
    }
    // All the pages about the server would be in the way of who wants to see what there is.
    if !words.is_empty() && asker.may(Action::Debug, Resource::Instance) {
        for (name, page, description) in PAGES {
            offer(Place {
                kind: Kind::Debug,
                name: name.to_owned(),
                path: vec!["-".to_owned(), page.to_owned()],
                description: Some(description),
            });
        }
    }
    // What a short name is found by is more of it.
    found.sort_by_cached_key(|place| (place.kind, place.name.chars().count(), place.name.clone()));
    let is_cut = found.len() > MOST;
    found.truncate(MOST);
    Ok((found, is_cut))
}

/// The names of the configured queries that may be seen.
pub(super) fn stored_queries<'c>(
    config: &'c Config,
    asker: Asker<'c>,
    database: &'c str,
) -> impl Iterator<Item = &'c String> {
    let queries = config.database(database).raw.get("queries");
    let names = queries.and_then(|queries| Some(queries.as_object()?.keys()));
    names
        .into_iter()
        .flatten()
        .filter(move |name| asker.may(Action::ViewQuery, Resource::Query(database, name)))
}

/// Whether the words, which are in lower case, stand in a text one after another.
fn has_words(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    let mut rest = text.as_str();
    words.iter().all(|word| match rest.find(word) {
        Some(at) => {
            rest = &rest[at + word.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::auth::{Access, AccessOptions};
    use crate::db::registry::test_database;

    fn names(sql: &str, config: &serde_json::Value, search: &str) -> (Vec<String>, bool) {
        let (_folder, database) = test_database(sql);
        let config = config.as_object().unwrap();
        let access = Access::new(config, AccessOptions::default());
        let config = Config::new(serde_json::Map::new(), config.clone()).unwrap();
        let asker = Asker::new(&access, None);
        let (places, is_cut) =
            places(&config, asker, &[database], search, &Cancel::default()).unwrap();
        (places.into_iter().map(|place| place.name).collect(), is_cut)
    }

    const SQL: &str = "create table zz(x); create table longer(x); create table a_b(x);
        create table b(x); create view v as select 1;";

    #[test]
    fn databases_come_first_and_short_names_before_long_ones() {
        let expected = [
            "test",
            "test: b",
            "test: zz",
            "test: a_b",
            "test: longer",
            "test: v",
        ];
        assert_eq!(
            names(SQL, &json!({}), ""),
            (expected.map(String::from).into(), false)
        );
    }

    #[test]
    fn words_are_found_in_their_order_and_mean_nothing_else() {
        let found = |search| names(SQL, &json!({}), search).0;
        assert_eq!(found("TEST long"), ["test: longer"]);
        assert!(found("long test").is_empty());
        assert_eq!(found("_"), ["test: a_b"]);
        assert!(found("%").is_empty());
    }

    #[test]
    fn what_may_not_be_seen_is_not_found() {
        let config = json!({"databases": {"test": {
            "tables": {"zz": {"allow": false}},
            "queries": {"open": "select 1", "shut": {"sql": "select 1", "allow": false}}}}});
        assert!(names(SQL, &config, "zz").0.is_empty());
        assert_eq!(names(SQL, &config, "open").0, ["test: open"]);
        assert!(names(SQL, &config, "shut").0.is_empty());
        assert!(names(SQL, &config, "settings").0.is_empty());
    }

    #[test]
    fn an_answer_has_an_end() {
        let statements: Vec<_> = (0..150)
            .map(|n| format!("create table t{n:03} (x)"))
            .collect();
        let sql = statements.join("; ");
        let (found, is_cut) = names(&sql, &json!({}), "t");
        assert_eq!((found.len(), is_cut), (100, true));
    }
}
