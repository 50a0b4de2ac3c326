//! Runs a plan: its rows and extras as a graph of jobs on one snapshot.

use std::sync::Arc;

use super::extras::facet_scan::FacetScan;
use super::extras::facets::{Counted, FacetValues};
use super::extras::kept::{ExtraKey, ExtraValue, KeptExtras, Keys, What};
use super::extras::labels::{Labels, Lookup};
use super::extras::{Extra, FacetKind, FacetRequest, count, facets, suggest};
use super::fetch;
use super::page::TablePage;
use super::plan::Plan;
use super::request::{self, TableRequest};
use super::results::{Rank, Results};
use super::steady::is_steady;
use crate::auth::Asker;
use crate::config::Config;
use crate::db::schema::{ForeignKey, Schema};
use crate::db::snapshot::{SqlError, sqlite_message};
use crate::db::{Database, Limit, PageSnapshot, Version};
use crate::engine::{Claim, Flight, Graph, Page, Shape, Waiting};
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

/// A page that lacks extras which are on their way. It holds no connection.
pub struct Unfinished {
    schema: Arc<Schema>,
    plan: Plan,
    results: Results,
    with_partial_facets: bool,
    lasts: bool,
    waiting: Vec<(Place, Waiting<ExtraValue>)>,
}

impl Unfinished {
    /// Waits for what is on its way. `None` if another page gave up: then
    /// this one has to be executed again, without what is kept.
    pub async fn finish(mut self) -> Option<TablePage> {
        for (place, waiting) in std::mem::take(&mut self.waiting) {
            let value = waiting.result().await?;
            self.lasts &= value.is_complete();
            self.results.put(place, value);
        }
        Some(self.page())
    }

    fn page(self) -> TablePage {
        let Self { schema, plan, .. } = self;
        self.results
            .into_page(schema, plan, self.with_partial_facets, self.lasts)
    }
}

/// Where an extra stands on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Count,
    /// By the place in the plan.
    Facet(usize),
    Suggestions,
}

/// An extra that this page computes; others may be waiting for it.
type Mine = Option<Flight<ExtraKey, ExtraValue>>;

impl Results {
    fn put(&self, place: Place, value: ExtraValue) {
        match (place, value) {
            (Place::Facet(n), ExtraValue::Facet(counted)) => self.facets.lock().push((n, counted)),
            (_, ExtraValue::Count(counted)) => *self.count.lock() = counted,
            (_, ExtraValue::Suggestions(suggested)) => *self.suggested.lock() = suggested,
            (_, ExtraValue::Facet(_)) => {}
        }
    }

    /// Puts an extra that this page computed in its place, and gives it to those who wait.
    /// It is kept if it is all there is and `lasts`.
    fn land(&self, place: Place, value: ExtraValue, flight: Mine, lasts: bool) {
        if let Some(flight) = flight {
            let keep = lasts && value.is_complete();
            flight.land(value.clone(), keep);
        }
        self.put(place, value);
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
fn check_wheres(context: &Context<'_>, asker: Asker<'_>) -> Result<()> {
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

/// Looks which extras are there already, or on their way; those that are left this
/// page computes itself.
fn claim(
    context: &Context<'_>,
    kept: Option<&KeptExtras>,
    wanted: Wanted,
    results: &Results,
    waiting: &mut Vec<(Place, Waiting<ExtraValue>)>,
) -> Vec<(Place, Mine)> {
    let facets = &context.plan.facets;
    let facets = facets.iter().enumerate().filter(|_| wanted.facets);
    let mut places: Vec<_> = facets
        .map(|(n, facet)| (Place::Facet(n), What::Facet(facet)))
        .collect();
    if wanted.count {
        places.push((Place::Count, What::Count));
    }
    if wanted.suggested {
        places.push((Place::Suggestions, What::Suggestions));
    }
    let keys = kept
        .filter(|kept| kept.is_on())
        .zip(context.snapshot.version());
    let Some((kept, version)) = keys else {
        return places.into_iter().map(|(place, _)| (place, None)).collect();
    };
    let keys = Keys::new(
        version,
        &context.database.name,
        context.plan,
        context.request,
    );
    let mut mine = Vec::with_capacity(places.len());
    for (place, what) in places {
        match kept.claim(keys.key(what)) {
            Some(Claim::Kept(value)) => results.put(place, value),
            Some(Claim::Waiting(wait)) => waiting.push((place, wait)),
            Some(Claim::Mine(flight)) => mine.push((place, Some(flight))),
            None => mine.push((place, None)),
        }
    }
    mine
}

/// The scan of the facets of this page that one scan can count.
fn facet_scan<'s>(
    page: &'s Page<'_>,
    context: &Context<'s>,
    mine: &[(Place, Mine)],
    lanes: usize,
) -> Result<Option<FacetScan<'s>>> {
    let facets: Vec<&FacetRequest> = mine
        .iter()
        .filter_map(|(place, _)| scanned(context, *place))
        .collect();
    if facets.is_empty() {
        return Ok(None);
    }
    let limit = context.config.settings.facet_time_limit_ms;
    let (snapshot, plan) = (context.snapshot, context.plan);
    FacetScan::new(snapshot, plan, &page.cancel, &facets, limit, lanes).map(Some)
}

/// The facet at a place, if the scan counts it.
fn scanned<'c>(context: &Context<'c>, place: Place) -> Option<&'c FacetRequest> {
    let Place::Facet(n) = place else {
        return None;
    };
    let facet = &context.plan.facets[n];
    facets::can_tally(context.plan, facet).then_some(facet)
}

