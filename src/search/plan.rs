//! Which tables of a database can be searched, and by which SQL.

use std::collections::HashSet;
use std::sync::Arc;

use super::found::MARKS;
use crate::config::Config;
use crate::database::page::is_hidden;
use crate::db::schema::{Schema, Table};
use crate::table::extras::labels::label_column;
use crate::table::key::{Key, key_of};
use crate::table::search::fts_table;
use crate::text::identifier::escape;

/// Rows of a table that are shown.
pub const SHOWN: usize = 5;
/// Rows of a table are counted up to this many; one more says that there are more.
pub const CAP: i64 = 1_000;
/// Words around what was found.
const WORDS: u32 = 20;

/// A table that can be searched.
pub struct Searchable {
    /// The table.
    pub table: Arc<Table>,
    /// The table or index whose page shows all that is found.
    pub all_at: String,
    /// The columns of its key.
    pub key_columns: Vec<String>,
    /// Whether rows have a label, in the column after the key.
    pub has_label: bool,
    /// Whether what it shows depends on the content of the database alone.
    pub is_steady: bool,
    /// Whether what is looked for may be written in the language of the index.
    pub is_raw: bool,
    /// The first rows: key, label or NULL, snippet. Its one parameter is what to look for.
    pub rows_sql: String,
    /// The number of rows, with the same parameter.
    pub count_sql: String,
}

/// The tables that can be searched, by name: those of the schema that have a
/// full-text index, one table for each index. Views are left out, as what they
/// show is in their tables; so is what pages for people hide.
pub fn searchable(config: &Config, database: &str, schema: &Schema) -> Vec<Searchable> {
    let mut indexes = HashSet::new();
    let mut found: Vec<Searchable> = schema
        .tables()
        .filter(|table| table.listed && table.broken.is_none())
        .filter(|table| !is_hidden(table, config.table(database, &table.name)))
        .filter_map(|table| {
            let by_page = fts_table(table, config.table(database, &table.name));
            let index = match &by_page {
                Some(name) => schema.find(name),
                None => index_of(schema, table),
            };
            let index = index.filter(|index| index.broken.is_none())?;
            let all_at = if by_page.is_some() { table } else { index };
            indexes
                .insert(&index.name)
                .then(|| one(config, database, table, index, &all_at.name))
        })
        .collect();
    found.sort_unstable_by(|a, b| a.table.name.cmp(&b.table.name));
    found
}

/// The index of a table whose own page can't search by it, as it is declared in a
/// way that Datasette does not look for.
fn index_of<'s>(schema: &'s Schema, table: &Table) -> Option<&'s Arc<Table>> {
    let is_index = |index: &&Arc<Table>| {
        let content = index.derived_from.as_deref();
        index.fts_table.as_ref() == Some(&index.name)
            && content.is_some_and(|name| name.eq_ignore_ascii_case(&table.name))
    };
    schema.tables().find(is_index)
}

fn one(
    config: &Config,
    database: &str,
    table: &Arc<Table>,
    index: &Table,
    all_at: &str,
) -> Searchable {
    let options = config.table(database, &table.name);
    let (key, key_columns) = key_of(table);
    let label =
        label_column(config, database, table).filter(|label| table.find_column(label).is_some());
    let (name, fts) = (escape(&table.name), escape(&index.name));
    let term = if options.searchmode_raw {
        "?1"
    } else {
        "escape_fts(?1)"
    };
    let mut columns: Vec<String> = match key {
        Key::None => Vec::new(),
        _ => key_columns
            .iter()
            .map(|k| format!("t.{}", escape(k)))
            .collect(),
    };
    columns.push(label.map_or("null".to_owned(), |label| format!("t.{}", escape(label))));
    // Only FTS5 ranks what it finds; its tables have a hidden column for that.
    let ranks = index
        .columns
        .iter()
        .any(|c| c.hidden > 0 && c.name == "rank");
    let (begin, end) = (u32::from(MARKS.0), u32::from(MARKS.1));
    let (snippet, order) = if ranks {
        let snippet = format!("snippet({fts}, -1, char({begin}), char({end}), '…', {WORDS})");
        (snippet, "rank")
    } else {
        let snippet = format!("snippet({fts}, char({begin}), char({end}), '…', -1, {WORDS})");
        (snippet, "rowid")
    };
    let rows_sql = format!(
        "select {}, f.s from (select rowid as r, {snippet} as s, {order} as o from {fts} \
         where {fts} match {term} order by {order} limit {SHOWN}) as f \
         join {name} as t on t.{} = f.r order by f.o, f.r",
        columns.join(", "),
        escape(options.fts_pk.as_deref().unwrap_or("rowid")),
    );
    let count_sql = format!(
        "select count(*) from (select 1 from {fts} where {fts} match {term} limit {})",
        CAP + 1
    );
    Searchable {
        table: table.clone(),
        all_at: all_at.to_owned(),
        has_label: label.is_some(),
        is_steady: table.steady && index.steady,
        is_raw: options.searchmode_raw,
        key_columns,
        rows_sql,
        count_sql,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The tables that are searched, and where all that is found in them is shown.
    fn names(config: &serde_json::Value) -> Vec<(String, String)> {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "create table note(id integer primary key, body text);
                 create virtual table note_fts using fts5(body, content='note', content_rowid='id');
                 create table memo(id integer primary key, body text);
                 create virtual table memo_fts using fts5(body, content=[memo], content_rowid='id');
                 create virtual table alone using fts5(body);
                 create table plain(x text);
                 create view notes as select * from note;",
            )
            .unwrap();
        let schema = Schema::load(&connection).unwrap();
        let config = config.as_object().unwrap().clone();
        let config = Config::new(serde_json::Map::new(), config).unwrap();
        let found = searchable(&config, "data", &schema).into_iter();
        found
            .map(|found| (found.table.name.clone(), found.all_at))
            .collect()
    }

    #[test]
    fn a_table_is_searched_by_its_index_and_the_index_not_for_itself() {
        let found = [("alone", "alone"), ("memo", "memo"), ("note", "note_fts")];
        assert_eq!(names(&json!({})), found.map(|(a, b)| (a.into(), b.into())));
    }

    #[test]
    fn a_hidden_table_is_left_out() {
        let config = json!({"databases": {"data": {"tables": {"note": {"hidden": true}}}}});
        assert!(names(&config).iter().all(|(name, _)| name != "note"));
    }
}
