//! What the listing pages show, before it is HTML or JSON.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use crate::config::TableConfig;
use crate::db::schema::{IncomingKey, Schema, Table};
use crate::table::page::is_capped;

/// A database and what is in it.
pub struct DatabasePage {
    /// The schema that was read.
    pub schema: Arc<Schema>,
    /// The tables that may be seen: those that are not hidden by name, then the others by name.
    pub tables: Vec<ListedTable>,
    /// Tables among them that are hidden.
    pub hidden_count: usize,
    /// The views by name.
    pub views: Vec<Arc<Table>>,
    /// Whether the page stays the same as long as the database does.
    pub lasts: bool,
}

/// A table in the list of a database.
pub struct ListedTable {
    /// The table.
    pub table: Arc<Table>,
    /// Its rows, at most one more than the cap. `None` if they were not counted:
    /// time was up, or SQLite cannot read the table.
    pub count: Option<i64>,
    /// Whether pages for people leave it out at first.
    pub hidden: bool,
    /// Its foreign keys, from both ends.
    pub keys: KeyEnds,
}

impl ListedTable {
    /// Whether there are more rows than were counted.
    pub fn count_is_capped(&self) -> bool {
        is_capped(self.count)
    }
}

/// A database on the front page.
pub struct IndexEntry {
    /// Tables that are not hidden.
    pub tables_count: usize,
    /// Rows of those, each table up to the cap.
    pub rows: i64,
    /// Whether the tables were counted.
    pub counted: bool,
    /// Tables that are hidden.
    pub hidden_count: usize,
    /// Rows of those.
    pub hidden_rows: i64,
    /// The tables that are named on the page, the largest first.
    pub tables: Vec<IndexTable>,
    /// The views that are named after them, by name.
    pub views: Vec<Arc<Table>>,
    /// Views in all.
    pub views_count: usize,
    /// Whether there are more tables or views than are named.
    pub more: bool,
    /// Whether all this stays the same as long as the database does.
    pub lasts: bool,
}

/// A table on the front page.
pub struct IndexTable {
    /// The table.
    pub table: Arc<Table>,
    /// Its rows, at most one more than the cap.
    pub count: Option<i64>,
    /// Foreign keys from and to it, if the order goes by them; else 0.
    pub relationships: usize,
}

/// The foreign keys of a table: those of other tables that refer to it, and its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyEnds {
    /// Keys that refer to the table, by table and columns.
    pub incoming: Vec<IncomingKey>,
    /// Keys of the table, in the same order.
    pub outgoing: Vec<IncomingKey>,
}

impl KeyEnds {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.incoming.len() + self.outgoing.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The foreign keys of all tables, by table. A key counts if the table that it
/// names exists, even where its column does not.
pub struct Keys<'s>(HashMap<&'s str, KeyEnds>);

impl<'s> Keys<'s> {
    /// Collects them.
    pub fn of(schema: &'s Schema) -> Self {
        let mut ends: HashMap<&str, KeyEnds> = HashMap::new();
        for table in schema.tables() {
            for key in &table.foreign_keys {
                let Some(other) = schema.table(&key.other_table).filter(|t| !t.is_view()) else {
                    continue;
                };
                ends.entry(&other.name)
                    .or_default()
                    .incoming
                    .push(IncomingKey {
                        other_table: table.name.clone(),
                        column: key.other_column.clone(),
                        other_column: key.column.clone(),
                    });
                ends.entry(&table.name)
                    .or_default()
                    .outgoing
                    .push(IncomingKey {
                        other_table: other.name.clone(),
                        column: key.column.clone(),
                        other_column: key.other_column.clone(),
                    });
            }
        }
        for ends in ends.values_mut() {
            ends.incoming.sort_unstable();
            ends.outgoing.sort_unstable();
        }
        Self(ends)
    }

    /// The keys of one table, which leave the collection.
    pub fn take(&mut self, table: &str) -> KeyEnds {
        self.0.get_mut(table).map(mem::take).unwrap_or_default()
    }

    /// How many keys a table has, from both ends.
    pub fn count(&self, table: &str) -> usize {
        self.0.get(table).map_or(0, KeyEnds::len)
    }
}

/// Whether a table is hidden: the configuration decides, where it says anything.
pub fn is_hidden(table: &Table, config: &TableConfig) -> bool {
    config.hidden.unwrap_or(table.hidden)
}

/// The views by name.
pub fn views_by_name(schema: &Schema) -> Vec<Arc<Table>> {
    let mut views: Vec<_> = schema.views().cloned().collect();
    views.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    views
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_key_is_seen_from_both_ends_if_its_table_exists() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "create table cat (id integer primary key);
                 create table item (b references cat(nope), a references cat(id), c references gone(id));",
            )
            .unwrap();
        let schema = Schema::load(&connection).unwrap();
        let mut keys = Keys::of(&schema);
        assert_eq!(
            (keys.count("cat"), keys.count("item"), keys.count("gone")),
            (2, 2, 0)
        );
        let key = |other_table: &str, column: &str, other_column: &str| IncomingKey {
            other_table: other_table.into(),
            column: column.into(),
            other_column: other_column.into(),
        };
        assert_eq!(
            keys.take("cat").incoming,
            [key("item", "id", "a"), key("item", "nope", "b")]
        );
        assert_eq!(
            keys.take("item").outgoing,
            [key("cat", "a", "id"), key("cat", "b", "nope")]
        );
    }
}
