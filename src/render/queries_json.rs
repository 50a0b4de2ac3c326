//! The list of stored queries as JSON.

use serde_json::{Map, Value, json};

use crate::db::Database;
use crate::http::request::Request;
use crate::query::stored::{ListPage, ListRequest, Listed};
use crate::text::query::join;

/// Everything that the list is made of.
pub struct Sources<'s> {
    /// The database; `None` for all.
    pub database: Option<&'s Database>,
    /// The HTTP request.
    pub http: &'s Request,
    /// What it asks for.
    pub request: &'s ListRequest,
    /// What came out.
    pub page: &'s ListPage<'s>,
}

/// A link that filters the list.
pub struct Choice {
    /// What it says.
    pub label: &'static str,
    /// The queries that match.
    pub count: usize,
    /// The list with the filter, or without it if it is active.
    pub href: String,
    /// Whether the list is filtered so now.
    pub active: bool,
}

impl Sources<'_> {
    /// The path of the list without its query, as HTML.
    pub fn path(&self) -> String {
        let path = &self.http.path;
        self.http
            .prefixed(path.strip_suffix(".json").unwrap_or(path))
    }

    /// The page after this one, as an absolute URL.
    pub fn next_url(&self) -> Option<String> {
        let next = self.page.next.as_deref()?;
        let query = self.http.query.with_replaced(&[("_next", Some(next))]);
        Some(self.http.absolute(&join(&self.http.path, &query)))
    }

    /// The filters with their titles.
    pub fn choices(&self) -> [(&'static str, Vec<Choice>); 2] {
        let page = self.page;
        let (mode, owner) = (self.request.is_write, self.request.is_private);
        let mode = [
            ("Read-only", "0", page.reading, mode == Some(false)),
            ("Writable", "1", page.writing, mode == Some(true)),
        ];
        let all = page.reading + page.writing;
        let owner = [
            ("Not private", "0", all, owner == Some(false)),
            ("Private", "1", 0, owner == Some(true)),
        ];
        [
            ("Mode", self.choices_of("is_write", mode)),
            ("Visibility", self.choices_of("is_private", owner)),
        ]
    }

    fn choices_of(
        &self,
        key: &str,
        choices: [(&'static str, &'static str, usize, bool); 2],
    ) -> Vec<Choice> {
        let path = self.path();
        let choices = choices.into_iter();
        choices
            .filter(|(.., count, active)| *count > 0 || *active)
            .map(|(label, value, count, active)| {
                let value = (!active).then_some(value);
                let query = self
                    .http
                    .query
                    .with_replaced(&[(key, value), ("_next", None)]);
                Choice {
                    label,
                    count,
                    href: join(&path, &query),
                    active,
                }
            })
            .collect()
    }
}

/// The list.
pub fn queries(s: &Sources<'_>) -> Value {
    let facets = s.choices().map(|(title, choices)| {
        let items: Vec<Value> = choices
            .into_iter()
            .map(|choice| {
                json!({
                    "label": choice.label,
                    "count": choice.count,
                    "href": choice.href,
                    "active": choice.active,
                })
            })
            .collect();
        json!({"title": title, "items": items})
    });
    let switch = |is: Option<bool>| is.map_or("", |is| if is { "1" } else { "0" });
    let queries = s.page.queries.iter();
    json!({
        "ok": true,
        "database": s.database.map(|database| &database.name),
        "database_color": s.database.map(Database::color),
        "queries": queries.map(query).collect::<Vec<_>>(),
        "next": s.page.next,
        "next_url": s.next_url(),
        "limit": s.request.size,
        "show_private_note": false,
        "show_trusted_note": !s.page.queries.is_empty(),
        "query_list_path": s.path(),
        "show_database": s.database.is_none(),
        "facets": facets,
        "filters": {
            "q": s.request.search,
            "is_write": switch(s.request.is_write),
            "is_private": switch(s.request.is_private),
            "source": s.request.source,
            "owner_id": s.request.owner_id,
        },
    })
}

/// A query of a list.
pub fn query(listed: &Listed<'_>) -> Map<String, Value> {
    let mut all = listed.query.as_json(listed.database);
    all.insert("private".to_owned(), listed.private.into());
    all
}
