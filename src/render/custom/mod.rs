//! Values that only templates of a site's own ask for, under Datasette's names:
//! `display_rows`, `rows`, `request` and so on. The program's own templates
//! get rows as HTML that is written already, and none of this is made for them:
//! each value is made only if a template of the page mentions its name.

mod listing;
mod query;
mod row;
mod rows;
mod table;

use std::collections::HashSet;

use serde::Serialize;
use tera::Context;

pub use listing::{database, index};
pub use query::query;
pub use row::row;
pub use table::table;

use super::extras_json::request_as_json;
use crate::http::request::Request;

/// The names of the variables that the templates of a page mention.
#[derive(Debug, Default)]
pub struct Wanted {
    names: HashSet<String>,
    everything: bool,
}

impl Wanted {
    /// These, or all that there are.
    pub fn new(names: HashSet<String>, everything: bool) -> Self {
        Self { names, everything }
    }

    /// Whether nothing is mentioned but what the program's own templates get.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.everything
    }

    /// Whether a variable is mentioned.
    pub fn has(&self, name: &str) -> bool {
        self.everything || self.names.contains(name)
    }
}

/// A context with what is wanted of it.
struct Filling<'c> {
    context: &'c mut Context,
    wanted: &'c Wanted,
}

impl<'c> Filling<'c> {
    /// Begins with what every page has.
    fn new(context: &'c mut Context, wanted: &'c Wanted, http: &Request) -> Self {
        let mut filling = Self { context, wanted };
        filling.add("request", || request_as_json(http));
        filling.add("alternate_url_json", || super::links::alternate_json(http));
        filling
    }

    /// Makes a value if it is wanted and not there yet.
    fn add<T: Serialize>(&mut self, name: &'static str, make: impl FnOnce() -> T) {
        if self.wanted.has(name) && !self.context.contains_key(name) {
            self.context.insert(name, &make());
        }
    }
}

/// What a page has that is about no table: the request.
pub fn other(context: &mut Context, wanted: &Wanted, http: &Request) {
    if !wanted.is_empty() {
        Filling::new(context, wanted, http);
    }
}
