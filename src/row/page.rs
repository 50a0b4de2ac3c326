//! What a plan gives when run: everything that a row page shows.

use std::sync::Arc;

use super::incoming::Incoming;
use crate::db::BorrowedValue;
use crate::db::schema::Table;
use crate::table::block::Row;
use crate::table::extras::labels::Labels;
use crate::table::filters::Params;
use crate::table::rows::Rows;

/// The content of a row page, before it takes a form.
pub struct RowPage {
    /// The table.
    pub table: Arc<Table>,
    /// The columns of the key.
    pub key_columns: Vec<String>,
    /// The one row, with the hidden row number, if that is the key, at the end.
    pub rows: Rows,
    /// How many columns at the end are not shown.
    pub hidden_columns: usize,
    /// Labels of foreign keys, by the position of the column.
    pub labels: Vec<Option<Labels>>,
    /// Keys of other tables that refer to the row.
    pub incoming: Vec<Incoming>,
    /// The SQL that finds the row.
    pub sql: String,
    /// Its parameters.
    pub params: Params,
    /// Whether the page stays the same as long as the database does.
    pub lasts: bool,
}

impl RowPage {
    /// The values of the row.
    pub fn row(&self) -> Option<Row<'_>> {
        self.rows.iter().next()
    }

    /// The columns that are shown.
    pub fn columns(&self) -> &[String] {
        &self.rows.columns[..self.rows.columns.len() - self.hidden_columns]
    }

    /// The positions of the key's columns in the row.
    pub fn key_positions(&self) -> Vec<usize> {
        let columns = self.key_columns.iter();
        columns
            .filter_map(|name| self.rows.position(name))
            .collect()
    }

    /// The values of the key, as they are stored.
    pub fn key_values(&self) -> impl Iterator<Item = BorrowedValue<'_>> {
        let row = self.row().unwrap_or_default();
        self.key_positions()
            .into_iter()
            .filter_map(move |n| row.get(n))
    }
}
