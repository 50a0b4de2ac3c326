//! The SQL page for people: fills the context of `query.html`.

use serde::Serialize;
use tera::Context;

use super::query_json::Sources;
use super::{cells, links};
use crate::table::arguments::given;
use crate::text::css;

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct ColumnName<'a> {
    name: &'a str,
    css_class: String,
}

/// The classes of `<body>`.
pub fn body_class(database: &str) -> String {
    format!("query db-{}", css::class(database))
}

/// Puts everything that `query.html` shows into its context. `error` is why
/// there is no result, or empty.
pub fn fill(context: &mut Context, s: &Sources<'_>, error: &str) {
    let (page, request) = (s.page, s.request);
    let database_path = links::database(s.http, &s.database.name);
    let parameters = request.parameters.iter();
    let parameters: Vec<Parameter<'_>> = parameters
        .map(|(name, value)| Parameter { name, value })
        .collect();
    let columns = page.rows.columns.iter();
    let columns: Vec<ColumnName<'_>> = columns
        .map(|name| ColumnName {
            name,
            css_class: format!("col-{}", css::class(name)),
        })
        .collect();
    let truncate = s.config.settings.truncate_cells_html;
    let rows_html = cells::result_rows(&page.rows, truncate, |column, bytes| {
        links::result_blob(s.http, column, bytes)
    });
    context.insert("database", &s.database.name);
    context.insert("color", &s.database.color());
    context.insert("path", &format!("{database_path}/-/query"));
    context.insert("sql", &request.sql);
    context.insert("error", error);
    context.insert("allow_sql", &true);
    context.insert("hide_sql", &given(&s.http.query, "_hide_sql"));
    context.insert("parameters", &parameters);
    context.insert("columns", &columns);
    context.insert("has_rows", &!page.rows.is_empty());
    context.insert("truncated", &page.truncated);
    context.insert("rows_html", &rows_html);
    context.insert("export_json_url", &links::in_format(s.http, "json", &[]));
    let csv_url = links::in_format(s.http, "csv", &[("_size", "max")]);
    context.insert("export_csv_url", &csv_url);
    let lines = links::all_as_lines(s.http, &[]);
    let can_stream = s.config.settings.allow_csv_stream;
    context.insert("export_lines_url", &lines.filter(|_| can_stream));
}
