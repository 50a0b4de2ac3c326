//! Which tables are left out of lists: those that hold another table's workings. Datasette's `hidden_table_names`, before configuration.

use super::Kind;
use super::declaration::Declaration;
use super::fts;
use super::objects::{Object, Objects};

/// Tables that `SpatiaLite` makes for itself.
const SPATIALITE: [&str; 12] = [
    "ElementaryGeometries",
    "KNN",
    "KNN2",
    "SpatialIndex",
    "data_licenses",
    "geometry_columns",
    "spatial_ref_sys",
    "spatialite_history",
    "sql_statements_log",
    "sqlite_sequence",
    "views_geometry_columns",
    "virts_geometry_columns",
];

/// The rule for the tables of one database.
pub(super) struct Rule {
    spatialite: bool,
}

impl Rule {
    /// The rule that holds in the database of these objects.
    pub fn of(objects: &Objects) -> Self {
        Self {
            spatialite: objects.spatialite,
        }
    }

    /// Whether a table is hidden. A view never is.
    pub fn hides(&self, object: &Object) -> bool {
        object.kind != Kind::View
            && (object.shadow
                || object.name.starts_with('_')
                || is_statistics(&object.name)
                || is_index_of_a_table(object)
                || self.spatialite && is_spatialite(&object.name))
    }
}

/// Whether it is a table of ANALYZE.
pub(super) fn is_statistics(name: &str) -> bool {
    matches!(
        name,
        "sqlite_stat1" | "sqlite_stat2" | "sqlite_stat3" | "sqlite_stat4"
    )
}

/// Whether it is a full-text table whose content is elsewhere: the table it indexes is the one to show.
fn is_index_of_a_table(object: &Object) -> bool {
    let Some(sql) = object
        .sql
        .as_deref()
        .filter(|_| object.kind == Kind::Virtual)
    else {
        return false;
    };
    sql.to_ascii_lowercase().contains("content=")
        && Declaration::parse(sql).is_some_and(|declaration| fts::is_module(&declaration.module))
}

/// Whether it is a table of `SpatiaLite`'s, or a spatial index: `idx_…` (Datasette asks with LIKE, to which `_` is any character).
fn is_spatialite(name: &str) -> bool {
    let is_spatial_index = name
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("idx"))
        && name.len() > 3;
    SPATIALITE.contains(&name) || is_spatial_index
}
