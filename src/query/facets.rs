//! Facets of a query's result: how many of all its rows have each value of a column.
//! The query runs once for each, as a part of SQL that counts.

use std::sync::Arc;

use parking_lot::Mutex;

use super::execute::{QueryPage, prepare};
use super::tokens::statement;
use super::{QueryRequest, fence, validate};
use crate::db::snapshot::SqlError;
use crate::db::{Database, Limit, PageSnapshot, Value};
use crate::engine::{Graph, Page, Shape};
use crate::error::{Error, Result};
use crate::table::execute::as_invalid_sql;
use crate::table::extras::facets::FacetValues;
use crate::table::extras::{FacetKind, FacetRequest};
use crate::table::page::Facet;
use crate::text::identifier::quote;

/// What came of a facet: `None` if its time was up.
type Counted = Result<Option<FacetValues>>;

/// Counts the facets that are asked for, each within its time limit.
/// [`Error::BadRequest`] for a column that the result does not have.
pub fn count(
    page: &Page<'_>,
    database: &Database,
    snapshot: &PageSnapshot<'_>,
    request: &QueryRequest,
    result: &mut QueryPage,
) -> Result<()> {
    if validate::explains(&request.sql) {
        return Err(Error::BadRequest(
            "The result of EXPLAIN has no facets: remove _facet".into(),
        ));
    }
    let columns = &result.rows.columns;
    let queries: Vec<String> = request
        .facets
        .iter()
        .map(|facet| {
            Ok(sql(
                request,
                columns.len(),
                position(columns, facet)?,
                facet,
            ))
        })
        .collect::<Result<_>>()?;
    let slots: Vec<Mutex<Option<Counted>>> = queries.iter().map(|_| Mutex::new(None)).collect();
    let mut graph = Graph::default();
    for (sql, slot) in queries.iter().zip(&slots) {
        graph.add(&[], move || {
            let counted = count_one(snapshot, request, sql);
            *slot.lock() = Some(counted);
        });
    }
    let shape = Shape::of(("query", &database.name, &queries));
    graph.run(page, page.way(shape, None), || snapshot.share());
    if page.cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    for (facet, slot) in request.facets.iter().zip(slots) {
        match slot.into_inner().transpose()?.flatten() {
            Some(counted) => result.facets.push(Facet {
                request: facet.clone(),
                counted: Arc::new(counted),
            }),
            None => result.facets_timed_out.push(facet.column.clone()),
        }
    }
    Ok(())
}

fn position(columns: &[String], facet: &FacetRequest) -> Result<usize> {
    let position = columns.iter().position(|name| *name == facet.column);
    position.ok_or_else(|| {
        Error::BadRequest(format!(
            "{}={} - the query has no column of that name",
            facet.kind.argument(),
            facet.column
        ))
    })
}

/// SQL that counts one facet. The columns get names of their own: those of a query may be
/// anything, and the same twice.
fn sql(request: &QueryRequest, width: usize, position: usize, facet: &FacetRequest) -> String {
    let query = statement(&request.sql);
    let name = unused_name(query);
    let columns: Vec<String> = (0..width).map(|n| format!("c{n}")).collect();
    let columns = columns.join(", ");
    let values = match facet.kind {
        FacetKind::Column => format!("select c{position} as v from {name}"),
        FacetKind::Date => {
            let day = day(&format!("c{position}"));
            format!("select {day} as v from {name}")
        }
        // An element that a row has twice counts once.
        FacetKind::Array => format!(
            "select distinct n, j.value as v from \
             (select row_number() over () as n, c{position} as a from {name}), \
             json_each({}) j",
            array("a")
        ),
    };
    let limit = request.facet_size + 1;
    format!(
        "with {name}({columns}) as (\n{query}\n) \
         select v, count(*) from ({values}) where v is not null \
         group by 1 order by 2 desc, 1 limit {limit}"
    )
}

/// A name that the SQL does not use.
fn unused_name(sql: &str) -> String {
    let sql = sql.to_ascii_lowercase();
    let mut name = "facet_of".to_owned();
    while sql.contains(&name) {
        name.push('_');
    }
    name
}

/// The day of a date. Texts that begin with a letter are none, but to `date()` some mean today.
fn day(column: &str) -> String {
    format!("iif({column} collate binary < ':', date({column}), null)")
}

