//! Tables that hold what other tables are about: shadow tables, indexes of another table's content, vocabularies of an index.

use std::collections::HashMap;

use super::Kind;
use super::declaration::Declaration;
use super::fts;
use super::hidden;
use super::objects::{Object, Objects};

/// Modules that show the words of a full-text index, which their first argument names.
const VOCABULARIES: [&str; 2] = ["fts5vocab", "fts4aux"];

/// Which table each derived table is derived from. Names are folded as SQLite folds them.
pub(super) struct Derived {
    source_of: HashMap<String, String>,
}

impl Derived {
    /// Finds the derived tables.
    pub fn of(objects: &Objects) -> Self {
        let kinds: HashMap<String, Kind> = objects
            .tables
            .iter()
            .map(|object| (folded(&object.name), object.kind))
            .collect();
        let source_of = objects
            .tables
            .iter()
            .filter_map(|object| Some((folded(&object.name), source(object, &kinds)?)))
            .collect();
        Self { source_of }
    }

    /// The table that a table is derived from, its name folded.
    pub fn source(&self, name: &str) -> Option<&str> {
        self.source_of.get(&folded(name)).map(String::as_str)
    }

    /// Whether lists name the table. Datasette follows one step from a derived table to its source to see who may view it, and shows
    /// nobody what is two steps away: the shadow tables of an index whose content is another table's. Nor does it show the statistics
    /// that ANALYZE keeps.
    pub fn lists(&self, name: &str) -> bool {
        let two_steps_away = self
            .source_of
            .get(&folded(name))
            .is_some_and(|source| self.source_of.contains_key(source));
        !two_steps_away && !hidden::is_statistics(name)
    }
}

fn source(object: &Object, kinds: &HashMap<String, Kind>) -> Option<String> {
    if object.shadow {
        // SQLite's own rule: the virtual table's name, an underscore, and the module's word for the table.
        let owner = folded(object.name.rsplit_once('_')?.0);
        return (kinds.get(&owner) == Some(&Kind::Virtual)).then_some(owner);
    }
    if object.kind != Kind::Virtual {
        return None;
    }
    let declaration = Declaration::parse(object.sql.as_deref()?)?;
    if fts::is_module(&declaration.module) {
        let content = declaration.option("content")?;
        return (!content.is_empty()).then(|| folded(&content));
    }
    if !VOCABULARIES.contains(&declaration.module.as_str()) {
        return None;
    }
    // A vocabulary of nothing that can be seen here counts as derived from itself.
    let index = declaration
        .names()
        .first()
        .map(|name| folded(name))
        .filter(|name| kinds.contains_key(name));
    Some(index.unwrap_or_else(|| folded(&object.name)))
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::Schema;

    fn unlisted(sql: &str) -> Vec<String> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        let schema = Schema::load(&connection).unwrap();
        let unlisted = schema.tables().filter(|table| !table.listed);
        unlisted.map(|table| table.name.clone()).collect()
    }

    #[test]
    fn the_workings_of_an_index_of_another_table_are_not_listed() {
        for content in ["\"docs\"", "docs", "'DOCS'"] {
            let sql = format!(
                "create table docs (a); create virtual table Docs_fts using fts4(a, content={content})"
            );
            assert_eq!(
                unlisted(&sql),
                [
                    "Docs_fts_segments",
                    "Docs_fts_segdir",
                    "Docs_fts_docsize",
                    "Docs_fts_stat"
                ],
                "{content}"
            );
        }
    }

    #[test]
    fn the_workings_of_a_table_with_content_of_its_own_are_listed() {
        let sql = "create virtual table notes using fts5(a);
                   create virtual table bare using fts5(a, content='');
                   create virtual table boxes using rtree(id, x0, x1);
                   create table notes_of_mine (a)";
        assert_eq!(unlisted(sql), [""; 0]);
    }

    #[test]
    fn a_vocabulary_is_listed_if_its_index_holds_its_own_content() {
        let sql = "create table docs (a);
                   create virtual table own using fts5(a);
                   create virtual table others using fts5(a, content=docs);
                   create virtual table v1 using fts5vocab(own, row);
                   create virtual table v2 using fts5vocab('OWN', col);
                   create virtual table v3 using fts5vocab(others, row);
                   create virtual table v4 using fts5vocab(nowhere, row)";
        let unlisted = unlisted(sql);
        let vocabularies: Vec<_> = unlisted.iter().filter(|n| n.starts_with('v')).collect();
        assert_eq!(vocabularies, ["v3", "v4"]);
    }

    #[test]
    fn the_statistics_of_analyze_are_not_listed() {
        let sql = "create table t (a); create index i on t (a); insert into t values (1); analyze";
        assert!(unlisted(sql).contains(&"sqlite_stat1".to_owned()));
    }
}
