//! Runs a plan: its rows and extras as a graph of jobs on one snapshot.

use std::sync::Arc;

use super::extras::kept::KeptExtras;
use super::jobs::{facet_scan, graph};
use super::page::TablePage;
use super::plan::Plan;
use super::request::TableRequest;
use super::results::Results;
use super::sharing::{Place, Unfinished, claim};
use super::steady::is_steady;
use super::wanted::Wanted;
use crate::auth::Asker;
use crate::config::Config;
use crate::db::schema::Schema;
use crate::db::snapshot::{SqlError, sqlite_message};
use crate::db::{Database, Limit, PageSnapshot, Version};
use crate::engine::{Page, Shape};
use crate::error::{Error, Result};
use crate::text::identifier::escape;

/// A page that is asked for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Settings and the options of tables.
    pub config: &'a Config,
    /// The database.
    pub database: &'a Database,
    /// The name of the table, which may not exist.
    pub table: &'a str,
    /// What is asked of it.
    pub request: &'a TableRequest,
    /// The extras that take SQL.
    pub wanted: Wanted,
    /// The version of the database when the request came in.
    pub seen: Option<Version>,
    /// Who asks.
    pub asker: Asker<'a>,
    /// Extras that are there already; without, the page makes its own.
    pub kept: Option<&'a KeptExtras>,
}

/// A page whose jobs have ended.
pub enum Executed {
    /// It is all there.
    Done(TablePage),
    /// Some of its extras are being computed for other pages.
    Unfinished(Unfinished),
}

/// What the jobs need to know.
pub(super) struct Context<'c> {
    pub(super) config: &'c Config,
    pub(super) database: &'c Database,
    pub(super) schema: &'c Schema,
    pub(super) snapshot: &'c PageSnapshot<'c>,
    pub(super) request: &'c TableRequest,
    pub(super) plan: &'c Plan,
}

/// Runs the page that is asked for.
pub fn execute(page: &Page<'_>, asked: &Asked<'_>) -> Result<Executed> {
    let Asked {
        config,
        database,
        request,
        wanted,
        ..
    } = *asked;
    let snapshot = PageSnapshot::begin_at(database, &page.cancel, asked.seen)?;
    let whole = snapshot.schema()?;
    let schema = asked.asker.schema(&database.name, whole.clone());
    let table = schema
        .table(asked.table)
        .ok_or_else(|| Error::NotFound(format!("Table not found: {}", asked.table)))?;
    let table_config = config.table(&database.name, &table.name);
    let plan = Plan::new(request, table, &schema, table_config)?;
    let context = Context {
        config,
        database,
        schema: &schema,
        snapshot: &snapshot,
        request,
        plan: &plan,
    };
    check_wheres(&context, asked.asker)?;
    let is_steady = is_steady(&context);
    let results = Results::default();
    let mut waiting = Vec::new();
    // Who does not see all of the schema sees other labels and keys than others.
    let sees_all = Arc::ptr_eq(&whole, &schema);
    let kept = asked.kept.filter(|_| is_steady && sees_all);
    let mine = claim(&context, kept, wanted, &results, &mut waiting);

    let places: Vec<Place> = mine.iter().map(|(place, _)| *place).collect();
    let shape = Shape::of(("table", &database.name, &plan.sql, &plan.facets, places));
    let way = page.way(shape, request.mode);
    let lanes = if way.is_parallel { page.lanes() } else { 1 };
    let scan = facet_scan(page, &context, &mine, lanes)?;
    let graph = graph(&context, &results, mine, scan.as_ref(), lanes);
    graph.run(page, way, || snapshot.share());
    if page.cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let lasts = is_steady && !snapshot.has_gaps();
    drop(scan);
    drop(snapshot);
    if let Some(error) = results.error() {
        return Err(error);
    }
    let unfinished = Unfinished {
        with_partial_facets: !request.no_partial_facets,
        schema,
        plan,
        results,
        lasts,
        waiting,
    };
    Ok(if unfinished.waiting.is_empty() {
        Executed::Done(unfinished.page())
    } else {
        Executed::Unfinished(unfinished)
    })
}

/// Each `_where` must be a condition by itself, so that none can close the
/// clause around it or comment out what follows.
pub(super) fn check_wheres(context: &Context<'_>, asker: Asker<'_>) -> Result<()> {
    if !context.request.wheres.is_empty() && !asker.may_run_sql(&context.database.name) {
        return Err(Error::Forbidden(
            "_where= is not allowed here: it takes the right to run SQL".into(),
        ));
    }
    for clause in &context.request.wheres {
        let sql = format!(
            "select 1 from {} where ({clause}\n)",
            escape(&context.plan.table.name)
        );
        context
            .snapshot
            .read(Limit::NONE, |c| c.prepare(&sql).map(drop))
            .map_err(as_invalid_sql)?;
    }
    Ok(())
}

/// SQLite's refusal of SQL that a client's arguments add up to is the client's to know.
pub fn as_invalid_sql(error: SqlError) -> Error {
    use rusqlite::ErrorCode::{ParameterOutOfRange, TooBig, TypeMismatch, Unknown};
    match &error {
        // The statement could not even be compiled.
        SqlError::Sqlite(sqlite @ rusqlite::Error::SqlInputError { .. }) => {
            Error::InvalidSql(sqlite_message(sqlite))
        }
        SqlError::Sqlite(sqlite) => match sqlite.sqlite_error_code() {
            // Unknown is SQLITE_ERROR: a fault in the statement or an argument of a function.
            Some(Unknown | TooBig | TypeMismatch | ParameterOutOfRange) => {
                Error::InvalidSql(sqlite_message(sqlite))
            }
            _ => error.into(),
        },
        _ => error.into(),
    }
}
