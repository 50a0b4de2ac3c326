//! Searches the tables of a database, each as one job.

use parking_lot::Mutex;
use rusqlite::Connection;

use super::found::{Hit, Outcome, SearchPage, SearchedTable, pieces, shortened};
use super::plan::{Searchable, searchable};
use crate::auth::Asker;
use crate::config::Config;
use crate::db::functions::escape_fts;
use crate::db::snapshot::{SqlError, sqlite_message};
use crate::db::{Budget, Database, Limit, PageSnapshot, Value};
use crate::engine::{Graph, Page, Shape};
use crate::error::{Error, Result};

/// Tables that one page asks.
const TABLES: usize = 50;
/// Milliseconds for one table; all together may take `sql_time_limit_ms`.
const EACH_MS: u64 = 200;

/// Looks for `text` in all tables of `database` that can be searched.
pub fn execute(
    page: &Page<'_>,
    config: &Config,
    asker: Asker<'_>,
    database: &Database,
    text: &str,
) -> Result<SearchPage> {
    let snapshot = PageSnapshot::begin(database, &page.cancel)?;
    let schema = asker.schema(&database.name, snapshot.schema()?);
    let mut plans = searchable(config, &database.name, &schema);
    let rest = plans.split_off(plans.len().min(TABLES));
    let budget = Budget::millis(config.settings.sql_time_limit_ms).each(Limit::millis(EACH_MS));
    let outcomes: Vec<Mutex<Option<Result<Outcome>>>> =
        plans.iter().map(|_| Mutex::default()).collect();
    if !text.is_empty() {
        let mut graph = Graph::default();
        for (plan, outcome) in plans.iter().zip(&outcomes) {
            let (snapshot, budget) = (&snapshot, &budget);
            graph.add(&[], move || {
                *outcome.lock() = Some(search(snapshot, budget, plan, text));
            });
        }
        let shape = Shape::of(("search", &database.name, plans.len()));
        graph.run(page, page.way(shape, None), || snapshot.share());
    }
    if page.cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let lasts = plans.iter().all(|plan| plan.is_steady) && !snapshot.has_gaps();
    let mut tables = Vec::with_capacity(plans.len());
    for (plan, outcome) in plans.into_iter().zip(outcomes) {
        tables.push(SearchedTable {
            outcome: outcome.into_inner().unwrap_or(Ok(Outcome::nothing()))?,
            table: plan.table,
            all_at: plan.all_at,
            key_columns: plan.key_columns,
        });
    }
    // Stable, so tables with as many go by name.
    tables.sort_by_key(|searched| std::cmp::Reverse(searched.outcome.count()));
    Ok(SearchPage {
        tables,
        not_asked: rest.into_iter().map(|plan| plan.all_at).collect(),
        lasts,
    })
}

fn search(
    snapshot: &PageSnapshot<'_>,
    budget: &Budget,
    plan: &Searchable,
    text: &str,
) -> Result<Outcome> {
    // Quotes with nothing between them are nothing to look for; FTS5 would call it an error.
    if !plan.is_raw && escape_fts(text).is_empty() {
        return Ok(Outcome::nothing());
    }
    let hits = match snapshot.read_within(budget, |connection| hits(connection, plan, text)) {
        Ok(hits) => hits,
        Err(SqlError::TimeLimit) => return Ok(Outcome::TooSlow),
        Err(SqlError::Sqlite(error)) => return Ok(failed(plan, &error)),
        Err(error) => return Err(error.into()),
    };
    let counted = snapshot.read_within(budget, |connection| {
        connection
            .prepare_cached(&plan.count_sql)?
            .query_row([text], |row| row.get(0))
    });
    match counted {
        Ok(count) => Ok(Outcome::Found {
            hits,
            count: Some(count),
        }),
        Err(SqlError::TimeLimit) => Ok(Outcome::Found { hits, count: None }),
        Err(SqlError::Sqlite(error)) => Ok(failed(plan, &error)),
        Err(error) => Err(error.into()),
    }
}