/// What is no array of JSON is an empty one.
fn array(column: &str) -> String {
    format!("iif(json_valid({column}) and json_type({column}) = 'array', {column}, '[]')")
}

fn count_one(snapshot: &PageSnapshot<'_>, request: &QueryRequest, sql: &str) -> Counted {
    let limit = Limit::millis(request.facet_time_limit_ms);
    let counted = snapshot.read(limit, |connection| {
        fence::within(connection, &request.rules, |connection| {
            let mut statement = match prepare(connection, request, sql)? {
                Ok(statement) => statement,
                Err(error) => return Ok(Err(error)),
            };
            let mut rows = statement.raw_query();
            let mut values = Vec::new();
            while let Some(row) = rows.next()? {
                let count = row.get::<_, i64>(1)?.unsigned_abs();
                values.push((Value::from(row.get_ref(0)?), count));
            }
            Ok(Ok(values))
        })
    });
    match counted {
        Ok(values) => Ok(Some(FacetValues::first(values?, request.facet_size))),
        Err(SqlError::TimeLimit) => Ok(None),
        Err(error) => Err(as_invalid_sql(error)),
    }
}

/// The SQL of the rows that have a value in a facet. `None` where SQL could not say it:
/// another column has the same name, or the value can't be written down.
pub fn filtered(
    sql: &str,
    columns: &[String],
    facet: &FacetRequest,
    value: &Value,
) -> Option<String> {
    let same_name = columns.iter().filter(|name| **name == facet.column);
    if same_name.count() != 1 {
        return None;
    }
    let (column, value) = (quote(&facet.column), literal(value)?);
    let condition = match facet.kind {
        FacetKind::Column => format!("{column} = {value}"),
        FacetKind::Date => format!("date({column}) = {value}"),
        FacetKind::Array => format!(
            "exists (select 1 from json_each({}) where value = {value})",
            array(&column)
        ),
    };
    let query = statement(sql);
    Some(format!("select * from (\n{query}\n) where {condition}"))
}

/// A value as SQL: a text would not be equal to a number.
fn literal(value: &Value) -> Option<String> {
    match value {
        Value::Integer(integer) => Some(integer.to_string()),
        Value::Real(real) if real.is_finite() => Some(format!("{real:?}")),
        Value::Text(bytes) => {
            let text = std::str::from_utf8(bytes).ok()?;
            (!text.contains('\0')).then(|| format!("'{}'", text.replace('\'', "''")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::extras::FacetSource;

    fn facet(kind: FacetKind, column: &str) -> FacetRequest {
        FacetRequest {
            kind,
            column: column.into(),
            source: FacetSource::Request,
        }
    }

    #[test]
    fn the_rows_of_a_value_are_asked_for_in_sql() {
        let columns = ["a".to_owned(), "b".to_owned(), "b".to_owned()];
        let ask = |column: &str, value: &Value| {
            filtered(
                "select 1 ; -- x",
                &columns,
                &facet(FacetKind::Column, column),
                value,
            )
        };
        let expected = |value: &str| {
            Some(format!(
                "select * from (\nselect 1\n) where \"a\" = {value}"
            ))
        };
        assert_eq!(ask("a", &Value::Integer(-5)), expected("-5"));
        assert_eq!(ask("a", &Value::Real(1e300)), expected("1e300"));
        assert_eq!(ask("a", &Value::Real(1.0)), expected("1.0"));
        assert_eq!(ask("a", &Value::text("it's")), expected("'it''s'"));
        assert_eq!(ask("a", &Value::Real(f64::INFINITY)), None);
        assert_eq!(ask("b", &Value::Integer(1)), None, "which b?");
    }

    #[test]
    fn the_query_stands_in_lines_of_its_own() {
        let query = crate::text::query::QueryString::parse("sql=select+1+--+a;&_facet=1");
        let settings = crate::config::Settings::default();
        let request =
            QueryRequest::parse(&query, crate::table::arguments::Format::Json, &settings).unwrap();
        let sql = sql(&request, 1, 0, &request.facets[0]);
        assert_eq!(unused_name("select * from Facet_of"), "facet_of_");
        assert!(
            sql.starts_with("with facet_of(c0) as (\nselect 1\n) select v"),
            "{sql}"
        );
    }
}
