//! The jobs of a table page: what each runs, and which waits for which.

use std::sync::Arc;

use super::execute::Context;
use super::extras::facet_scan::FacetScan;
use super::extras::facets::{Counted, FacetValues};
use super::extras::kept::ExtraValue;
use super::extras::labels::{Labels, Lookup};
use super::extras::{FacetKind, FacetRequest, count, facets, suggest};
use super::fetch;
use super::request;
use super::results::{Rank, Results};
use super::sharing::{Mine, Place};
use crate::db::Limit;
use crate::db::schema::ForeignKey;
use crate::engine::{Graph, Page};
use crate::error::Result;

/// The scan of the facets of this page that one scan can count.
pub(super) fn facet_scan<'s>(
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
pub(super) fn graph<'j>(
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
    let plan = context.plan;
    let inspected = if plan.is_whole_table() {
        context.database.inspected_count(&plan.table.name)
    } else {
        None
    };
    let counted = match inspected {
        Some(all) => Some(all),
        None => count::count(context.snapshot, plan, sql_limit(context))?,
    };
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
