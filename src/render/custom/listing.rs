//! The front page and the page of a database: the members of their JSON that the
//! templates of the program do not need.

use serde_json::{Map, Value as Json};
use tera::Context;

use super::{Filling, Wanted};
use crate::error::{Error, Result};
use crate::http::request::Request;

/// Members of the JSON of a database that its template may ask for.
const DATABASE: [&str; 9] = [
    "allow_execute_sql",
    "path",
    "private",
    "queries",
    "queries_count",
    "queries_more",
    "size",
    "table_columns",
    "hidden_count",
];

/// Adds what a template of the site wants of the page of a database; `json` makes its JSON.
pub fn database(
    context: &mut Context,
    wanted: &Wanted,
    http: &Request,
    json: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut filling = Filling::new(context, wanted, http);
    if !DATABASE.iter().any(|name| wanted.has(name)) {
        return Ok(());
    }
    let members: Map<String, Json> = serde_json::from_slice(&json()?)
        .map_err(|error| Error::Internal(format!("the JSON of a database: {error}")))?;
    for name in DATABASE {
        filling.add(name, || members.get(name));
    }
    Ok(())
}

/// Adds what a template of the site wants of the front page.
pub fn index(context: &mut Context, wanted: &Wanted, http: &Request) {
    super::other(context, wanted, http);
}
