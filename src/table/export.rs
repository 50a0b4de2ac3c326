//! All rows that match, in pieces, from one cursor: rows are found, sorted and
//! numbered once, however many there are.
//!
//! A cursor keeps its connection, and its state of the database, as long as it is
//! open. So it is closed again soon ([`RUN`]), and at once if the client does not
//! take what is made ([`SLOW`]); each piece says where the next one begins, and
//! another run goes on from there when there is somebody who waits for it.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::execute::{Asked, Context, as_invalid_sql, check_wheres};
use super::extras::labels::{Labels, Lookup};
use super::fetch::{next_token, sort_value_of};
use super::key::{Key, may_lack_a_key};
use super::page::TablePage;
use super::plan::Plan;
use super::rows::{Rows, bind};
use crate::db::schema::Schema;
use crate::db::{Limit, PageSnapshot};
use crate::engine::Sink;
use crate::error::{Error, Result};

/// Rows of the first piece at the most: few, so that the first bytes come soon.
pub const FIRST_ROWS: usize = 500;
/// Rows of the others.
const ROWS: usize = 8_192;
/// Values of a piece at the most, where rows have many.
const VALUES: usize = 64 << 10;
/// A piece ends when its texts and blobs have more bytes than this.
pub const BYTES: usize = 256 << 10;

/// The first rows may come only when SQLite has sorted all of them: so many
/// times the limit of a page.
const TO_SORT: u64 = 10;

/// How long a cursor stays open from its first piece on.
const RUN: Duration = Duration::from_millis(500);
/// How long it waits for a client that is behind.
const SLOW: Duration = Duration::from_millis(100);
/// A cursor whose first rows took long to find may stay open, and wait, so many
/// times as long: sorting a large table again for each piece would cost everybody more.
const WORTH: u32 = 4;

/// The limit of a page that has all rows: SQLite's largest integer, with the one that plans add.
#[expect(clippy::cast_possible_truncation, reason = "it is as large as can be")]
pub const ALL: usize = i64::MAX as usize - 1;

/// Rows of a piece at the most, when they have so many columns.
pub fn rows_of_a_piece(columns: usize) -> usize {
    ROWS.min(VALUES / columns.max(1)).max(1)
}

/// Rows of a table that are exported, with what writing them needs.
pub struct TableRows<'r> {
    /// The plan that they are of.
    pub plan: &'r Plan,
    /// The rows; beyond [`Self::columns`] there may be others, which are not shown.
    pub rows: &'r Rows,
    /// The names of the columns that are shown.
    pub columns: &'r [String],
    /// Labels of foreign keys, by the position of the column.
    pub labels: &'r [Option<Labels>],
}

impl<'r> TableRows<'r> {
    /// Those of a page.
    pub fn of(page: &'r TablePage) -> Self {
        Self {
            plan: &page.plan,
            rows: &page.rows,
            columns: page.columns(),
            labels: &page.labels,
        }
    }

    /// The positions of the key's columns in a row.
    pub fn key_positions(&self) -> Vec<usize> {
        let names = self.plan.key_columns.iter();
        names.filter_map(|name| self.rows.position(name)).collect()
    }
}

/// A piece of an export.
pub struct Part<T> {
    /// What was made of its rows.
    pub piece: T,
    /// Where the next one begins; `None` if this is the last.
    pub next: Option<String>,
}

/// Sends rows from where the request's page begins, as `write` makes a piece of
/// them; it is told which is the first of the whole export. At least one piece comes. After the
/// last one that was sent the export may have to go on from where it says.
pub fn run<T>(
    asked: &Asked<'_>,
    is_first: bool,
    sink: &Sink<Part<T>>,
    write: impl Fn(&TableRows<'_>, bool) -> Result<T>,
) -> Result<()> {
    let Asked {
        config,
        database,
        request,
        ..
    } = *asked;
    let snapshot = PageSnapshot::begin_at(database, &sink.cancel, asked.seen)?;
    let schema = asked.asker.schema(&database.name, snapshot.schema()?);
    let table = schema
        .table(asked.table)
        .ok_or_else(|| Error::NotFound(format!("Table not found: {}", asked.table)))?;
    let options = config.table(&database.name, &table.name);
    let mut plan = Plan::new(request, table, &schema, options)?;
    if may_lack_a_key(table) && !plan.has_row_number {
        plan = plan.by_row_number(request, &schema, options)?;
    }
    let context = Context {
        config,
        database,
        schema: &schema,
        snapshot: &snapshot,
        request,
        plan: &plan,
    };
    check_wheres(&context, asked.asker)?;
    let run = Run {
        asked,
        plan: &plan,
        schema: &schema,
        sink,
    };
    let ran = snapshot.read(Limit::NONE, |connection| {
        run.cursor(connection, is_first, &write)
    });
    ran.map_err(as_invalid_sql)?
}

struct Run<'r, T> {
    asked: &'r Asked<'r>,
    plan: &'r Plan,
    schema: &'r Schema,
    sink: &'r Sink<Part<T>>,
}

