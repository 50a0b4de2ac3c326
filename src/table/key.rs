//! How the rows of a table are told apart: by primary key, row number, or not at all.

use crate::db::schema::{Kind, Table};

/// How the rows of a table are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// By the primary key.
    Primary,
    /// By SQLite's row number, which is the first column of the page.
    Rowid,
    /// By the row number under another name, because a column is called `rowid`;
    /// read as a last column that the page does not show.
    HiddenRowid,
    /// Not at all: a view. Pages go by offset.
    None,
}

/// The key of a table, and the columns that it is made of.
pub fn key_of(table: &Table) -> (Key, Vec<String>) {
    if table.kind == Kind::View {
        return (Key::None, Vec::new());
    }
    if !table.primary_keys.is_empty() {
        return (Key::Primary, table.primary_keys.clone());
    }
    if !table.has_rowid_column {
        return (Key::Rowid, vec!["rowid".into()]);
    }
    ["_rowid_", "oid"]
        .iter()
        .find(|alias| table.find_column(alias).is_none())
        .map_or((Key::None, Vec::new()), |alias| {
            (Key::HiddenRowid, vec![(*alias).to_owned()])
        })
}

/// Whether rows may have a NULL in their primary key. SQLite lets it in, as
/// often as one likes, where the column is not declared NOT NULL.
/// <https://www.sqlite.org/lang_createtable.html#the_primary_key>
pub fn may_lack_a_key(table: &Table) -> bool {
    !table.primary_keys.is_empty()
        && table.kind == Kind::Table
        && !table.without_rowid
        && !table.has_rowid_column
        && !table.key_is_rowid
        && table
            .columns
            .iter()
            .any(|column| column.pk_position > 0 && !column.not_null)
}

/// The hidden row number among the columns of a `select`. SQLite would name it
/// `rowid`, as a column is named already.
pub fn hidden_rowid(key_columns: &[String]) -> String {
    let names = key_columns.iter();
    let columns: Vec<String> = names.map(|name| format!("{name} as {name}")).collect();
    columns.join(", ")
}
