//! Full-text search (`_search`, `_search_COLUMN`) and `_through`, as SQL conditions.

use std::sync::Arc;

use super::filters::{Params, unknown_column};
use super::request::{TableRequest, Through};
use crate::config::TableConfig;
use crate::db::Value;
use crate::db::schema::{Schema, Table};
use crate::error::{Error, Result};
use crate::text::identifier::escape;

/// Conditions with the words that describe them.
#[derive(Default)]
pub struct Conditions {
    /// SQL conditions.
    pub clauses: Vec<String>,
    /// For the page's description.
    pub words: Vec<String>,
}

/// The FTS table that answers searches of a table, by configuration or by the schema.
pub fn fts_table(table: &Table, config: &TableConfig) -> Option<String> {
    config.fts_table.clone().or_else(|| table.fts_table.clone())
}

/// The conditions of `_search…`. Named parameters go to the end of `params`.
/// A table without an FTS table ignores them, as Datasette does.
pub fn search(
    request: &TableRequest,
    table: &Table,
    schema: &Schema,
    config: &TableConfig,
    params: &mut Params,
) -> Result<Conditions> {
    let fts = fts_table(table, config);
    let fts_pk = config.fts_pk.as_deref().unwrap_or("rowid");
    let (asked_table, asked_pk) = &request.fts;
    let differs = asked_table.is_some() && *asked_table != fts
        || asked_pk.as_deref().is_some_and(|asked| asked != fts_pk);
    if differs {
        return Err(Error::BadRequest(
            "_fts_table and _fts_pk can only repeat what is configured for this table".into(),
        ));
    }
    let mut found = Conditions::default();
    let Some(fts) = fts.filter(|_| !request.searches.is_empty()) else {
        return Ok(found);
    };
    let match_term = |name: &str| {
        if request.search_raw.unwrap_or(config.searchmode_raw) {
            format!(":{name}")
        } else {
            format!("escape_fts(:{name})")
        }
    };
    let fts_name = escape(&fts);
    if let Some((_, text)) = request.searches.iter().find(|(key, _)| key == "_search") {
        found.clauses.push(format!(
            "{} in (select rowid from {fts_name} where {fts_name} match {})",
            escape(fts_pk),
            match_term("search"),
        ));
        found.words.push(format!("search matches \"{text}\""));
        params.push(("search".into(), Value::text(text)));
        return Ok(found);
    }
    let columns = schema
        .find(&fts)
        .ok_or_else(|| Error::BadRequest(format!("No table {fts} to search")))?;
    for (n, (key, text)) in request.searches.iter().enumerate() {
        let column = key.trim_start_matches("_search_");
        if columns.find_column(column).is_none() {
            return Err(Error::BadRequest(format!(
                "Cannot search by column {column}: {fts} does not hold it"
            )));
        }
        let name = format!("search_{n}");
        found.clauses.push(format!(
            "{} in (select rowid from {fts_name} where {} match {})",
            escape(fts_pk),
            escape(column),
            match_term(&name),
        ));
        found
            .words
            .push(format!("search column \"{column}\" matches \"{text}\""));
        params.push((name, Value::text(text)));
    }
    Ok(found)
}

/// The conditions of `_through`.
pub fn through(
    request: &[Through],
    table: &Table,
    schema: &Schema,
    params: &mut Params,
) -> Result<Conditions> {
    let mut found = Conditions::default();
    for through in request {
        let other = other_table(schema, &through.table)?;
        let key = other
            .foreign_keys
            .iter()
            .find(|key| key.other_table.eq_ignore_ascii_case(&table.name))
            .ok_or_else(|| {
                Error::BadRequest(format!(
                    "_through: {} has no foreign key to {}",
                    through.table, table.name
                ))
            })?;
        if other.find_column(&through.column).is_none() {
            return Err(unknown_column(&through.column, other));
        }
        let name = format!("p{}", params.len());
        found.clauses.push(format!(
            "{} in (select {} from {} where {} = :{name})",
            escape(&key.other_column),
            escape(&key.column),
            escape(&other.name),
            escape(&through.column),
        ));
        found.words.push(format!(
            "{}.{} = \"{}\"",
            through.table, through.column, through.value
        ));
        params.push((name, Value::text(&through.value)));
    }
    Ok(found)
}

fn other_table<'s>(schema: &'s Schema, name: &str) -> Result<&'s Arc<Table>> {
    schema
        .find(name)
        .ok_or_else(|| Error::BadRequest(format!("_through: no table {name}")))
}
