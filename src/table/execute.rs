//! Runs a plan: its rows and extras as a graph of jobs on one snapshot.

use std::sync::Arc;

use parking_lot::Mutex;

use super::extras::facets::FacetValues;
use super::extras::labels::{Labels, Lookup};
use super::extras::suggest::SuggestedFacet;
use super::extras::{Extra, FacetRequest, count, facets, suggest};
use super::fetch;
use super::page::{Facet, TablePage};
use super::plan::Plan;
use super::request::{self, TableRequest};
use super::rows::Rows;
use crate::config::Config;
use crate::db::schema::{ForeignKey, Schema};
use crate::db::snapshot::{SqlError, sqlite_message};
use crate::db::{Database, Limit, PageSnapshot};
use crate::engine::graph::JobId;
use crate::engine::{Graph, Page, Shape};
use crate::error::{Error, Result};
use crate::text::identifier::escape;

/// Which of the extras that need SQL a page wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The count.
    pub count: bool,
    /// The facets.
    pub facets: bool,
    /// Suggested facets.
    pub suggested: bool,
}

impl Wanted {
    /// What a request wants. A page for people shows all of it.
    pub fn by(request: &TableRequest, config: &Config, format: request::Format) -> Self {
        let settings = &config.settings;
        let html = format == request::Format::Html;
        let asked = |extras: &[Extra]| html || extras.iter().any(|&extra| request.wants(extra));
        let facets = [
            Extra::FacetResults,
            Extra::FacetsTimedOut,
            Extra::SortedFacetResults,
        ];
        let csv = format == request::Format::Csv;
        Self {
            count: !csv && !request.no_count && asked(&[Extra::Count, Extra::CountTruncated]),
            facets: !csv && !request.no_facet && asked(&facets),
            suggested: !csv
                && settings.suggest_facets
                && settings.allow_facet
                && request.next.is_none()
                && !request.no_facet
                && !request.no_suggest
                && asked(&[Extra::SuggestedFacets]),
        }
    }
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

/// A facet by its place in the plan: what was asked for, its values unless it
/// ran out of time, and their labels.
type CountedFacet = (usize, FacetRequest, Option<FacetValues>, Option<Labels>);

/// Where the jobs leave their results. Each place has one writer; the locks are never waited for long.
#[derive(Default)]
struct Results {
    rows: Mutex<Rows>,
    next: Mutex<Option<String>>,
    labels: Mutex<Vec<Option<Labels>>>,
    count: Mutex<Option<i64>>,
    facets: Mutex<Vec<CountedFacet>>,
    suggested: Mutex<Vec<SuggestedFacet>>,
    /// The error of the page, with the place in the order below of the job that failed.
    error: Mutex<Option<(Rank, Error)>>,
}

/// Whose error a page reports when several jobs fail: the first of these. So
/// the answer is the same whichever job ends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Rows,
    Labels,
    Facet(usize),
    Count,
    Suggestions,
}

impl Results {
    /// Does the work of a job, unless the page has failed at an earlier place already.
    fn step(&self, rank: Rank, work: impl FnOnce() -> Result<()>) {
        if self
            .error
            .lock()
            .as_ref()
            .is_some_and(|(failed, _)| *failed < rank)
        {
            return;
        }
        if let Err(error) = work() {
            let mut first = self.error.lock();
            if first.as_ref().is_none_or(|(failed, _)| rank < *failed) {
                *first = Some((rank, error));
            }
        }
    }
}

/// Runs the page of `table` that `request` asks for.
pub fn execute(
    page: &Page<'_>,
    config: &Config,
    database: &Database,
    table: &str,
    request: &TableRequest,
    wanted: Wanted,
) -> Result<TablePage> {
    let snapshot = PageSnapshot::begin(database, &page.cancel)?;
    let schema: Arc<Schema> = snapshot.schema()?;
    let table = schema
        .table(table)
        .ok_or_else(|| Error::NotFound(format!("Table not found: {table}")))?;
    let table_config = config.table(&database.name, &table.name);
    let plan = Plan::new(request, table, &schema, &config.settings, table_config)?;
    let context = Context {
        config,
        database,
        schema: &schema,
        snapshot: &snapshot,
        request,
        plan: &plan,
    };
    check_wheres(&context)?;
    let results = Results::default();
    let graph = graph(&context, &results, wanted);
    let shape = Shape::of(("table", &database.name, &plan.sql, &plan.facets, wanted));
    graph.run(page, shape, request.mode, || snapshot.share());
    if page.cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    drop(snapshot);
    finish(schema, plan, results)
}

