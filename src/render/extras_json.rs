//! The extras of a table page as JSON.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::display_columns::columns_for_display;
use super::json::to_json;
use super::links::Links;
use crate::auth::Asker;
use crate::config::Config;
use crate::db::Database;
use crate::db::schema::Table;
use crate::http::request::Request;
use crate::table::TablePage;
use crate::table::extras::labels::label_column;
use crate::table::extras::{Extra, FacetKind, FacetSource, Scope};
use crate::table::page::{Facet, is_capped};
use crate::table::request::{Shape, TableRequest, is_filter};
use crate::text::css;
use crate::text::query::join;

/// Everything that extras are made of.
pub struct Sources<'s> {
    /// The configuration.
    pub config: &'s Config,
    /// The database.
    pub database: &'s Database,
    /// The HTTP request.
    pub http: &'s Request,
    /// Who asks.
    pub asker: Asker<'s>,
    /// The table request.
    pub request: &'s TableRequest,
    /// What came out.
    pub page: &'s TablePage,
    /// Its links.
    pub links: &'s Links<'s>,
}

/// What an address was found to mean, in the words that Datasette's debugging has for it.
fn resolved(s: &Sources<'_>) -> String {
    let (database, table) = (s.database, &s.page.plan.table);
    let state = match database.hash() {
        Some(hash) => format!("hash={hash}"),
        None => "mutable".to_owned(),
    };
    format!(
        "ResolvedTable(db=<Database: {} ({state}, size={})>, table='{}', is_view={})",
        database.name,
        database.size(),
        table.name,
        if table.is_view() { "True" } else { "False" },
    )
}

/// The extras that the request wants, by name.
pub fn extras(sources: &Sources<'_>) -> Map<String, Json> {
    if !matches!(sources.request.shape, Shape::Objects | Shape::Arrays) {
        return Map::new();
    }
    sources
        .request
        .extras
        .iter()
        .map(|&extra| (extra.name().to_owned(), one(sources, extra)))
        .collect()
}

/// One extra.
pub(super) fn one(s: &Sources<'_>, extra: Extra) -> Json {
    let (page, plan, table) = (s.page, &s.page.plan, &s.page.plan.table);
    let is_view = table.is_view();
    match extra {
        Extra::Count => json!(page.count),
        Extra::CountTruncated => json!(is_capped(page.count)),
        Extra::CountSql => json!(plan.count_sql()),
        Extra::FacetResults => facet_results(s),
        Extra::FacetsTimedOut => json!(page.facets_timed_out),
        Extra::SuggestedFacets => suggested_facets(s),
        Extra::HumanDescriptionEn => json!(plan.description),
        Extra::Columns => json!(page.columns()),
        Extra::AllColumns => table
            .columns
            .iter()
            .map(|c| Json::from(c.name.as_str()))
            .collect(),
        Extra::PrimaryKeys => json!(table.primary_keys),
        Extra::ColumnDetails => column_details(table),
        Extra::DisplayColumns => display_columns(s),
        Extra::RenderCell => page.rows.iter().map(|_| json!({})).collect(),
        Extra::Debug => json!({
            "url_vars": {"database": s.database.name, "table": table.name, "format": "json"},
            "resolved": resolved(s),
            "nofacet": s.http.query.get("_nofacet"),
            "nosuggest": s.http.query.get("_nosuggest"),
        }),
        Extra::Request => request_as_json(s.http),
        Extra::Query => query(s),
        Extra::ColumnTypes => json!({}),
        // Only rows have the second.
        Extra::SetColumnTypeUi | Extra::ForeignKeyTables => Json::Null,
        Extra::Metadata => metadata(s.config, s.database, &table.name),
        Extra::Extras => list_of_extras(Scope::Table, &s.request.extras, s.http),
        Extra::Database => json!(s.database.name),
        Extra::Table => json!(table.name),
        Extra::DatabaseColor => json!(s.database.color()),
        Extra::Renderers => {
            let labels: &[_] = if table.foreign_keys.is_empty() {
                &[]
            } else {
                &[("_labels", "on")]
            };
            json!({"json": s.links.format("json", labels)})
        }
        Extra::CustomTableTemplates => {
            let (database, name) = (css::class(&s.database.name), css::class(&table.name));
            json!([
                format!("_table-{database}-{name}.html"),
                format!("_table-table-{database}-{name}.html"),
                "_table.html",
            ])
        }
        Extra::SortedFacetResults => page
            .sorted_facets()
            .into_iter()
            .map(|n| facet(s, &page.facets[n]))
            .collect(),
        Extra::TableDefinition => definition(s, !is_view),
        Extra::ViewDefinition => definition(s, is_view),
        Extra::IsView => json!(is_view),
        Extra::Private => {
            let table = &s.page.plan.table.name;
            json!(s.asker.is_private_table(&s.database.name, table))
        }
        Extra::ExpandableColumns => expandable_columns(s),
        Extra::FormHiddenArgs => form_hidden_args(s.http)
            .into_iter()
            .map(|(key, value)| json!([key, value]))
            .collect(),
    }
}

