//! The table page for people: fills the context of `table.html`.

use serde::Serialize;
use tera::Context;

use super::cells::{self, CellContext};
use super::display_columns::{DisplayColumn, columns_for_display};
use super::extras_json::{Sources, form_hidden_args};
use super::facet_html::{facet_box, suggestions};
use super::links::all_as_lines;
use super::options;
use crate::table::key::Key;
use crate::table::page::is_capped;
use crate::text::query::{self, join};
use crate::text::{css, number};

/// A row of the filter form: an existing filter, or the empty one for a new.
#[derive(Serialize)]
struct FilterRow<'a> {
    /// What follows the names of its fields: `_1`, or nothing for the new one.
    suffix: String,
    column: &'a str,
    value: &'a str,
    column_options: String,
    operator_options: &'static str,
}

/// A header cell of `_table.html`.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct ColumnHead<'a> {
    name: &'a str,
    css_class: String,
    #[serde(rename = "type")]
    data_type: String,
    #[serde(rename = "notnull")]
    not_null: bool,
    is_pk: bool,
    sortable: bool,
    #[serde(rename = "is_special_link_column")]
    is_link: bool,
    sort_url: String,
    arrow: &'static str,
    description: &'a str,
}

impl<'a> ColumnHead<'a> {
    /// The header of a column that cannot be sorted by.
    pub(super) fn fixed(column: &'a DisplayColumn, description: &'a str) -> Self {
        Self {
            name: &column.name,
            css_class: format!("col-{}", css::class(&column.name)),
            data_type: column.data_type.to_lowercase(),
            not_null: column.not_null,
            is_pk: column.is_pk,
            sortable: column.sortable,
            is_link: column.is_link,
            sort_url: String::new(),
            arrow: "",
            description,
        }
    }
}

#[derive(Serialize)]
struct Export {
    json_default: String,
    json_array: String,
    json_nl: String,
    json_nl_all: Option<String>,
    json_object: String,
    csv_action: String,
    csv_hidden: Vec<(String, String)>,
    can_stream: bool,
    can_expand_labels: bool,
}

#[derive(Serialize)]
struct NamedText<'a> {
    name: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct ExtraWhere<'a> {
    text: &'a str,
    remove_url: String,
}

/// The classes of `<body>`.
pub fn body_class(database: &str, table: &str) -> String {
    format!(
        "table db-{} table-{}",
        css::class(database),
        css::class(table)
    )
}

/// `1,234 rows`, `10,000+ rows`, or nothing if they were not counted.
pub fn count_text(count: Option<i64>) -> String {
    let Some(count) = count else {
        return String::new();
    };
    let rows = count.unsigned_abs();
    if is_capped(Some(count)) {
        format!("{}+ rows", number::thousands(rows - 1))
    } else if rows == 1 {
        "1 row".into()
    } else {
        format!("{} rows", number::thousands(rows))
    }
}

/// Puts everything that `table.html` shows into its context. `next_url` is the
/// absolute URL of the page after this one, or empty.
pub fn fill(context: &mut Context, s: &Sources<'_>, next_url: &str) {
    let (page, plan) = (s.page, &s.page.plan);
    let table = &plan.table;
    let config = s.config.table(&s.database.name, &table.name);
    let settings = &s.config.settings;
    let count = count_text(page.count);
    let columns = columns_for_display(page);
    let has_rows = !page.rows.is_empty();
    let sort = shown_sort(s);

    context.insert("database", &s.database.name);
    context.insert("table", &table.name);
    context.insert("database_path", &s.links.database);
    context.insert("path", &s.links.table);
    context.insert("database_color", &s.database.color());
    context.insert("title", &config.metadata.title);
    context.insert("page_title", &page_title(s, &count));
    context.insert("is_view", &table.is_view());
    context.insert(
        "private",
        &s.asker.is_private_table(&s.database.name, &table.name),
    );
    context.insert("count_text", &count);
    context.insert("human_description", &plan.description);
    context.insert("supports_search", &plan.fts_table.is_some());
    context.insert("search", s.http.query.get("_search").unwrap_or_default());
    context.insert("filter_rows", &filter_rows(s));
    let (up, down) = match &sort {
        Some((column, true)) => (*column, *column),
        Some((column, false)) => (*column, ""),
        None => ("", ""),
    };
    context.insert("sort_options", &sort_options(&columns, up));
    context.insert("sort_desc", down);
    context.insert("hidden_args", &form_hidden_args(s.http));
    context.insert("extra_wheres", &extra_wheres(s));
    context.insert("query_sql", &plan.sql);
    context.insert("edit_sql_url", &edit_sql_url(s));
    context.insert("export_json_url", &renderer_url(s));
    context.insert(
        "export_csv_url",
        &if has_rows { csv_url(s) } else { String::new() },
    );
    context.insert("suggested_facets", &suggestions(s));
    context.insert("facets_timed_out", &page.facets_timed_out);
    context.insert(
        "facets",
        &page
            .sorted_facets()
            .into_iter()
            .map(|n| facet_box(s, &page.facets[n]))
            .collect::<Vec<_>>(),
    );
    context.insert("display_columns", &column_heads(s, &columns, sort));
    context.insert("column_descriptions", &column_descriptions(&config.columns));
    context.insert("has_rows", &has_rows);
    let cells = CellContext {
        table_path: &s.links.table,
        database_path: &s.links.database,
        truncate: settings.truncate_cells_html,
    };
    context.insert("rows_html", &cells::rows(page, &columns, &cells));
    context.insert("next_url", next_url);
    context.insert("export", &export(s));
    context.insert(
        "definition",
        table.definition.as_deref().unwrap_or_default(),
    );
    context.insert("allow_facet", &settings.allow_facet);
}

