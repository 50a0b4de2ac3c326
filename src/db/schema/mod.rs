//! What a database is made of: its tables and views, their columns, and what links them.
//!
//! One call reads everything by one connection, so a page never asks SQLite about its schema. The rules by which a table is hidden,
//! searchable or labelled are Datasette's; names are compared as SQLite compares them.

mod columns;
mod declaration;
mod derived;
mod fts;
mod hidden;
mod keys;
mod label;
mod objects;
mod rowid;
mod seen;
mod steady;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, Error, ErrorCode, Result};

pub use columns::{Affinity, Column};
pub use keys::{ForeignKey, IncomingKey};

use objects::Object;

/// The tables and views of one database, in the order of `sqlite_schema`.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    tables: Vec<Arc<Table>>,
    steady: steady::Rule,
    by_name: HashMap<String, usize>,
    by_folded_name: HashMap<String, usize>,
}

/// What a [`Table`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary table.
    Table,
    /// A virtual table.
    Virtual,
    /// A view.
    View,
}

/// A table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
pub struct Table {
    /// Its name, as it was created.
    pub name: String,
    /// Table, virtual table or view.
    pub kind: Kind,
    /// Every column, hidden and generated ones included, in order.
    pub columns: Vec<Column>,
    /// The names of the primary key's columns, in the order of the key; empty if the rowid is the only key.
    pub primary_keys: Vec<String>,
    /// Whether it is a `WITHOUT ROWID` table.
    pub without_rowid: bool,
    /// Whether the primary key is the row number under another name.
    pub key_is_rowid: bool,
    /// The foreign keys of a single column, in the order of `PRAGMA foreign_key_list`.
    pub foreign_keys: Vec<ForeignKey>,
    /// The foreign keys of any table that refer to this one, by table and column.
    pub incoming: Vec<IncomingKey>,
    /// The full-text table to search it by; its own name if it is one.
    pub fts_table: Option<String>,
    /// Whether pages for people leave it out of lists at first.
    pub hidden: bool,
    /// The table whose content it holds, if it is an index, a vocabulary or a shadow table; the name folded as SQLite folds it.
    pub derived_from: Option<String>,
    /// Whether lists name it at all: not if it is the workings of an index of another table's content.
    pub listed: bool,
    /// Whether what it shows depends on the content of the database alone: so it can be kept while that stays the same.
    pub steady: bool,
    /// The column whose value stands for a row in links.
    pub label_column: Option<String>,
    /// The SQL that makes it and its indexes, each statement ended by `;`.
    pub definition: Option<String>,
    /// Whether a real column is called `rowid`, in any case, and hides the rowid.
    pub has_rowid_column: bool,
    /// SQLite's message if the columns cannot be read: a view of a missing column, a virtual table of an unknown module.
    pub broken: Option<String>,
}

impl Table {
    /// Whether it is a view.
    pub fn is_view(&self) -> bool {
        self.kind == Kind::View
    }

    /// The column of exactly that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The column that SQLite means by `name`: ASCII letters match in any case.
    pub fn find_column(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

impl Schema {
    /// Reads the schema of the connection's `main` database, in a read transaction of its own unless one is open.
    ///
    /// A view or virtual table that SQLite cannot open becomes a table that is [`Table::broken`].
    ///
    /// # Errors
    ///
    /// SQLite's, if the database cannot be read, is locked, or the connection is interrupted.
    pub fn load(conn: &Connection) -> Result<Self> {
        // Without a transaction another process could change the schema between two of the statements below.
        let transaction = if conn.is_autocommit() {
            Some(conn.unchecked_transaction()?)
        } else {
            None
        };
        let schema = Self::read(conn)?;
        if let Some(transaction) = transaction {
            transaction.commit()?;
        }
        Ok(schema)
    }

    fn read(conn: &Connection) -> Result<Self> {
        let objects = objects::read(conn)?;
        let rules = Rules {
            fts: fts::Tables::of(&objects),
            hidden: hidden::Rule::of(&objects),
            derived: derived::Derived::of(&objects),
            steady: steady::Rule::of(conn, &objects)?,
        };
        let mut tables = Vec::with_capacity(objects.tables.len());
        let mut written_keys = Vec::with_capacity(objects.tables.len());
        for object in &objects.tables {
            tables.push(table(conn, object, &rules)?);
            written_keys.push(or_none(keys::read(conn, object))?);
        }
        let by_folded_name = by_folded_name(tables.iter());
        keys::link(&mut tables, written_keys, &by_folded_name);
        let tables = tables.into_iter().map(Arc::new).collect();
        Ok(Self::of(tables, rules.steady))
    }

    fn of(tables: Vec<Arc<Table>>, steady: steady::Rule) -> Self {
        let names = tables.iter().enumerate();
        Self {
            by_name: names.map(|(i, table)| (table.name.clone(), i)).collect(),
            by_folded_name: by_folded_name(tables.iter().map(AsRef::as_ref)),
            tables,
            steady,
        }
    }

    /// The table or view of exactly that name.
    pub fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.by_name.get(name).map(|&i| &self.tables[i])
    }

    /// The table or view that SQLite means by `name`: ASCII letters match in any case.
    pub fn find(&self, name: &str) -> Option<&Arc<Table>> {
        self.by_folded_name
            .get(&name.to_ascii_lowercase())
            .map(|&i| &self.tables[i])
    }

    /// The tables, virtual ones included, in the order of `sqlite_schema`.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.iter().filter(|table| !table.is_view())
    }

