//! Suggested facets: columns whose first rows say that a facet on them would help.
//!
//! One pass over the first 1,000 rows looks at all columns and all kinds of
//! facet, so the cost does not grow with a query for each column:
//!
//! - column: between 2 and `facet_size` different values, fewer than there are
//!   rows, and at least one of them twice;
//! - date: one of the first 100 rows has a date;
//! - array: every value that is not NULL or empty is a JSON array, and the
//!   first 100 arrays with something in them hold only texts.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::FacetKind;
use crate::db::snapshot::SqlError;
use crate::db::tally::{Counts, plain_strings};
use crate::db::{Limit, PageSnapshot};
use crate::error::Result;
use crate::table::Plan;
use crate::table::request::TableRequest;
use crate::table::rows::bind;
use crate::text::identifier::escape;

/// Rows that are looked at.
const ROWS: usize = 1_000;
/// Of these, rows that are looked at for dates; also the arrays looked into.
const FIRST: usize = 100;

/// A facet that would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedFacet {
    /// What it would group by.
    pub kind: FacetKind,
    /// The column.
    pub column: String,
}

/// Looks for facets. Columns that have a facet already are left out. `None` if
/// the time limit, which is one for all columns, struck.
pub fn suggest(
    snapshot: &PageSnapshot<'_>,
    plan: &Plan,
    request: &TableRequest,
    limit: Limit,
) -> Result<Option<Vec<SuggestedFacet>>> {
    let mut columns: Vec<Candidate> = plan
        .all_columns()
        .into_iter()
        .map(|name| {
            let column = plan.table.column(name);
            Candidate {
                ignores_spaces: column.is_some_and(|column| column.collation == "RTRIM"),
                ..Candidate::new(name, request)
            }
        })
        .collect();
    let names: Vec<_> = columns.iter().map(|c| escape(&c.name)).collect();
    let sql = format!("select {} {}limit {ROWS}", names.join(", "), plan.from_sql);
    let looked_at = snapshot.read(limit, |connection| {
        let mut dates = connection.prepare_cached("select date(?) is not null")?;
        let mut statement = connection.prepare_cached(&sql)?;
        bind(&mut statement, &plan.from_params)?;
        let mut rows = statement.raw_query();
        let mut n = 0;
        while let Some(row) = rows.next()? {
            let is_first = n < FIRST;
            // Most columns are settled within a few rows: their values are not even read.
            for (column, candidate) in columns.iter_mut().enumerate() {
                if candidate.is_open(is_first) {
                    let value = row.get_ref(column)?;
                    candidate.look_at(value, request.facet_size, is_first, &mut dates)?;
                }
            }
            n += 1;
        }
        collated_columns(connection, plan, &sql, &mut columns, request.facet_size)?;
        Ok(n)
    });
    match looked_at {
        Ok(rows) => Ok(Some(suggestions(&columns, request.facet_size, rows))),
        Err(SqlError::TimeLimit) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What is known of one column so far.
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that do not depend on each other"
)]
struct Candidate {
    name: String,
    has_facet: [bool; 3],
    counts: Counts,
    too_many: bool,
    has_date: bool,
    /// Still every value an array.
    arrays: bool,
    arrays_seen: usize,
    /// Whether spaces at the end make no difference: the collation is RTRIM.
    ignores_spaces: bool,
}

impl Candidate {
    fn new(name: &str, request: &TableRequest) -> Self {
        let has = |kind| {
            request
                .facets
                .iter()
                .any(|f| f.kind == kind && f.column == name)
        };
        Self {
            name: name.to_owned(),
            has_facet: [
                has(FacetKind::Column),
                has(FacetKind::Date),
                has(FacetKind::Array),
            ],
            counts: Counts::default(),
            too_many: false,
            has_date: false,
            arrays: true,
            arrays_seen: 0,
            ignores_spaces: false,
        }
    }

    /// Whether another value can still make a difference.
    fn is_open(&self, is_first: bool) -> bool {
        !self.too_many || self.arrays || (is_first && !self.has_date)
    }

