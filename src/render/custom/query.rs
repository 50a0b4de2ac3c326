//! The page of a query.

use serde_json::{Map, Value as Json, json};
use tera::{Context, Value as Tera};

use super::rows::objects;
use super::{Filling, Wanted};
use crate::render::cell::plain;
use crate::render::links;
use crate::render::query_json::{Sources, one};
use crate::table::extras::{Extra, Scope};
use crate::text::html;

/// Adds what a template of the site wants of the page of a query.
pub fn query(context: &mut Context, s: &Sources<'_>, wanted: &Wanted) {
    if wanted.is_empty() {
        return;
    }
    let (rows, request) = (&s.page.rows, s.request);
    let mut filling = Filling::new(context, wanted, s.http);
    for extra in Extra::all(Scope::Query) {
        filling.add(extra.name(), || one(s, extra));
    }
    filling.add("rows", || objects(&rows.columns, rows));
    filling.add("display_rows", || display_rows(s));
    filling.add("named_parameter_values", || {
        let parameters = request.parameters.iter();
        parameters
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<Map<String, Json>>()
    });
    let allow_sql = filling.context.get("allow_sql").cloned();
    filling.add("allow_execute_sql", || allow_sql);
    filling.add("db_is_immutable", || !s.database.is_mutable);
    filling.add("url_csv", || {
        links::in_format(s.http, "csv", &[("_size", "max")])
    });
    filling.add(
        "renderers",
        || json!({"json": links::in_format(s.http, "json", &[])}),
    );
}

/// The cells of each row as HTML.
fn display_rows(s: &Sources<'_>) -> Vec<Vec<Tera>> {
    let rows = &s.page.rows;
    let truncate = s.config.settings.truncate_cells_html;
    let mut out = String::new();
    rows.iter()
        .map(|row| {
            let cells = row.values().zip(&rows.columns).map(|(value, column)| {
                out.clear();
                plain(&mut out, value, truncate, |out, bytes| {
                    html::escape_into(out, &links::result_blob(s.http, column, bytes));
                });
                Tera::safe_string(&out)
            });
            cells.collect()
        })
        .collect()
}
