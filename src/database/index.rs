//! The front page: every database with its largest tables.

use std::cmp::Reverse;
use std::sync::Arc;

use super::counts::{Counting, Missing};
use super::page::{IndexEntry, IndexTable, Keys, is_hidden, views_by_name};
use crate::auth::Asker;
use crate::config::Config;
use crate::db::schema::{Schema, Table};
use crate::db::{Budget, Database, Limit, PageSnapshot};
use crate::engine::{Graph, Page, Shape};
use crate::error::{Error, Result};

/// Tables and views that are named of each database.
const NAMED: usize = 5;
/// Time to count one table, in milliseconds: Datasette's. All together may take `sql_time_limit_ms`.
const COUNT_MS: u64 = 10;
/// Bytes of a file that may change, from which its tables are not counted.
const LARGE: u64 = 100 << 20;

/// Reads what the front page shows of each of `databases`, in their order.
/// `by_relationships` puts the tables with the most foreign keys first.
pub fn index(
    page: &Page<'_>,
    config: &Config,
    asker: Asker<'_>,
    databases: &[Arc<Database>],
    by_relationships: bool,
) -> Result<Vec<IndexEntry>> {
    let mut opened = Vec::with_capacity(databases.len());
    for database in databases {
        let snapshot = PageSnapshot::begin(database, &page.cancel)?;
        let schema = asker.schema(&database.name, snapshot.schema()?);
        opened.push((database, snapshot, schema));
    }
    let to_count: Vec<Vec<&Table>> = opened
        .iter()
        .map(|(database, _, schema)| tables_to_count(database, schema))
        .collect();
    let budget = Budget::millis(config.settings.sql_time_limit_ms).each(Limit::millis(COUNT_MS));
    let countings: Vec<Counting<'_>> = opened
        .iter()
        .zip(&to_count)
        .map(|((database, snapshot, _), tables)| {
            let cancel = &page.cancel;
            Counting::new(
                database,
                snapshot,
                cancel,
                tables,
                &budget,
                Missing::SpoilsAll,
            )
        })
        .collect();
    let mut graph = Graph::default();
    for counting in &countings {
        counting.add_to(&mut graph);
    }
    graph.run(page, page.way(Shape::of("index"), None), || {
        for (_, snapshot, _) in &opened {
            snapshot.share();
        }
    });
    if page.cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let counts: Vec<_> = countings
        .into_iter()
        .map(Counting::finish)
        .collect::<Result<_>>()?;
    let listed = opened.iter().zip(counts);
    Ok(listed
        .map(|((database, snapshot, schema), counts)| IndexEntry {
            lasts: schema.has_steady_counts() && !snapshot.has_gaps(),
            ..entry(config, database, schema, &counts, by_relationships)
        })
        .collect())
}

/// All tables, those that are not listed too: if one of them cannot be counted
/// no sum is shown, as in Datasette.
fn tables_to_count<'s>(database: &Database, schema: &'s Schema) -> Vec<&'s Table> {
    if database.is_mutable && database.size() >= LARGE {
        return Vec::new();
    }
    schema.tables().map(AsRef::as_ref).collect()
}

/// `counts` are those of all tables in order, or none.
fn entry(
    config: &Config,
    database: &Database,
    schema: &Schema,
    counts: &[Option<i64>],
    by_relationships: bool,
) -> IndexEntry {
    let counted = !counts.is_empty();
    let keys = (by_relationships || !counted).then(|| Keys::of(schema));
    let mut entry = IndexEntry {
        tables_count: 0,
        rows: 0,
        counted,
        hidden_count: 0,
        hidden_rows: 0,
        tables: Vec::new(),
        views: views_by_name(schema),
        views_count: 0,
        more: false,
        lasts: false,
    };
    for (n, table) in schema.tables().enumerate() {
        if !table.listed {
            continue;
        }
        let count = counts.get(n).copied().flatten();
        if is_hidden(table, config.table(&database.name, &table.name)) {
            entry.hidden_count += 1;
            entry.hidden_rows += count.unwrap_or(0);
        } else {
            entry.tables_count += 1;
            entry.rows += count.unwrap_or(0);
            entry.tables.push(IndexTable {
                table: table.clone(),
                count,
                relationships: keys.as_ref().map_or(0, |keys| keys.count(&table.name)),
            });
        }
    }
    entry.views_count = entry.views.len();
    entry.more = entry.tables_count + entry.views_count > NAMED;
    entry.tables.sort_unstable_by(|a, b| {
        let rank = |t: &IndexTable| Reverse((t.relationships, t.count.unwrap_or(0)));
        (rank(a), Reverse(&a.table.name)).cmp(&(rank(b), Reverse(&b.table.name)))
    });
    entry.tables.truncate(NAMED);
    entry.views.truncate(NAMED - entry.tables.len());
    entry
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::db::registry::test_database;
    use crate::engine::{Engine, EngineOptions, ExtrasMode};

    fn entry_of(sql: &str, by_relationships: bool) -> IndexEntry {
        let (_folder, database) = test_database(sql);
        let engine = Engine::new(&EngineOptions {
            threads: 1,
            mode: ExtrasMode::Auto,
            max_pages: 1,
            page_wait: Duration::from_secs(1),
        })
        .unwrap();
        let databases = [database];
        let index = engine.run(|page| {
            index(
                page,
                &Config::default(),
                Asker::default(),
                &databases,
                by_relationships,
            )
        });
        index.unwrap().pop().unwrap()
    }

    fn names(entry: &IndexEntry) -> Vec<&str> {
        let tables = entry.tables.iter().map(|named| &named.table);
        tables
            .chain(&entry.views)
            .map(|t| t.name.as_str())
            .collect()
    }

    const SQL: &str = "create table a (x); create table b (x); create table c (x references a);
         create table _h (x); insert into _h values (1);
         insert into b values (1), (2); create view w as select 1; create view v as select 1;
         create view u as select nope from a;";

    #[test]
    fn the_largest_tables_come_first_and_views_fill_up() {
        let entry = entry_of(SQL, false);
        assert_eq!(names(&entry), ["b", "c", "a", "u", "v"]);
        assert!(entry.counted && entry.more);
        assert_eq!((entry.tables_count, entry.rows), (3, 2));
        assert_eq!((entry.hidden_count, entry.hidden_rows), (1, 1));
        assert_eq!(entry.views_count, 3);
    }

    #[test]
    fn the_order_may_go_by_foreign_keys() {
        let keyed = SQL.replace("references a", "references a(x)");
        assert_eq!(names(&entry_of(&keyed, true))[..3], ["c", "a", "b"]);
    }

    #[test]
    fn one_table_that_cannot_be_counted_leaves_no_sum() {
        let sql = format!("{SQL} create virtual table f using fts5(y, content=a)");
        let entry = entry_of(&sql, false);
        assert!(!entry.counted);
        assert_eq!((entry.rows, entry.hidden_rows), (0, 0));
        assert!(entry.tables.iter().all(|table| table.count.is_none()));
    }
}
