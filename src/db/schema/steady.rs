//! Which tables show the content of the database and nothing else.

use super::Kind;
use super::declaration::Declaration;
use super::fts;
use super::objects::{Object, Objects};
use crate::text::steady::is_steady;

/// Virtual tables besides those for searching that keep all they show in the database.
const MODULES: [&str; 3] = ["rtree", "rtree_i32", "geopoly"];

/// The rule for the tables of one database.
pub(super) struct Rule {
    /// Whether all views are steady: any may read any other.
    views: bool,
}

impl Rule {
    /// The rule that holds in the database of these objects.
    pub fn of(objects: &Objects) -> Self {
        let mut views = objects.tables.iter().filter(|o| o.kind == Kind::View);
        let virtual_tables = objects.tables.iter().filter(|o| o.kind == Kind::Virtual);
        Self {
            views: views.all(|view| view.sql.as_deref().is_some_and(is_steady))
                && virtual_tables.into_iter().all(keeps_all_it_shows),
        }
    }

    /// Whether a table or view shows the content of the database alone.
    pub fn holds_for(&self, object: &Object) -> bool {
        match object.kind {
            Kind::Table => true,
            Kind::Virtual => keeps_all_it_shows(object),
            Kind::View => self.views,
        }
    }
}

fn keeps_all_it_shows(object: &Object) -> bool {
    let declaration = object.sql.as_deref().and_then(Declaration::parse);
    declaration.is_some_and(|declaration| {
        let module = declaration.module.as_str();
        fts::is_module(module) || MODULES.contains(&module)
    })
}