    fn look_at(
        &mut self,
        value: ValueRef<'_>,
        facet_size: usize,
        is_first: bool,
        dates: &mut rusqlite::Statement<'_>,
    ) -> rusqlite::Result<()> {
        if matches!(value, ValueRef::Null) {
            return Ok(());
        }
        if !self.too_many {
            self.counts.add(value);
            self.too_many = self.counts.len() > facet_size;
        }
        if is_first && !self.has_date && looks_like_date(value) {
            self.has_date = dates.query_row([value_text(value)], |row| row.get(0))?;
        }
        if self.arrays {
            self.look_for_array(value);
        }
        Ok(())
    }

    fn look_for_array(&mut self, value: ValueRef<'_>) {
        let ValueRef::Text(text) = value else {
            self.arrays = false;
            return;
        };
        let is_space = |byte: &u8| self.ignores_spaces && *byte == b' ';
        if text.iter().all(is_space) {
            return;
        }
        match array_of(text) {
            None => self.arrays = false,
            Some(Elements::None) => {}
            Some(elements) => {
                self.arrays_seen += 1;
                if self.arrays_seen <= FIRST && elements != Elements::Texts {
                    self.arrays = false;
                }
            }
        }
    }
}

/// What is in a JSON array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elements {
    None,
    Texts,
    Others,
}

/// What is in the JSON array that `text` is; `None` if it is none.
fn array_of(text: &[u8]) -> Option<Elements> {
    if !text.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    // Nearly all tag columns hold nothing else; the real parser costs several times as much.
    if let Some(strings) = plain_strings(text) {
        return Some(if strings.is_empty() {
            Elements::None
        } else {
            Elements::Texts
        });
    }
    let items: Vec<serde_json::Value> = serde_json::from_slice(text).ok()?;
    Some(if items.is_empty() {
        Elements::None
    } else if items.iter().all(serde_json::Value::is_string) {
        Elements::Texts
    } else {
        Elements::Others
    })
}

/// `????-??-*`
fn looks_like_date(value: ValueRef<'_>) -> bool {
    let ValueRef::Text(text) = value else {
        return false;
    };
    text.get(4) == Some(&b'-') && text.get(7) == Some(&b'-')
}

fn value_text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}

/// Columns of another collation than BINARY have fewer different values than
/// the pass above saw: SQLite counts those.
fn collated_columns(
    connection: &Connection,
    plan: &Plan,
    sql: &str,
    columns: &mut [Candidate],
    facet_size: usize,
) -> rusqlite::Result<()> {
    for candidate in columns {
        let collated = plan
            .table
            .column(&candidate.name)
            .is_some_and(|c| c.collation_known && c.collation != "BINARY");
        if !collated {
            continue;
        }
        let name = escape(&candidate.name);
        let sql = format!(
            "select count(*) from ({sql}) where {name} is not null group by {name} limit {}",
            facet_size + 1
        );
        let mut statement = connection.prepare_cached(&sql)?;
        bind(&mut statement, &plan.from_params)?;
        let mut groups = statement.raw_query();
        // Which values they are does not matter any more: numbers stand for them.
        candidate.counts = Counts::default();
        while let Some(group) = groups.next()? {
            let value = i64::try_from(candidate.counts.len()).unwrap_or(i64::MAX);
            let rows: i64 = group.get(0)?;
            for _ in 0..rows.min(2) {
                candidate.counts.add(ValueRef::Integer(value));
            }
        }
        candidate.too_many = candidate.counts.len() > facet_size;
    }
    Ok(())
}

/// `rows` were looked at. No column has fewer values than there are rows but
/// more than rows were looked at, so the number of all rows makes no difference.
fn suggestions(columns: &[Candidate], facet_size: usize, rows: usize) -> Vec<SuggestedFacet> {
    let helps = |column: &Candidate, kind| match kind {
        FacetKind::Column => {
            let values = column.counts.len();
            let repeats = column.counts.has_repeats();
            !column.too_many && values > 1 && values < rows && values <= facet_size && repeats
        }
        FacetKind::Date => column.has_date,
        FacetKind::Array => column.arrays && column.arrays_seen > 0,
    };
    let mut found = Vec::new();
    for (n, kind) in [FacetKind::Column, FacetKind::Date, FacetKind::Array]
        .into_iter()
        .enumerate()
    {
        for column in columns
            .iter()
            .filter(|column| !column.has_facet[n] && helps(column, kind))
        {
            found.push(SuggestedFacet {
                kind,
                column: column.name.clone(),
            });
        }
    }
    found
}
