//! A database page: its tables, their keys and counts, its views.

use super::counts::{Counting, Missing};
use super::page::{DatabasePage, Keys, ListedTable, is_hidden, views_by_name};
use crate::auth::Asker;
use crate::config::Config;
use crate::db::schema::Table;
use crate::db::{Budget, Database, Limit, PageSnapshot};
use crate::engine::{Graph, Page, Shape};
use crate::error::{Error, Result};

/// Time to count one table, in milliseconds: Datasette's. All together may take `sql_time_limit_ms`.
const COUNT_MS: u64 = 100;

/// Which tables a page wants to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// All.
    All,
    /// Those that are not hidden.
    Visible,
}

/// Reads what the page of `database` shows.
pub fn execute(
    page: &Page<'_>,
    config: &Config,
    asker: Asker<'_>,
    database: &Database,
    counted: Counted,
) -> Result<DatabasePage> {
    let snapshot = PageSnapshot::begin(database, &page.cancel)?;
    let schema = asker.schema(&database.name, snapshot.schema()?);
    let mut keys = Keys::of(&schema);
    let mut tables: Vec<ListedTable> = schema
        .tables()
        .filter(|table| table.listed)
        .map(|table| ListedTable {
            count: None,
            hidden: is_hidden(table, config.table(&database.name, &table.name)),
            keys: keys.take(&table.name),
            table: table.clone(),
        })
        .collect();
    tables.sort_unstable_by(|a, b| (a.hidden, &a.table.name).cmp(&(b.hidden, &b.table.name)));
    let hidden_count = tables.iter().filter(|table| table.hidden).count();
    let wanted = match counted {
        Counted::All => tables.len(),
        Counted::Visible => tables.len() - hidden_count,
    };
    let to_count: Vec<&Table> = tables[..wanted].iter().map(|t| t.table.as_ref()).collect();
    let budget = Budget::millis(config.settings.sql_time_limit_ms).each(Limit::millis(COUNT_MS));
    let counting = Counting::new(
        database,
        &snapshot,
        &page.cancel,
        &to_count,
        &budget,
        Missing::Leaves,
    );
    let mut graph = Graph::default();
    counting.add_to(&mut graph);
    let shape = Shape::of(("database", &database.name, wanted));
    graph.run(page, page.way(shape, None), || snapshot.share());
    if page.cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let counts = counting.finish()?;
    let lasts = schema.has_steady_counts() && !snapshot.has_gaps();
    for (table, count) in tables.iter_mut().zip(counts) {
        table.count = count;
    }
    Ok(DatabasePage {
        views: views_by_name(&schema),
        tables,
        hidden_count,
        schema,
        lasts,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::db::registry::test_database;
    use crate::engine::{Engine, EngineOptions, ExtrasMode};

    fn page(sql: &str, mode: ExtrasMode, counted: Counted) -> DatabasePage {
        let (_folder, database) = test_database(sql);
        let engine = Engine::new(&EngineOptions {
            threads: 2,
            mode,
            max_pages: 1,
            page_wait: Duration::from_secs(1),
        })
        .unwrap();
        let page = engine.run(|page| {
            execute(
                page,
                &Config::default(),
                Asker::default(),
                &database,
                counted,
            )
        });
        page.unwrap()
    }

    fn counts(page: &DatabasePage) -> Vec<(&str, Option<i64>, bool)> {
        let tables = page.tables.iter();
        tables
            .map(|t| (t.table.name.as_str(), t.count, t.hidden))
            .collect()
    }

    #[test]
    fn tables_come_by_name_with_the_hidden_ones_last() {
        let sql = "create table b (x); create table _z (x); create table B (y); create table a (x)";
        let sql = sql.replace("create table B (y)", "insert into b values (1)");
        let page = page(&sql, ExtrasMode::Auto, Counted::Visible);
        assert_eq!(
            counts(&page),
            [
                ("a", Some(0), false),
                ("b", Some(1), false),
                ("_z", None, true)
            ]
        );
        assert_eq!(page.hidden_count, 1);
    }

    #[test]
    fn a_table_that_cannot_be_read_and_a_broken_view_are_listed() {
        let sql = "create table t (a); create virtual table f using fts5(b, content=t);
                   create view w as select nope from t; create view v as select * from t";
        let page = page(sql, ExtrasMode::Auto, Counted::All);
        assert_eq!(counts(&page), [("t", Some(0), false), ("f", None, true)]);
        let views: Vec<_> = page.views.iter().map(|view| view.name.as_str()).collect();
        assert_eq!(views, ["v", "w"]);
    }

    #[test]
    fn many_tables_are_counted_alike_in_parallel_and_one_after_another() {
        use std::fmt::Write as _;
        let mut sql = String::from("begin;");
        for n in 0..150 {
            let _ = write!(sql, "create table t{n} (x); insert into t{n} values ({n});");
        }
        sql.push_str("commit");
        let all = |mode| {
            let page = page(&sql, mode, Counted::All);
            counts(&page).into_iter().filter(|t| t.1 == Some(1)).count()
        };
        assert_eq!(all(ExtrasMode::Parallel), 150);
        assert_eq!(all(ExtrasMode::Sequential), 150);
    }
}