fn definition(s: &Sources<'_>, applies: bool) -> Json {
    if applies {
        json!(s.page.plan.table.definition)
    } else {
        Json::Null
    }
}

fn query(s: &Sources<'_>) -> Json {
    let plan = &s.page.plan;
    let params: Map<String, Json> = plan
        .params
        .iter()
        .map(|(name, value)| (name.clone(), to_json(value)))
        .collect();
    json!({"sql": plan.sql, "params": params})
}

fn facet_results(s: &Sources<'_>) -> Json {
    let page = s.page;
    facets_json(&page.facets, &page.facets_timed_out, |counted| {
        facet(s, counted)
    })
}

/// The facets of a page by name, as `facet` writes each, and the columns of those that
/// there was no time for.
pub(super) fn facets_json(
    facets: &[Facet],
    timed_out: &[String],
    facet: impl Fn(&Facet) -> Json,
) -> Json {
    let mut results = Map::new();
    for counted in facets {
        // The same column may have facets of several kinds.
        let name = &counted.request.column;
        let mut key = name.clone();
        let mut n = 1;
        while results.contains_key(&key) {
            n += 1;
            key = format!("{name}_{n}");
        }
        results.insert(key, facet(counted));
    }
    json!({"results": results, "timed_out": timed_out})
}

fn facet(s: &Sources<'_>, facet: &Facet) -> Json {
    let values: Vec<Json> = facet
        .counted
        .values
        .iter()
        .map(|(value, count)| {
            let toggle = s.links.toggle(&facet.request, value);
            // The elements of arrays are text, whatever they are in the JSON.
            let show = |v| {
                if facet.request.kind == FacetKind::Array {
                    json!(crate::db::Value::display(v))
                } else {
                    to_json(v)
                }
            };
            json!({
                "value": show(value),
                "label": show(facet.label(value)),
                "count": count,
                "toggle_url": toggle.url,
                "selected": toggle.selected,
            })
        })
        .collect();
    let mut json = Map::new();
    json.insert("name".into(), json!(facet.request.column));
    json.insert("type".into(), json!(facet.request.kind.name()));
    // Datasette's order of keys is another for column facets; a client that prints them sees it.
    if facet.request.kind != FacetKind::Column {
        json.insert("results".into(), json!(values));
    }
    json.insert(
        "hideable".into(),
        json!(facet.request.source == FacetSource::Request),
    );
    json.insert(
        "toggle_url".into(),
        json!(s.links.without_facet(&facet.request)),
    );
    if facet.request.kind == FacetKind::Column {
        json.insert("results".into(), json!(values));
    }
    json.insert("truncated".into(), json!(facet.counted.truncated));
    if let Some(rows) = facet.counted.rows_scanned {
        json.insert("partial".into(), json!(true));
        json.insert("rows_scanned".into(), json!(rows));
    }
    json.into()
}

fn suggested_facets(s: &Sources<'_>) -> Json {
    s.page
        .suggested
        .iter()
        .map(|suggested| {
            let toggle_url = s.links.with_facet(suggested.kind, &suggested.column);
            match suggested.kind {
                FacetKind::Column => json!({"name": suggested.column, "toggle_url": toggle_url}),
                kind => {
                    json!({"name": suggested.column, "type": kind.name(), "toggle_url": toggle_url})
                }
            }
        })
        .collect()
}