fn page_title(s: &Sources<'_>, count: &str) -> String {
    let plan = &s.page.plan;
    let mut title = format!("{}: {}", s.database.name, plan.table.name);
    for (part, separator) in [(count, ": "), (plan.description.as_str(), " ")] {
        if !part.is_empty() {
            title.push_str(separator);
            title.push_str(part);
        }
    }
    title
}

/// The column whose header has an arrow: that asked for, or the key that rows
/// are sorted by anyway. `true` for downwards.
fn shown_sort<'s>(s: &Sources<'s>) -> Option<(&'s str, bool)> {
    let plan = &s.page.plan;
    match (&s.request.sort, plan.key_columns.as_slice()) {
        (Some(sort), _) => Some((&sort.column, sort.descending)),
        (None, [only]) if plan.key != Key::HiddenRowid => Some((only, false)),
        _ => None,
    }
}

/// The filters of the page, and a row for a new one.
fn filter_rows<'s>(s: &Sources<'s>) -> Vec<FilterRow<'s>> {
    let columns = filter_columns(s);
    let mut rows: Vec<FilterRow<'s>> = Vec::with_capacity(s.page.plan.filters.len() + 1);
    for (n, filter) in s.page.plan.filters.iter().enumerate() {
        rows.push(FilterRow {
            suffix: format!("_{}", n + 1),
            column: &filter.column,
            value: &filter.value,
            column_options: column_options(&columns, Some(&filter.column)),
            operator_options: options::operators(filter.operator.key),
        });
    }
    rows.push(FilterRow {
        suffix: String::new(),
        column: "",
        value: "",
        column_options: column_options(&columns, None),
        operator_options: options::operators(""),
    });
    rows
}

fn column_options(columns: &[&str], chosen: Option<&str>) -> String {
    let first = if chosen.is_some() {
        "remove this filter"
    } else {
        "column…"
    };
    let mut out = String::new();
    options::push(&mut out, "", first, false);
    if let Some(chosen) = chosen.filter(|chosen| !columns.contains(chosen)) {
        options::push(&mut out, chosen, chosen, true);
    }
    for column in columns {
        options::push(&mut out, column, column, chosen == Some(column));
    }
    out
}

/// The columns of the page, then those that it leaves out.
pub(super) fn filter_columns<'s>(s: &Sources<'s>) -> Vec<&'s str> {
    let shown = s.page.columns();
    let others = s
        .page
        .plan
        .table
        .columns
        .iter()
        .filter(|c| !shown.contains(&c.name));
    shown
        .iter()
        .map(String::as_str)
        .chain(others.map(|c| c.name.as_str()))
        .collect()
}

