//! The listing pages as JSON: the tables of a database, and all databases.

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::json::push_json;
use super::{links, queries_json};
use crate::auth::Asker;
use crate::config::Config;
use crate::database::page::{IndexTable, KeyEnds};
use crate::database::{DatabasePage, IndexEntry, ListedTable};
use crate::db::Database;
use crate::db::schema::{IncomingKey, Schema, Table};
use crate::error::Result;
use crate::http::request::Request;
use crate::query::stored::list;

/// Bytes that a table takes about, to size the buffer.
const TABLE_BYTES: usize = 400;
/// Stored queries that a database's page names; there may be more.
pub(super) const QUERIES: usize = 5;
/// What Datasette warns readers of some JSON with.
pub const UNSTABLE: &str =
    "This API is not part of Datasette's stable interface and may change at any time";

#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the document is Datasette's")]
struct DatabaseDocument<'a> {
    ok: bool,
    database: &'a str,
    private: bool,
    path: String,
    size: u64,
    tables: Vec<TableOfDatabase<'a>>,
    hidden_count: usize,
    views: Vec<View<'a>>,
    queries: Vec<Map<String, Value>>,
    queries_more: bool,
    queries_count: usize,
    allow_execute_sql: bool,
    table_columns: Columns<'a>,
    metadata: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct IndexDocument<'a> {
    ok: bool,
    unstable: &'a str,
    databases: Vec<IndexDatabase<'a>>,
    metadata: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct IndexDatabase<'a> {
    name: &'a str,
    hash: Option<&'a str>,
    color: String,
    path: String,
    tables_and_views_truncated: Vec<Named<'a>>,
    tables_and_views_more: bool,
    tables_count: usize,
    table_rows_sum: i64,
    show_table_row_counts: bool,
    hidden_table_rows_sum: i64,
    hidden_tables_count: usize,
    views_count: usize,
    private: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Named<'a> {
    Table(TableOfIndex<'a>),
    View(View<'a>),
}

#[derive(Serialize)]
struct View<'a> {
    name: &'a str,
    private: bool,
}

impl<'a> View<'a> {
    fn of(view: &'a Table, asker: Asker<'_>, database: &str) -> Self {
        Self {
            name: &view.name,
            private: asker.is_private_table(database, &view.name),
        }
    }
}

/// `/{db}.json`
pub fn database(
    page: &DatabasePage,
    config: &Config,
    asker: Asker<'_>,
    database: &Database,
    request: &Request,
) -> Result<Vec<u8>> {
    let allow_sql = asker.may_run_sql(&database.name);
    let private = |table: &Table| asker.is_private_table(&database.name, &table.name);
    let queries = list::seen(config, asker, [database.name.as_str()]);
    let mut out = Vec::with_capacity(1024 + page.tables.len() * TABLE_BYTES);
    let document = DatabaseDocument {
        ok: true,
        database: &database.name,
        private: asker.is_private_database(&database.name),
        path: links::database(request, &database.name),
        size: database.size(),
        tables: page
            .tables
            .iter()
            .map(|listed| TableOfDatabase {
                listed,
                private: private(&listed.table),
            })
            .collect(),
        hidden_count: page.hidden_count,
        views: page
            .views
            .iter()
            .map(|view| View::of(view, asker, &database.name))
            .collect(),
        queries: queries
            .iter()
            .take(QUERIES)
            .map(queries_json::query)
            .collect(),
        queries_more: queries.len() > QUERIES,
        queries_count: queries.len(),
        allow_execute_sql: allow_sql,
        table_columns: Columns(allow_sql.then_some(&page.schema)),
        metadata: &config.database(&database.name).metadata.all,
    };
    push_json(&mut out, &document)?;
    Ok(out)
}

/// `/.json`
pub fn index<'a>(
    entries: impl Iterator<Item = (&'a Database, &'a IndexEntry)>,
    config: &Config,
    asker: Asker<'_>,
    request: &Request,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let document = IndexDocument {
        ok: true,
        unstable: UNSTABLE,
        databases: entries
            .map(|(database, entry)| index_database(database, entry, asker, request))
            .collect(),
        metadata: &config.instance().all,
    };
    push_json(&mut out, &document)?;
    Ok(out)
}

fn index_database<'a>(
    database: &'a Database,
    entry: &'a IndexEntry,
    asker: Asker<'_>,
    request: &Request,
) -> IndexDatabase<'a> {
    let tables = entry.tables.iter().map(|named| {
        Named::Table(TableOfIndex {
            named,
            private: asker.is_private_table(&database.name, &named.table.name),
        })
    });
    let views = entry.views.iter();
    let views = views.map(|view| Named::View(View::of(view, asker, &database.name)));
    IndexDatabase {
        name: &database.name,
        hash: database.hash(),
        color: database.color(),
        path: links::database(request, &database.name),
        tables_and_views_truncated: tables.chain(views).collect(),
        tables_and_views_more: entry.more,
        tables_count: entry.tables_count,
        table_rows_sum: entry.rows,
        show_table_row_counts: entry.counted,
        hidden_table_rows_sum: entry.hidden_rows,
        hidden_tables_count: entry.hidden_count,
        views_count: entry.views_count,
        private: asker.is_private_database(&database.name),
    }
}