fn hits(connection: &Connection, plan: &Searchable, text: &str) -> rusqlite::Result<Vec<Hit>> {
    let mut statement = connection.prepare_cached(&plan.rows_sql)?;
    let count = plan.key_columns.len();
    let rows = statement.query_map([text], |row| {
        let key = (0..count).map(|n| Ok(row.get_ref(n)?.into()));
        let key: Vec<Value> = key.collect::<rusqlite::Result<_>>()?;
        let label: Value = row.get_ref(count)?.into();
        let is_label = plan.has_label && !label.is_null();
        let snippet: Value = row.get_ref(count + 1)?.into();
        Ok(Hit {
            key,
            label: is_label.then(|| shortened(&label.display())),
            snippet: match snippet {
                Value::Null => Vec::new(),
                snippet => pieces(&snippet.display()),
            },
        })
    });
    rows?.collect()
}

/// Where the language of the index may be used, SQLite says what is wrong with it;
/// elsewhere the fault is not the visitor's, and for the log.
fn failed(plan: &Searchable, error: &rusqlite::Error) -> Outcome {
    if plan.is_raw {
        return Outcome::Failed(sqlite_message(error));
    }
    tracing::warn!("{} could not be searched: {error}", plan.table.name);
    Outcome::Failed("Its full-text index can't be used".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::db::registry::test_database;
    use crate::engine::{Engine, EngineOptions, ExtrasMode};

    fn found(text: &str, mode: ExtrasMode) -> Vec<(String, Outcome)> {
        let (_folder, database) = test_database(
            "create table note(id integer primary key, title text, body text);
             insert into note values (1, 'One', 'a fox'), (2, 'Two', 'fox fox'), (3, 'Three', 'dog');
             create virtual table note_fts using fts5(body, content='note', content_rowid='id');
             insert into note_fts(note_fts) values ('rebuild');
             create table old(id integer primary key, body text); insert into old values (7, 'the fox');
             create virtual table old_fts using fts4(body, content='old');
             insert into old_fts(old_fts) values ('rebuild');
             create table gone(k text primary key, body text) without rowid;
             create virtual table gone_fts using fts5(body, content='gone');",
        );
        let engine = Engine::new(&EngineOptions {
            threads: 2,
            mode,
            max_pages: 1,
            page_wait: Duration::from_secs(1),
        })
        .unwrap();
        let text = text.to_owned();
        let page = engine
            .run(|page| execute(page, &Config::default(), Asker::default(), &database, &text));
        let tables = page.unwrap().tables.into_iter();
        tables.map(|t| (t.table.name.clone(), t.outcome)).collect()
    }

    #[test]
    fn every_table_is_asked_and_the_one_with_the_most_comes_first() {
        for mode in [ExtrasMode::Parallel, ExtrasMode::Sequential] {
            let found = found("fox", mode);
            let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["note", "old", "gone"]);
            let Outcome::Found { hits, count } = &found[0].1 else {
                panic!("{:?}", found[0].1);
            };
            assert_eq!(*count, Some(2));
            let labels: Vec<_> = hits.iter().map(|hit| hit.label.as_deref()).collect();
            assert_eq!(labels, [Some("Two"), Some("One")], "the better one first");
            assert!(
                hits[1]
                    .snippet
                    .iter()
                    .any(|piece| piece.is_match && piece.text == "fox")
            );
            assert!(
                matches!(found[2].1, Outcome::Failed(_)),
                "no row number to join by"
            );
        }
    }

    #[test]
    fn what_would_be_an_error_in_the_language_of_the_index_is_looked_for_as_it_is() {
        for text in ["\"", "fox AND", "NEAR(", "*", "fox:", "-"] {
            for (name, outcome) in found(text, ExtrasMode::Auto) {
                let is_fine = name == "gone" || matches!(outcome, Outcome::Found { .. });
                assert!(is_fine, "{text} in {name}: {outcome:?}");
            }
        }
    }
}