/// What the schema says of each column.
pub(super) fn column_details(table: &Table) -> Json {
    let details: Map<String, Json> = table
        .columns
        .iter()
        .map(|column| {
            let detail = json!({
                "type": column.declared_type,
                "sqlite_type": column.sqlite_type(),
                "notnull": column.not_null,
                "default": column.default,
                "is_pk": column.pk_position > 0,
                "pk_position": column.pk_position,
                "hidden": column.hidden,
            });
            (column.name.clone(), detail)
        })
        .collect();
    details.into()
}

fn display_columns(s: &Sources<'_>) -> Json {
    let config = s.config.table(&s.database.name, &s.page.plan.table.name);
    let is_key = s.page.plan.table.primary_keys.len() == 1;
    columns_for_display(s.page)
        .into_iter()
        .enumerate()
        .map(|(n, column)| {
            let mut json = json!({
                "name": column.name,
                "sortable": column.sortable,
                "is_pk": column.is_pk,
                "type": column.data_type,
                "notnull": u8::from(column.not_null),
            });
            if column.is_link {
                json["is_special_link_column"] = true.into();
            } else if !(n == 0 && is_key) {
                json["description"] = json!(config.column_description(&column.name));
                json["column_type"] = Json::Null;
                json["column_type_config"] = Json::Null;
            }
            json
        })
        .collect()
}

/// The request as it arrived.
pub(super) fn request_as_json(http: &Request) -> Json {
    let args: Map<String, Json> = http
        .query
        .grouped()
        .into_iter()
        .map(|(key, values)| (key.to_owned(), json!(values)))
        .collect();
    let full_path = http.prefixed(&http.full_path());
    json!({
        "url": format!("{}{full_path}", http.origin()),
        "path": http.prefixed(&http.path),
        "full_path": full_path,
        "host": http.host,
        "args": args,
    })
}

/// Title, source and the like of a table, and the descriptions of its columns.
pub(super) fn metadata(config: &Config, database: &Database, table: &str) -> Json {
    let config = config.table(&database.name, table);
    let mut json = config.metadata.all.clone();
    let columns: Map<String, Json> = config
        .columns
        .iter()
        .map(|(name, text)| (name.clone(), json!(text)))
        .collect();
    json.insert("columns".into(), columns.into());
    json.into()
}

/// The extras that a kind of page has, each with the link that adds or removes it.
pub(super) fn list_of_extras(scope: Scope, selected: &BTreeSet<Extra>, http: &Request) -> Json {
    Extra::all(scope)
        .map(|extra| {
            let selected = selected.contains(&extra);
            let toggle = if selected {
                http.query.with_removed_pairs(&[("_extra", extra.name())])
            } else {
                http.query.with_added(&[("_extra", Some(extra.name()))])
            };
            json!({
                "name": extra.name(),
                "description": extra.description(),
                "toggle_url": http.absolute(&join(&http.path, &toggle)),
                "selected": selected,
            })
        })
        .collect()
}

fn expandable_columns(s: &Sources<'_>) -> Json {
    s.page
        .plan
        .table
        .foreign_keys
        .iter()
        .map(|key| {
            let label = s
                .page
                .schema
                .find(&key.other_table)
                .and_then(|table| label_column(s.config, &s.database.name, table));
            json!([
                {"column": key.column, "other_table": key.other_table, "other_column": key.other_column},
                label,
            ])
        })
        .collect()
}

/// The arguments that the filter form carries along: all special ones but
/// those that the form has fields for, and the page.
pub fn form_hidden_args(http: &Request) -> Vec<(String, String)> {
    let has_field = |key: &str| matches!(key, "_sort" | "_sort_desc" | "_search" | "_next");
    http.query
        .grouped()
        .into_iter()
        .filter(|(key, _)| !is_filter(key) && !has_field(key))
        .flat_map(|(key, values)| {
            values
                .into_iter()
                .map(move |value| (key.to_owned(), value.to_owned()))
                .collect::<Vec<_>>()
        })
        .collect()
}
