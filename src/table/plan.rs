//! From a request and the schema to a [`Plan`]: the SQL of the page. No SQL has run yet.

use std::sync::Arc;

use super::extras::{FacetRequest, FacetSource};
use super::filters::{Filter, Params, description, unknown_column};
use super::key::{Key, hidden_rowid, key_of, may_lack_a_key};
use super::morsel::MorselSql;
use super::paging::{Order, OrderColumn};
use super::request::TableRequest;
use super::search::{self, Conditions};
use crate::config::TableConfig;
use crate::db::schema::{Affinity, Kind, Schema, Table};
use crate::error::{Error, Result};
use crate::text::identifier::escape;

/// What to run for a page.
pub struct Plan {
    /// The table or view.
    pub table: Arc<Table>,
    /// How its rows are told apart.
    pub key: Key,
    /// The columns of the key.
    pub key_columns: Vec<String>,
    /// The order of the rows.
    pub order: Order,
    /// The filters, resolved.
    pub filters: Vec<Filter>,
    /// Filters and search in words.
    pub description: String,
    /// The facets that can be counted.
    pub facets: Vec<FacetRequest>,
    /// The SQL of the rows: one more than the page shows, to see whether there is another page.
    pub sql: String,
    /// Parameters of [`Self::sql`].
    pub params: Params,
    /// `from TABLE where …`, all rows that match, and a space.
    pub from_sql: String,
    /// Parameters of [`Self::from_sql`].
    pub from_params: Params,
    /// Whether [`Self::from_sql`] has a `where`.
    has_conditions: bool,
    /// The SQL of a part of these rows, where a scan of them may be cut by row numbers.
    pub morsel: Option<MorselSql>,
    /// The columns that may be sorted by.
    pub sortable: Vec<String>,
    /// The offset of this page, for a view.
    pub offset: usize,
    /// Whether the row number is the last column of the rows, for their order only.
    pub has_row_number: bool,
    /// The full-text table, if there is one.
    pub fts_table: Option<String>,
}

impl Plan {
    /// Writes the plan. [`Error::BadRequest`] for what does not fit the schema.
    pub fn new(
        request: &TableRequest,
        table: &Arc<Table>,
        schema: &Schema,
        config: &TableConfig,
    ) -> Result<Self> {
        let (_, key_columns) = key_of(table);
        let parts = key_columns.len() + usize::from(request.sort.is_some());
        // The token of a page that ended at a row without a full key.
        let by_row_number = may_lack_a_key(table)
            && request
                .next
                .as_ref()
                .is_some_and(|next| next.split(',').count() == parts + 1);
        Self::build(request, table, schema, config, by_row_number)
    }

    /// The same plan with the row number at the end of order and columns, where
    /// NULLs in the key leave rows that only it tells apart.
    pub fn by_row_number(
        &self,
        request: &TableRequest,
        schema: &Schema,
        config: &TableConfig,
    ) -> Result<Self> {
        Self::build(request, &self.table, schema, config, true)
    }

    fn build(
        request: &TableRequest,
        table: &Arc<Table>,
        schema: &Schema,
        config: &TableConfig,
        by_row_number: bool,
    ) -> Result<Self> {
        if let Some(reason) = &table.broken {
            return Err(Error::InvalidSql(format!(
                "{} can't be read: {reason}",
                table.name
            )));
        }
        let (key, key_columns) = key_of(table);
        let mut params = Params::new();
        let filters = resolve_filters(request, table)?;
        let mut clauses = Vec::with_capacity(filters.len());
        for filter in &filters {
            clauses.push(filter.sql(&table.name, &mut params)?);
        }
        let morsel = if can_be_cut(request, table) {
            Some(MorselSql::new(table, &filters)?)
        } else {
            None
        };
        clauses.extend(wheres(request));
        let searched = search::search(request, table, schema, config, &mut params)?;
        let through = search::through(&request.through, table, schema, &mut params)?;
        let mut words = Vec::new();
        for Conditions {
            clauses: more,
            words: said,
        } in [searched, through]
        {
            clauses.extend(more);
            words.extend(said);
        }

        let sortable = sortable_columns(table, key, config);
        if let Some(sort) = &request.sort
            && !sortable.contains(&sort.column)
        {
            return Err(Error::BadRequest(format!(
                "Cannot sort table by {}",
                sort.column
            )));
        }
        let keyed = Order::new(
            request.sort.as_ref(),
            |name| affinity(table, name),
            &key_columns,
            key != Key::Primary || table.key_is_rowid,
        );
        let mut order = keyed.clone();
        if by_row_number {
            order.key.push(OrderColumn::row_number());
        }

        let from_sql = format!("from {} {}", escape(&table.name), where_sql(&clauses));
        let has_conditions = !clauses.is_empty();
        let from_params = params.clone();
        let mut offset = 0;
        if let Some(next) = &request.next {
            if key == Key::None {
                offset = next.parse().map_err(|_| {
                    Error::BadRequest(format!("_next={next} must be a number on a view"))
                })?;
            } else {
                // The page before may have done without the row number: its keys were full.
                let of_token = if next.split(',').count() <= keyed.len() {
                    &keyed
                } else {
                    &order
                };
                clauses.push(of_token.after(next, &mut params)?);
            }
        }
        let sql = format!(
            "select {} from {} {}{} limit {}{}",
            select_list(request, table, key, &key_columns, by_row_number)?,
            escape(&table.name),
            where_sql(&clauses),
            order.sql(),
            request.size + 1,
            if offset > 0 {
                format!(" offset {offset}")
            } else {
                String::new()
            },
        );
        Ok(Self {
            description: described(&description(&words, &filters), request),
            facets: countable_facets(request, table, key)?,
            fts_table: search::fts_table(table, config),
            table: table.clone(),
            key,
            key_columns,
            order,
            filters,
            sql,
            params,
            from_sql,
            from_params,
            has_conditions,
            morsel,
            sortable,
            offset,
            has_row_number: by_row_number,
        })
    }