impl<T> Run<'_, T> {
    fn cursor(
        &self,
        connection: &Connection,
        is_first: bool,
        write: &impl Fn(&TableRows<'_>, bool) -> Result<T>,
    ) -> rusqlite::Result<Result<()>> {
        let began = Instant::now();
        let limit_ms = self.asked.request.time_limit_ms;
        let mut statement = connection.prepare_cached(&self.plan.sql)?;
        let names = statement.column_names().into_iter();
        let mut rows = Rows::of(names.map(str::to_owned).collect());
        bind(&mut statement, &self.plan.params)?;
        let mut cursor = statement.raw_query();
        let most = rows_of_a_piece(rows.columns.len());
        let mut passed = self.plan.offset;
        // The first piece finds the queue empty.
        let mut pace: Option<(Duration, Duration)> = None;
        loop {
            let is_first = is_first && pace.is_none();
            let size = if is_first { most.min(FIRST_ROWS) } else { most };
            let times = if pace.is_none() { TO_SORT } else { 1 };
            let limit = Limit::millis(limit_ms.saturating_mul(times));
            let ended = limit.enforce(connection, &self.sink.cancel, |_| {
                rows.take_next(&mut cursor, size, BYTES)
            })?;
            passed += rows.len();
            let (run, patience) = pace.unwrap_or_else(|| {
                let worth = began.elapsed() * WORTH;
                (RUN.max(worth), SLOW.max(worth))
            });
            let patience = match pace.replace((run, patience)) {
                None => Duration::MAX,
                Some(_) => patience,
            };
            let sent = self
                .part(connection, &rows, passed, ended, |rows| {
                    write(rows, is_first)
                })
                .and_then(|part| self.sink.offer(part, patience));
            match sent {
                Ok(true) if !ended && began.elapsed() < run => {}
                Ok(_) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    fn part(
        &self,
        connection: &Connection,
        rows: &Rows,
        passed: usize,
        ended: bool,
        write: impl FnOnce(&TableRows<'_>) -> Result<T>,
    ) -> Result<Part<T>> {
        let plan = self.plan;
        let hidden = usize::from(plan.key == Key::HiddenRowid) + usize::from(plan.has_row_number);
        let labels = self.labels(rows)?;
        let piece = write(&TableRows {
            plan,
            rows,
            columns: &rows.columns[..rows.columns.len() - hidden],
            labels: &labels,
        })?;
        let next = if ended {
            None
        } else {
            Some(next_token(plan, rows, passed, |sort, key| {
                sort_value_of(connection, plan, sort, key)
                    .map_err(|error| Error::Internal(format!("SQLite: {error}")))
            })?)
        };
        Ok(Part { piece, next })
    }

    /// The labels of the rows. The connection of the cursor is taken, so they are read by another.
    fn labels(&self, rows: &Rows) -> Result<Vec<Option<Labels>>> {
        let wanted = &self.asked.request.labels;
        let keys = self.plan.table.foreign_keys.iter();
        let mut keys = keys.filter(|key| wanted.include(&key.column)).peekable();
        if rows.is_empty() || keys.peek().is_none() {
            return Ok(Vec::new());
        }
        let Asked {
            config, database, ..
        } = *self.asked;
        let snapshot = PageSnapshot::begin(database, &self.sink.cancel)?;
        let lookup = Lookup {
            config,
            database: &database.name,
            schema: self.schema,
            snapshot: &snapshot,
            limit: Limit::millis(config.settings.sql_time_limit_ms),
        };
        lookup.rows(keys, rows)
    }
}
