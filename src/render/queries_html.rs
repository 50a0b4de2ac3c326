//! The list of stored queries for people: fills the context of `queries.html`.

use serde::Serialize;
use tera::Context;

use super::links;
use super::queries_json::Sources;
use crate::db::Database;
use crate::http::request::Request;
use crate::query::stored::Listed;
use crate::text::css;

/// A query in a list.
#[derive(Serialize)]
pub struct QueryLine<'a> {
    name: &'a str,
    label: &'a str,
    path: String,
    database: &'a str,
    database_path: String,
    description: &'a str,
    sql: &'a str,
    writes: bool,
    private: bool,
}

#[derive(Serialize)]
struct Group {
    title: &'static str,
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    label: &'static str,
    count: usize,
    href: String,
    active: bool,
}

/// The classes of `<body>`.
pub fn body_class(database: Option<&Database>) -> String {
    match database {
        Some(database) => format!("query-list db-{}", css::class(&database.name)),
        None => "query-list".to_owned(),
    }
}

/// One line of a list.
pub fn line<'a>(listed: &Listed<'a>, request: &Request) -> QueryLine<'a> {
    let query = listed.query;
    let database_path = links::database(request, listed.database);
    let mut path = links::table(&database_path, &query.name);
    if let Some(fragment) = query.fragment.as_deref().filter(|text| !text.is_empty()) {
        path.push('#');
        path.push_str(fragment);
    }
    QueryLine {
        name: &query.name,
        label: query.label(),
        path,
        database: listed.database,
        database_path,
        description: query.description.as_deref().unwrap_or_default(),
        sql: &query.sql,
        writes: query.is_write,
        private: listed.private,
    }
}

/// Puts everything that `queries.html` shows into its context.
pub fn fill(context: &mut Context, s: &Sources<'_>) {
    let queries = s.page.queries.iter();
    let groups = s.choices().map(|(title, choices)| Group {
        title,
        items: choices
            .into_iter()
            .map(|choice| Item {
                label: choice.label,
                count: choice.count,
                href: choice.href,
                active: choice.active,
            })
            .collect(),
    });
    let kept = ["is_write", "is_private", "source", "owner_id", "_size"];
    let kept: Vec<(&str, &str)> = kept
        .into_iter()
        .filter_map(|key| Some((key, s.http.query.get(key)?)))
        .collect();
    context.insert("database", s.database.map_or("", |d| d.name.as_str()));
    context.insert(
        "database_color",
        &s.database.map(Database::color).unwrap_or_default(),
    );
    context.insert("path", &s.path());
    context.insert("search", &s.request.search);
    context.insert("hidden_args", &kept);
    context.insert("groups", &groups);
    context.insert(
        "queries",
        &queries
            .map(|listed| line(listed, s.http))
            .collect::<Vec<_>>(),
    );
    context.insert("next_url", &s.next_url().unwrap_or_default());
}