/// The names of a table's columns, in order.
struct ColumnNames<'a>(&'a Table);

impl Serialize for ColumnNames<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.columns.iter().map(|column| column.name.as_str()))
    }
}

/// The columns of all tables for an editor to complete: tables and columns by
/// name, then the views, whose columns Datasette does not tell. Empty for those
/// who may not write SQL.
struct Columns<'a>(Option<&'a Schema>);

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let Some(schema) = self.0 else {
            return map.end();
        };
        let mut tables: Vec<&Table> = schema.tables().map(AsRef::as_ref).collect();
        tables.sort_unstable_by_key(|table| &table.name);
        for table in tables {
            let mut names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
            names.sort_unstable();
            map.serialize_entry(&table.name, &names)?;
        }
        for view in schema.views() {
            map.serialize_entry(&view.name, &[(); 0])?;
        }
        map.end()
    }
}

struct TableOfDatabase<'a> {
    listed: &'a ListedTable,
    private: bool,
}

impl Serialize for TableOfDatabase<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let listed = self.listed;
        let mut map = serializer.serialize_struct("table", 9)?;
        map.serialize_field("name", &listed.table.name)?;
        map.serialize_field("columns", &ColumnNames(&listed.table))?;
        map.serialize_field("primary_keys", &listed.table.primary_keys)?;
        map.serialize_field("count", &listed.count)?;
        map.serialize_field("count_truncated", &listed.count_is_capped())?;
        map.serialize_field("hidden", &listed.hidden)?;
        map.serialize_field("fts_table", &listed.table.fts_table)?;
        map.serialize_field("foreign_keys", &ForeignKeys::of(&listed.keys))?;
        map.serialize_field("private", &self.private)?;
        map.end()
    }
}

struct TableOfIndex<'a> {
    named: &'a IndexTable,
    private: bool,
}

impl Serialize for TableOfIndex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = self.named;
        let mut map = serializer.serialize_struct("table", 8)?;
        map.serialize_field("name", &named.table.name)?;
        map.serialize_field("columns", &ColumnNames(&named.table))?;
        map.serialize_field("primary_keys", &named.table.primary_keys)?;
        map.serialize_field("count", &named.count)?;
        // Only tables that are not hidden are named.
        map.serialize_field("hidden", &false)?;
        map.serialize_field("fts_table", &named.table.fts_table)?;
        map.serialize_field("num_relationships_for_sorting", &named.relationships)?;
        map.serialize_field("private", &self.private)?;
        map.end()
    }
}

#[derive(Serialize)]
struct ForeignKeys<'a> {
    incoming: Vec<Key<'a>>,
    outgoing: Vec<Key<'a>>,
}

impl<'a> ForeignKeys<'a> {
    fn of(keys: &'a KeyEnds) -> Self {
        let all = |keys: &'a [IncomingKey]| keys.iter().map(Key::of).collect();
        Self {
            incoming: all(&keys.incoming),
            outgoing: all(&keys.outgoing),
        }
    }
}

/// A column is `None` if the key names none and there is none that it could mean.
#[derive(Serialize)]
struct Key<'a> {
    other_table: &'a str,
    column: Option<&'a str>,
    other_column: Option<&'a str>,
}

impl<'a> Key<'a> {
    fn of(key: &'a IncomingKey) -> Self {
        let named = |column: &'a String| Some(column.as_str()).filter(|name| !name.is_empty());
        Self {
            other_table: &key.other_table,
            column: named(&key.column),
            other_column: named(&key.other_column),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn an_editor_gets_tables_and_columns_by_name_and_views_without() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "create table z (b, a); create view v as select 1 as c; create table a (x)",
            )
            .unwrap();
        let schema = Schema::load(&connection).unwrap();
        let json = |columns| serde_json::to_string(&Columns(columns)).unwrap();
        assert_eq!(json(Some(&schema)), r#"{"a":["x"],"z":["a","b"],"v":[]}"#);
        assert_eq!(json(None), "{}");
    }

    #[test]
    fn a_key_to_no_column_is_null() {
        let key = IncomingKey {
            other_table: "t".into(),
            column: "a".into(),
            other_column: String::new(),
        };
        assert_eq!(
            serde_json::to_string(&Key::of(&key)).unwrap(),
            r#"{"other_table":"t","column":"a","other_column":null}"#
        );
    }
}