    /// Whether the numbers of rows of all tables depend on the content of the database alone.
    pub fn has_steady_counts(&self) -> bool {
        self.steady.counts
    }

    /// Whether what a statement shows depends on the content of the database and on its
    /// parameters alone. `conn` reads the state of the database that has this schema, and
    /// no other database.
    pub fn is_steady_sql(&self, conn: &Connection, sql: &str) -> Result<bool> {
        self.steady.holds_for_sql(conn, sql)
    }

    /// The views, in the order of `sqlite_schema`.
    pub fn views(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.iter().filter(|table| table.is_view())
    }
}

/// Where each table is, by its name as SQLite folds it.
fn by_folded_name<'t>(tables: impl Iterator<Item = &'t Table>) -> HashMap<String, usize> {
    tables
        .enumerate()
        .map(|(i, table)| (table.name.to_ascii_lowercase(), i))
        .collect()
}

/// What follows from all objects together.
struct Rules<'o> {
    fts: fts::Tables<'o>,
    hidden: hidden::Rule,
    derived: derived::Derived,
    steady: steady::Rule,
}

/// Reads one table; what depends on other tables' columns is left for [`keys::link`].
fn table(conn: &Connection, object: &Object, rules: &Rules<'_>) -> Result<Table> {
    let (columns, broken) = match columns::read(conn, object) {
        Ok(columns) => (columns, None),
        Err(error) => (Vec::new(), Some(fault_of_the_table(error)?)),
    };
    let label_column = or_none(label::column(conn, object, &columns))?;
    let key_is_rowid = or_none(rowid::key_is_rowid(conn, object, &columns))?;
    Ok(Table {
        name: object.name.clone(),
        kind: object.kind,
        primary_keys: columns::primary_keys(&columns),
        without_rowid: object.without_rowid,
        key_is_rowid,
        foreign_keys: Vec::new(),
        incoming: Vec::new(),
        fts_table: rules.fts.search(&object.name).map(str::to_owned),
        hidden: rules.hidden.hides(object),
        listed: rules.derived.lists(&object.name),
        derived_from: rules.derived.source(&object.name).map(str::to_owned),
        steady: rules.steady.holds_for(conn, object)?,
        label_column,
        definition: object.definition(),
        has_rowid_column: columns
            .iter()
            .any(|column| column.name.eq_ignore_ascii_case("rowid")),
        columns,
        broken,
    })
}

/// The result, or none if it cannot be had because of a fault of the table.
fn or_none<T: Default>(result: Result<T>) -> Result<T> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => fault_of_the_table(error).map(|_| T::default()),
    }
}

/// What is wrong with one table, or the error again if it is not about the table but about this moment: that must not be kept as part
/// of the schema.
fn fault_of_the_table(error: Error) -> Result<String> {
    let (code, message) = match &error {
        Error::SqliteFailure(code, message) => (Some(code.code), message.clone()),
        Error::SqlInputError { error, msg, .. } => (Some(error.code), Some(msg.clone())),
        _ => (None, None),
    };
    match code {
        Some(
            ErrorCode::OperationInterrupted
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::SystemIoFailure
            | ErrorCode::SchemaChanged,
        ) => Err(error),
        _ => Ok(message.unwrap_or_else(|| error.to_string())),
    }
}