    /// Whether all rows of a table match.
    pub fn is_whole_table(&self) -> bool {
        !self.has_conditions && !self.table.is_view()
    }

    /// The SQL that counts all rows that match.
    pub fn count_sql(&self) -> String {
        format!("select count(*) {}", self.from_sql)
    }

    /// The names of all columns that facets and filters can use: those of the
    /// table, with the row number before them where it is shown.
    pub fn all_columns(&self) -> Vec<&str> {
        let rowid = (self.key == Key::Rowid).then_some("rowid");
        rowid
            .into_iter()
            .chain(self.table.columns.iter().map(|c| c.name.as_str()))
            .collect()
    }
}

/// Whether each part of a scan, cut by row numbers, costs its share. Not so for a
/// search, which every part would do again.
fn can_be_cut(request: &TableRequest, table: &Table) -> bool {
    table.kind == Kind::Table
        && !table.without_rowid
        && !table.has_rowid_column
        && request.searches.is_empty()
        && request.through.is_empty()
        && request.wheres.is_empty()
}

fn affinity(table: &Table, column: &str) -> Affinity {
    // What is no column of the table is its row number.
    table
        .find_column(column)
        .map_or(Affinity::Integer, |column| column.affinity)
}

fn resolve_filters(request: &TableRequest, table: &Table) -> Result<Vec<Filter>> {
    request
        .filters
        .iter()
        .map(|(key, value)| Filter::resolve(key, value, table))
        .collect()
}

/// `_where` conditions. One that has a comment in it gets a line of its own, so
/// that the comment ends where the condition does.
fn wheres(request: &TableRequest) -> impl Iterator<Item = String> {
    request.wheres.iter().map(|clause| {
        let has_comment = clause.contains("--") || clause.contains("/*");
        if has_comment {
            format!("({clause}\n)")
        } else {
            clause.clone()
        }
    })
}

fn where_sql(clauses: &[String]) -> String {
    if clauses.is_empty() {
        String::new()
    } else {
        format!("where {} ", clauses.join(" and "))
    }
}

fn sortable_columns(table: &Table, key: Key, config: &TableConfig) -> Vec<String> {
    let mut columns = config.sortable_columns.clone().unwrap_or_else(|| {
        table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect()
    });
    if key == Key::Rowid {
        columns.push("rowid".into());
    }
    columns
}

fn select_list(
    request: &TableRequest,
    table: &Table,
    key: Key,
    key_columns: &[String],
    by_row_number: bool,
) -> Result<String> {
    let mut names = shown_columns(request, table)?;
    if key == Key::Rowid {
        names.insert(0, "rowid".into());
    }
    let mut list: Vec<_> = names.iter().map(|name| escape(name)).collect();
    if key == Key::HiddenRowid {
        list.push(hidden_rowid(key_columns).into());
    }
    if by_row_number {
        list.push("rowid".into());
    }
    if list.is_empty() {
        return Err(Error::BadRequest("_nocol leaves no column to show".into()));
    }
    Ok(list.join(", "))
}

/// `_col` and `_nocol`: the key's columns always stay.
fn shown_columns(request: &TableRequest, table: &Table) -> Result<Vec<String>> {
    let refuse = |argument: &str, bad: &[&String]| {
        let names: Vec<_> = bad.iter().map(|name| name.as_str()).collect();
        Error::BadRequest(format!("{argument}={} - invalid columns", names.join(", ")))
    };
    let mut names: Vec<String> = if request.columns.is_empty() {
        table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect()
    } else {
        let bad: Vec<_> = request
            .columns
            .iter()
            .filter(|name| table.column(name).is_none())
            .collect();
        if !bad.is_empty() {
            return Err(refuse("_col", &bad));
        }
        let mut names = table.primary_keys.clone();
        for name in &request.columns {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    };
    let bad: Vec<_> = request
        .without_columns
        .iter()
        .filter(|name| table.column(name).is_none() || table.primary_keys.contains(name))
        .collect();
    if !bad.is_empty() {
        return Err(refuse("_nocol", &bad));
    }
    names.retain(|name| !request.without_columns.contains(name));
    Ok(names)
}

fn countable_facets(request: &TableRequest, table: &Table, key: Key) -> Result<Vec<FacetRequest>> {
    let mut facets = Vec::new();
    for facet in &request.facets {
        let is_rowid = key == Key::Rowid && facet.column == "rowid";
        if is_rowid || table.column(&facet.column).is_some() {
            facets.push(facet.clone());
        } else if facet.source == FacetSource::Request {
            return Err(unknown_column(&facet.column, table));
        } else {
            tracing::warn!(
                "the configured facet {:?} is no column of {:?}",
                facet.column,
                table.name
            );
        }
    }
    Ok(facets)
}

/// Adds the sort order to the words.
fn described(filters: &str, request: &TableRequest) -> String {
    let sorted = request.sort.as_ref().map_or_else(String::new, |sort| {
        format!(
            "sorted by {}{}",
            sort.column,
            if sort.descending { " descending" } else { "" }
        )
    });
    [filters, &sorted]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
