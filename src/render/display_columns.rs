//! The columns of a page for people.

use crate::db::schema::Column;
use crate::table::TablePage;
use crate::table::key::Key;

/// A column as the page for people shows it.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct DisplayColumn {
    /// Its name, or `Link` for the column that leads to the rows.
    pub name: String,
    /// Whether its header sorts.
    pub sortable: bool,
    /// Whether it is part of the key.
    pub is_pk: bool,
    /// Its declared type.
    pub data_type: String,
    /// Whether it is declared NOT NULL.
    pub not_null: bool,
    /// Whether it only leads to the rows.
    pub is_link: bool,
    /// Its position among the rows' columns; none for [`Self::is_link`].
    pub position: Option<usize>,
}

impl DisplayColumn {
    /// The column at `position`, given what the schema knows of it; the row
    /// number is none of the table's columns.
    pub fn new(name: &str, column: Option<&Column>, position: usize) -> Self {
        Self {
            name: name.to_owned(),
            sortable: false,
            is_pk: false,
            data_type: column.map_or_else(|| "integer".to_owned(), |c| c.declared_type.clone()),
            not_null: column.is_some_and(|c| c.not_null),
            is_link: false,
            position: Some(position),
        }
    }
}

/// The columns of the page for people: a link to the row first, unless it is a view.
pub fn columns_for_display(page: &TablePage) -> Vec<DisplayColumn> {
    let plan = &page.plan;
    let (table, key) = (&plan.table, &plan.table.primary_keys);
    let mut columns: Vec<DisplayColumn> = page
        .columns()
        .iter()
        .enumerate()
        .map(|(position, name)| {
            let column = table.column(name);
            let is_rowid = column.is_none() && plan.key == Key::Rowid;
            DisplayColumn {
                sortable: plan.sortable.contains(name),
                is_pk: is_rowid || key.contains(name),
                ..DisplayColumn::new(name, column, position)
            }
        })
        .collect();
    if plan.key == Key::None {
        return columns;
    }
    // A key of one column is itself the link; otherwise a column of links comes first.
    let link = match key.as_slice() {
        [only] => columns
            .iter()
            .position(|column| &column.name == only)
            .map(|position| columns.remove(position)),
        _ => None,
    };
    let link = link.unwrap_or_else(|| DisplayColumn {
        name: "Link".to_owned(),
        sortable: false,
        is_pk: false,
        data_type: String::new(),
        not_null: false,
        is_link: true,
        position: None,
    });
    columns.insert(0, link);
    columns
}
