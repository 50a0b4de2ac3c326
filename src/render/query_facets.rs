//! The facets of a query's result: their links, their JSON, their boxes.

use serde_json::{Value as Json, json};

use super::extras_json::facets_json;
use super::facet_html::{FacetBox, FacetLine};
use super::json::to_json;
use super::links;
use super::query_json::Sources;
use crate::db::Value;
use crate::query::facets::filtered;
use crate::table::extras::{FacetKind, FacetRequest};
use crate::table::page::Facet;
use crate::text::query::join;
use crate::text::{css, number};

/// `facet_results`, in the form that tables have.
pub(super) fn results(s: &Sources<'_>) -> Json {
    let page = s.page;
    facets_json(&page.facets, &page.facets_timed_out, |counted| {
        facet(s, counted)
    })
}

fn facet(s: &Sources<'_>, facet: &Facet) -> Json {
    let values = facet.counted.values.iter();
    let values: Vec<Json> = values
        .map(|(value, count)| {
            let shown = if facet.request.kind == FacetKind::Array {
                json!(value.display())
            } else {
                to_json(value)
            };
            let toggle = value_link(s, &facet.request, value);
            json!({
                "value": shown.clone(),
                "label": shown,
                "count": count,
                "toggle_url": toggle.map(|path| format!("{}{path}", s.http.origin())),
                "selected": false,
            })
        })
        .collect();
    json!({
        "name": facet.request.column,
        "type": facet.request.kind.name(),
        "hideable": true,
        "toggle_url": without(s, &facet.request),
        "results": values,
        "truncated": facet.counted.truncated,
    })
}

/// The boxes of the page for people.
pub(super) fn boxes<'s>(s: &Sources<'s>) -> Vec<FacetBox<'s>> {
    let facets = s.page.facets.iter();
    facets.map(|facet| facet_box(s, facet)).collect()
}

fn facet_box<'s>(s: &Sources<'s>, facet: &'s Facet) -> FacetBox<'s> {
    let (request, counted) = (&facet.request, &facet.counted);
    let name = css::class(&request.column);
    let shows_all = s.http.query.get("_facet_size") == Some("max");
    let values = counted.values.iter();
    FacetBox {
        name: &request.column,
        kind: request.kind.name(),
        css: format!("facet-{}-query-{name}", css::class(&s.database.name)),
        id: format!("facet-{name}"),
        hideable: true,
        toggle_url: without(s, request),
        truncated: counted.truncated,
        more_url: if counted.truncated && !shows_all {
            let query = s.http.query.with_replaced(&[("_facet_size", Some("max"))]);
            s.http.prefixed(&join(&s.http.path, &query))
        } else {
            String::new()
        },
        count_of_values: number::thousands(counted.values.len() as u64),
        rows_scanned: String::new(),
        values: values
            .map(|(value, count)| FacetLine {
                value: value.display().into_owned(),
                label: value.display().into_owned(),
                count_text: number::thousands(*count),
                toggle_url: value_link(s, request, value).unwrap_or_default(),
                selected: false,
            })
            .collect(),
    }
}

/// This page without a facet, as a path.
fn without(s: &Sources<'_>, facet: &FacetRequest) -> String {
    let pair = (facet.kind.argument(), facet.column.as_str());
    let query = s.http.query.with_removed_pairs(&[pair]);
    s.http.prefixed(&join(&s.http.path, &query))
}

/// The SQL page with the rows that have a value, as a path; `None` where there is none or
/// the asker may not go there.
fn value_link(s: &Sources<'_>, facet: &FacetRequest, value: &Value) -> Option<String> {
    if !s.may_edit_sql() {
        return None;
    }
    let sql = filtered(&s.request.sql, &s.page.rows.columns, facet, value)?;
    let query = s.http.query.with_replaced(&[("sql", Some(&sql))]);
    let path = links::database(s.http, &s.database.name);
    Some(join(&format!("{path}/-/query"), &query))
}