/// The jobs of the page. The rows come first: when jobs run one after another,
/// wrong SQL is found before anything dear is done.
fn graph<'j>(
    context: &'j Context<'j>,
    results: &'j Results,
    mine: Vec<(Place, Mine)>,
    scan: Option<&'j FacetScan<'j>>,
    lanes: usize,
) -> Graph<'j> {
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
    let mut of_scan = Vec::new();
    for (place, flight) in mine {
        match place {
            Place::Facet(n) if scanned(context, place).is_some() => of_scan.push((n, flight)),
            Place::Facet(n) => {
                graph.add(&[], move || {
                    results.step(Rank::Facet(n), || run_facet(context, results, n, flight));
                });
            }
            Place::Count => {
                graph.add(&[], move || {
                    results.step(Rank::Count, || run_count(context, results, flight));
                });
            }
            Place::Suggestions => {
                graph.add(&[], move || {
                    results.step(Rank::Suggestions, || {
                        run_suggestions(context, results, flight)
                    });
                });
            }
        }
    }
    if let Some(scan) = scan {
        let scans: Vec<_> = (0..scan.jobs(lanes))
            .map(|_| graph.add(&[], move || results.step(Rank::Facets, || scan.run())))
            .collect();
        graph.add(&scans, move || {
            results.step(Rank::Facets, || land_scan(context, results, scan, of_scan));
        });
    }
    graph
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

/// Puts the facets that were counted together in their places.
fn land_scan(
    context: &Context<'_>,
    results: &Results,
    scan: &FacetScan<'_>,
    places: Vec<(usize, Mine)>,
) -> Result<()> {
    let counted = scan.finish(context.request.facet_size);
    for ((n, flight), counted) in places.into_iter().zip(counted) {
        land_facet(context, results, n, counted, flight)?;
    }
    Ok(())
}

fn run_facet(context: &Context<'_>, results: &Results, n: usize, flight: Mine) -> Result<()> {
    let limit = Limit::millis(context.config.settings.facet_time_limit_ms);
    let (facet, size) = (&context.plan.facets[n], context.request.facet_size);
    let counted = facets::count_in_sql(context.snapshot, context.plan, facet, size, limit)?;
    land_facet(context, results, n, counted, flight)
}

fn land_facet(
    context: &Context<'_>,
    results: &Results,
    n: usize,
    counted: Option<FacetValues>,
    flight: Mine,
) -> Result<()> {
    let counted: Counted = match counted {
        Some(mut counted) => {
            counted.labels = facet_labels(context, &context.plan.facets[n], &counted)?;
            Some(Arc::new(counted))
        }
        None => None,
    };
    // A facet may lack labels that it should have.
    let lasts = !context.snapshot.has_gaps();
    results.land(Place::Facet(n), ExtraValue::Facet(counted), flight, lasts);
    Ok(())
}

fn facet_labels(
    context: &Context<'_>,
    facet: &FacetRequest,
    counted: &FacetValues,
) -> Result<Option<Labels>> {
    if facet.kind != FacetKind::Column {
        return Ok(None);
    }
    let keys = &context.plan.table.foreign_keys;
    match keys.iter().find(|key| key.column == facet.column) {
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

fn run_count(context: &Context<'_>, results: &Results, flight: Mine) -> Result<()> {
    let counted = count::count(context.snapshot, context.plan, sql_limit(context))?;
    results.land(Place::Count, ExtraValue::Count(counted), flight, true);
    Ok(())
}

fn run_suggestions(context: &Context<'_>, results: &Results, flight: Mine) -> Result<()> {
    let limit = Limit::millis(context.config.settings.facet_suggest_time_limit_ms);
    let suggested = suggest::suggest(context.snapshot, context.plan, context.request, limit)?;
    let suggested = ExtraValue::Suggestions(suggested.map(Arc::new));
    results.land(Place::Suggestions, suggested, flight, true);
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
