//! A schema as somebody sees it who may not see all of it.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Schema, Table};

impl Schema {
    /// The schema without the tables and views that `may_see` refuses, and without
    /// the keys that lead to them or come from them. What holds the content of
    /// another table (a full-text index, its shadow tables, its vocabulary) can't
    /// be seen where that can't. The same schema, if all of it may be seen.
    pub fn seen(self: Arc<Self>, may_see: impl Fn(&str) -> bool) -> Arc<Self> {
        let refused: HashSet<String> = self
            .tables
            .iter()
            .filter(|table| !may_see(&table.name))
            .map(|table| table.name.to_ascii_lowercase())
            .collect();
        if refused.is_empty() {
            return self;
        }
        let is_hidden = |name: &str| self.chain(name).any(|name| refused.contains(&name));
        let tables: Vec<_> = self
            .tables
            .iter()
            .filter(|table| !is_hidden(&table.name))
            .map(|table| without(table, &is_hidden))
            .collect();
        Arc::new(Self::of(tables, self.steady.clone()))
    }

    /// A table, what it holds the content of, and so on.
    fn chain(&self, name: &str) -> impl Iterator<Item = String> {
        let mut next = Some(name.to_ascii_lowercase());
        // Steps from a shadow table over its index to the content are two; no chain is longer than this.
        std::iter::from_fn(move || {
            let this = next.take()?;
            next = self
                .find(&this)
                .and_then(|table| table.derived_from.clone())
                .filter(|source| *source != this);
            Some(this)
        })
        .take(4)
    }
}

/// The table, without keys from and to those that `is_hidden` names.
fn without(table: &Arc<Table>, is_hidden: &impl Fn(&str) -> bool) -> Arc<Table> {
    let leads_nowhere = table
        .foreign_keys
        .iter()
        .any(|key| is_hidden(&key.other_table))
        || table.incoming.iter().any(|key| is_hidden(&key.other_table))
        || table.fts_table.as_deref().is_some_and(is_hidden);
    if !leads_nowhere {
        return table.clone();
    }
    let mut seen = Table::clone(table);
    seen.foreign_keys.retain(|key| !is_hidden(&key.other_table));
    seen.incoming.retain(|key| !is_hidden(&key.other_table));
    seen.fts_table = seen.fts_table.filter(|name| !is_hidden(name));
    Arc::new(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Arc<Schema> {
        let conn = rusqlite::Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "create table cat(id integer primary key, name text);
             create table item(id integer primary key, cat integer references cat(id), boss integer references item(id));
             create table note(id integer primary key, item integer references item(id), body text);
             create virtual table note_fts using fts5(body, content='note', content_rowid='id');
             create virtual table words using fts5vocab(note_fts, row);
             create view names as select name from cat;",
        )
        .unwrap();
        Arc::new(Schema::load(&conn).unwrap())
    }

    fn names(schema: &Schema) -> Vec<&str> {
        schema.tables.iter().map(|t| t.name.as_str()).collect()
    }

    #[test]
    fn keys_to_and_from_what_is_hidden_are_gone() {
        let seen = schema().seen(|name| name != "cat");
        assert!(seen.table("cat").is_none() && seen.find("CAT").is_none());
        let item = seen.table("item").unwrap();
        let others: Vec<_> = item.foreign_keys.iter().map(|k| &*k.other_table).collect();
        assert_eq!(others, ["item"]);
        assert!(seen.table("names").is_some(), "a view has rules of its own");
        let seen = schema().seen(|name| name != "note");
        let item = seen.table("item").unwrap();
        assert!(item.incoming.iter().all(|key| key.other_table != "note"));
    }

    #[test]
    fn an_index_of_what_is_hidden_is_hidden_with_all_that_belongs_to_it() {
        let seen = schema().seen(|name| name != "note");
        assert_eq!(names(&seen), ["cat", "item", "names"]);
        let seen = schema().seen(|name| name != "note_fts");
        assert_eq!(names(&seen), ["cat", "item", "note", "names"]);
        assert_eq!(seen.table("note").unwrap().fts_table, None);
    }

    #[test]
    fn who_may_see_everything_gets_the_schema_itself() {
        let schema = schema();
        assert!(Arc::ptr_eq(&schema, &schema.clone().seen(|_| true)));
    }
}