/// Each `_where` must be a condition by itself, so that none can close the
/// clause around it or comment out what follows.
fn check_wheres(context: &Context<'_>) -> Result<()> {
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

/// The jobs of the page. The rows come first: when jobs run one after another,
/// wrong SQL is found before anything dear is done.
fn graph<'j>(context: &'j Context<'j>, results: &'j Results, wanted: Wanted) -> Graph<'j> {
    let mut graph = Graph::default();
    let rows = graph.add(&[], move || {
        results.step(Rank::Rows, || run_rows(context, results));
    });
    if context.request.labels != request::Labels::Off && !context.plan.table.foreign_keys.is_empty()
    {
        graph.add(&[rows], move || {
            results.step(Rank::Labels, || run_labels(context, results));
        });
    }
    if wanted.facets {
        add_facets(&mut graph, context, results);
    }
    let counted = wanted.count.then(|| {
        graph.add(&[], move || {
            results.step(Rank::Count, || {
                *results.count.lock() =
                    count::count(context.snapshot, context.plan, sql_limit(context))?;
                Ok(())
            });
        })
    });
    if wanted.suggested {
        let after: Vec<JobId> = counted.into_iter().collect();
        graph.add(&after, move || {
            results.step(Rank::Suggestions, || {
                run_suggestions(context, results, wanted)
            });
        });
    }
    graph
}

fn add_facets<'j>(graph: &mut Graph<'j>, context: &'j Context<'j>, results: &'j Results) {
    for (n, facet) in context.plan.facets.iter().enumerate() {
        graph.add(&[], move || {
            results.step(Rank::Facet(n), || {
                let limit = Limit::millis(context.config.settings.facet_time_limit_ms);
                let size = context.request.facet_size;
                let counted = facets::facet(context.snapshot, context.plan, facet, size, limit)?;
                let labels = match &counted {
                    Some(counted) => facet_labels(context, facet, counted)?,
                    None => None,
                };
                results
                    .facets
                    .lock()
                    .push((n, facet.clone(), counted, labels));
                Ok(())
            });
        });
    }
}

pub(super) fn sql_limit(context: &Context<'_>) -> Limit {
    Limit::millis(context.config.settings.sql_time_limit_ms)
}

fn run_rows(context: &Context<'_>, results: &Results) -> Result<()> {
    let (rows, next) = fetch::rows(context)?;
    *results.rows.lock() = rows;
    *results.next.lock() = next;
    Ok(())
}

fn run_labels(context: &Context<'_>, results: &Results) -> Result<()> {
    let rows = results.rows.lock();
    let asked = |key: &&ForeignKey| match &context.request.labels {
        request::Labels::Off => false,
        request::Labels::All => true,
        request::Labels::Columns(names) => names.contains(&key.column),
    };
    let keys = context.plan.table.foreign_keys.iter().filter(asked);
    *results.labels.lock() = lookup(context).rows(keys, &rows)?;
    Ok(())
}

fn facet_labels(
    context: &Context<'_>,
    facet: &FacetRequest,
    counted: &FacetValues,
) -> Result<Option<Labels>> {
    if facet.kind != super::extras::FacetKind::Column {
        return Ok(None);
    }
    match context
        .plan
        .table
        .foreign_keys
        .iter()
        .find(|key| key.column == facet.column)
    {
        Some(key) => {
            let values = counted.values.iter().map(|(value, _)| value.borrowed());
            lookup(context).values(key, values)
        }
        None => Ok(None),
    }
}

fn lookup<'c>(context: &Context<'c>) -> Lookup<'c> {
    Lookup {
        config: context.config,
        database: &context.database.name,
        schema: context.schema,
        snapshot: context.snapshot,
        limit: sql_limit(context),
    }
}

fn run_suggestions(context: &Context<'_>, results: &Results, wanted: Wanted) -> Result<()> {
    let counted = *results.count.lock();
    let row_count = match counted {
        Some(count) => count,
        // Not asked for, or out of time: as many rows as are looked at will do.
        None if !wanted.count => count::count_to(
            context.snapshot,
            context.plan,
            sql_limit(context),
            suggest::ROWS,
        )?
        .unwrap_or(0),
        None => suggest::ROWS,
    };
    let limit = Limit::millis(context.config.settings.facet_suggest_time_limit_ms);
    *results.suggested.lock() = suggest::suggest(
        context.snapshot,
        context.plan,
        context.request,
        row_count,
        limit,
    )?;
    Ok(())
}

fn finish(schema: Arc<Schema>, plan: Plan, results: Results) -> Result<TablePage> {
    if let Some((_, error)) = results.error.into_inner() {
        return Err(error);
    }
    let mut counted = results.facets.into_inner();
    counted.sort_by_key(|(n, ..)| *n);
    let mut facets = Vec::new();
    let mut facets_timed_out = Vec::new();
    for (_, request, values, labels) in counted {
        match values {
            Some(counted) => facets.push(Facet {
                request,
                counted,
                labels,
            }),
            None => facets_timed_out.push(request.column),
        }
    }
    Ok(TablePage {
        schema,
        plan,
        rows: results.rows.into_inner(),
        labels: results.labels.into_inner(),
        next: results.next.into_inner(),
        count: results.count.into_inner(),
        facets,
        facets_timed_out,
        suggested: results.suggested.into_inner(),
    })
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