fn sort_options(columns: &[DisplayColumn], sort: &str) -> String {
    let mut out = String::new();
    let sortable = columns.iter().filter(|column| column.sortable);
    let names: Vec<&str> = sortable.map(|column| column.name.as_str()).collect();
    if names.is_empty() {
        return out;
    }
    options::push(&mut out, "", "default order", false);
    if !sort.is_empty() && !names.contains(&sort) {
        options::push(&mut out, sort, sort, true);
    }
    for name in names {
        options::push(&mut out, name, name, name == sort);
    }
    out
}

fn column_heads<'a>(
    s: &Sources<'a>,
    columns: &'a [DisplayColumn],
    sort: Option<(&str, bool)>,
) -> Vec<ColumnHead<'a>> {
    let config = s.config.table(&s.database.name, &s.page.plan.table.name);
    columns
        .iter()
        .map(|column| {
            let name = column.name.as_str();
            let sorted = sort.filter(|(sorted, _)| *sorted == name && !column.is_link);
            let (add, remove) = match sorted {
                Some((_, false)) => ("_sort_desc", "_sort"),
                _ => ("_sort", "_sort_desc"),
            };
            ColumnHead {
                sort_url: if column.sortable {
                    s.links
                        .replaced(&[(add, Some(name)), (remove, None), ("_next", None)])
                } else {
                    String::new()
                },
                arrow: match sorted {
                    Some((_, true)) => "▲",
                    Some((_, false)) => "▼",
                    None => "",
                },
                ..ColumnHead::fixed(column, config.column_description(name).unwrap_or_default())
            }
        })
        .collect()
}

fn extra_wheres<'a>(s: &Sources<'a>) -> Vec<ExtraWhere<'a>> {
    let wheres = s.request.wheres.iter();
    wheres
        .map(|text| ExtraWhere {
            text,
            remove_url: s
                .links
                .prefixed(&s.http.query.with_removed_pairs(&[("_where", text)])),
        })
        .collect()
}

fn column_descriptions(columns: &[(String, String)]) -> Vec<NamedText<'_>> {
    columns
        .iter()
        .map(|(name, text)| NamedText { name, text })
        .collect()
}

/// The page where the SQL of the rows can be changed.
fn edit_sql_url(s: &Sources<'_>) -> String {
    if !s.asker.may_run_sql(&s.database.name) {
        return String::new();
    }
    let plan = &s.page.plan;
    let params: Vec<_> = plan
        .params
        .iter()
        .map(|(name, value)| (name, value.display()))
        .collect();
    let sql = std::iter::once(("sql", plan.sql.as_str()));
    let params = params
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_ref()));
    join(
        &format!("{}/-/query", s.links.database),
        &query::encode(sql.chain(params)),
    )
}

fn label_args(s: &Sources<'_>) -> &'static [(&'static str, &'static str)] {
    if s.page.plan.table.foreign_keys.is_empty() {
        &[]
    } else {
        &[("_labels", "on")]
    }
}

fn renderer_url(s: &Sources<'_>) -> String {
    s.links.format("json", label_args(s))
}

/// The rows as CSV.
pub(super) fn csv_url(s: &Sources<'_>) -> String {
    let mut args = vec![("_size", "max")];
    args.extend(label_args(s));
    s.links.format("csv", &args)
}

fn export(s: &Sources<'_>) -> Export {
    let can_stream = s.config.settings.allow_csv_stream;
    let json = renderer_url(s);
    let with = |query: &str| {
        let separator = if json.contains('?') { '&' } else { '?' };
        format!("{json}{separator}{query}")
    };
    let csv = csv_url(s);
    let left_out = |key: &str| matches!(key, "_labels" | "_facet" | "_size");
    let mut csv_hidden: Vec<(String, String)> = s
        .http
        .query
        .pairs()
        .iter()
        .filter(|(key, value)| !left_out(key) && !value.is_empty())
        .cloned()
        .collect();
    csv_hidden.push(("_size".into(), "max".into()));
    Export {
        json_array: with("_shape=array"),
        json_nl: with("_shape=array&_nl=on"),
        json_nl_all: all_as_lines(s.http, label_args(s)).filter(|_| can_stream),
        json_object: if s.page.plan.table.primary_keys.is_empty() {
            String::new()
        } else {
            with("_shape=object")
        },
        json_default: json.clone(),
        csv_action: csv.split('?').next().unwrap_or_default().to_owned(),
        csv_hidden,
        can_stream: s.page.next.is_some() && can_stream,
        can_expand_labels: !s.page.plan.table.foreign_keys.is_empty(),
    }
}
