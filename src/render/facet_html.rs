//! Facets and suggested facets on the table page for people.

use serde::Serialize;

use super::extras_json::Sources;
use crate::db::Value;
use crate::table::extras::{FacetKind, FacetSource};
use crate::table::page::Facet;
use crate::text::{css, number};

/// A facet as `_facet_results.html` shows it.
#[derive(Serialize)]
pub(super) struct FacetBox<'a> {
    pub(super) name: &'a str,
    pub(super) kind: &'static str,
    pub(super) css: String,
    pub(super) id: String,
    pub(super) hideable: bool,
    pub(super) toggle_url: String,
    pub(super) truncated: bool,
    pub(super) more_url: String,
    pub(super) count_of_values: String,
    /// Rows that were counted in time, where that is not all: with separators.
    pub(super) rows_scanned: String,
    pub(super) values: Vec<FacetLine>,
}

/// A value of it.
#[derive(Serialize)]
pub(super) struct FacetLine {
    pub(super) value: String,
    pub(super) label: String,
    pub(super) count_text: String,
    pub(super) toggle_url: String,
    pub(super) selected: bool,
}

/// A facet that would help.
#[derive(Serialize)]
pub(super) struct Suggestion<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    toggle_url: String,
}

/// The box of one facet.
pub(super) fn facet_box<'a>(s: &Sources<'a>, facet: &'a Facet) -> FacetBox<'a> {
    let request = &facet.request;
    let name = css::class(&request.column);
    let (database, table) = (
        css::class(&s.database.name),
        css::class(&s.page.plan.table.name),
    );
    let shows_all = s.http.query.get("_facet_size") == Some("max");
    let values = facet
        .counted
        .values
        .iter()
        .map(|(value, count)| facet_line(s, facet, value, *count));
    FacetBox {
        name: &request.column,
        kind: request.kind.name(),
        css: format!("facet-{database}-{table}-{name}"),
        id: format!("facet-{name}"),
        hideable: request.source == FacetSource::Request,
        toggle_url: s.links.without_facet(request),
        truncated: facet.counted.truncated,
        more_url: if facet.counted.truncated && !shows_all {
            s.links.replaced(&[("_facet_size", Some("max"))])
        } else {
            String::new()
        },
        count_of_values: number::thousands(facet.counted.values.len() as u64),
        rows_scanned: facet
            .counted
            .rows_scanned
            .map_or_else(String::new, number::thousands),
        values: values.collect(),
    }
}

fn facet_line(s: &Sources<'_>, facet: &Facet, value: &Value, count: u64) -> FacetLine {
    let toggle = s.links.toggle(&facet.request, value);
    let label = facet.label(value);
    FacetLine {
        value: value.display().into_owned(),
        label: if label.is_null() && facet.counted.labels.is_some() {
            String::new()
        } else {
            label.display().into_owned()
        },
        count_text: number::thousands(count),
        toggle_url: toggle.url,
        selected: toggle.selected,
    }
}

/// The facets that would help, each with the link that adds it.
pub(super) fn suggestions<'a>(s: &Sources<'a>) -> Vec<Suggestion<'a>> {
    let suggested = s.page.suggested.iter();
    suggested
        .map(|suggestion| Suggestion {
            name: &suggestion.column,
            kind: match suggestion.kind {
                FacetKind::Column => "",
                kind => kind.name(),
            },
            toggle_url: s.links.with_facet(suggestion.kind, &suggestion.column),
        })
        .collect()
}
