//! Which full-text table searches a table.

use std::collections::HashMap;

use super::Kind;
use super::declaration::Declaration;
use super::objects::Objects;

/// The modules whose tables can be searched with MATCH. `fts5vocab`, `fts4aux` and `fts3tokenize` cannot.
const MODULES: [&str; 3] = ["fts3", "fts4", "fts5"];

/// Whether a module makes full-text tables.
pub(super) fn is_module(module: &str) -> bool {
    MODULES.contains(&module)
}

/// The full-text table of every table that has one.
pub(super) struct Tables<'a> {
    by_folded_name: HashMap<String, &'a str>,
}

impl<'a> Tables<'a> {
    /// Finds them. Of several the first in `sqlite_schema` counts, as in Datasette's `detect_fts`; a full-text table searches itself.
    pub fn of(objects: &'a Objects) -> Self {
        let mut by_folded_name = HashMap::new();
        for object in &objects.tables {
            if object.kind != Kind::Virtual {
                continue;
            }
            let Some(declaration) = object.sql.as_deref().and_then(Declaration::parse) else {
                continue;
            };
            if !is_module(&declaration.module) {
                continue;
            }
            let content = declaration.named("content").unwrap_or_default();
            for name in [&content, &object.name] {
                by_folded_name
                    .entry(name.to_ascii_lowercase())
                    .or_insert(object.name.as_str());
            }
        }
        Self { by_folded_name }
    }

    /// The full-text table that searches the table or view `name`.
    pub fn search(&self, name: &str) -> Option<&'a str> {
        if name.is_empty() {
            return None;
        }
        self.by_folded_name.get(&name.to_ascii_lowercase()).copied()
    }
}
