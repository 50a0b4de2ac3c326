//! The SQL of one morsel of a table: the rows of a page between two row numbers.

use super::filters::{Filter, Params};
use crate::db::Value;
use crate::db::schema::Table;
use crate::error::Result;
use crate::text::identifier::escape;

/// The rows of a page in parts. Filters that are bounds of the row number say
/// which parts there are; then no row need be held against them again.
pub struct MorselSql {
    /// `select` of the first row number and the last that can match.
    pub ends: String,
    /// Parameters of [`Self::ends`].
    pub ends_params: Params,
    /// `from TABLE where …`, the rows of one morsel, and a space.
    pub from: String,
    params: Params,
}

impl MorselSql {
    /// Writes the SQL for the rows that match `filters`.
    pub fn new(table: &Table, filters: &[Filter]) -> Result<Self> {
        let (bounds, others): (Vec<_>, Vec<_>) = filters
            .iter()
            .partition(|filter| is_row_number(table, &filter.column) && filter.is_bound());
        let mut ends_params = Params::new();
        let bounds = conditions(table, &bounds, &mut ends_params)?;
        let mut params = Params::new();
        let mut conditions = conditions(table, &others, &mut params)?;
        conditions.push("rowid between :first_row and :last_row".into());
        let name = escape(&table.name);
        let within = if bounds.is_empty() {
            String::new()
        } else {
            format!(" where {}", bounds.join(" and "))
        };
        Ok(Self {
            // Two selects: SQLite looks at one end of the table for each, but at all rows for both at once.
            ends: format!(
                "select (select min(rowid) from {name}{within}), (select max(rowid) from {name}{within})"
            ),
            ends_params,
            from: format!("from {name} where {} ", conditions.join(" and ")),
            params,
        })
    }

    /// The parameters of [`Self::from`] for the morsel of these row numbers.
    pub fn params(&self, (first, last): (i64, i64)) -> Params {
        let mut params = self.params.clone();
        params.push(("first_row".into(), Value::Integer(first)));
        params.push(("last_row".into(), Value::Integer(last)));
        params
    }
}

fn conditions(table: &Table, filters: &[&Filter], params: &mut Params) -> Result<Vec<String>> {
    filters
        .iter()
        .map(|filter| filter.sql(&table.name, params))
        .collect()
}

fn is_row_number(table: &Table, column: &str) -> bool {
    match table.find_column(column) {
        Some(column) => table.key_is_rowid && column.pk_position > 0,
        None => column.eq_ignore_ascii_case("rowid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::schema::Schema;

    fn morsel(create: &str, filters: &[(&str, &str)]) -> MorselSql {
        let conn = rusqlite::Connection::open_in_memory().unwrap();
        conn.execute_batch(create).unwrap();
        let schema = Schema::load(&conn).unwrap();
        let table = schema.table("t").unwrap();
        let filters: Vec<_> = filters
            .iter()
            .map(|(key, value)| Filter::resolve(key, value, table).unwrap())
            .collect();
        MorselSql::new(table, &filters).unwrap()
    }

    #[test]
    fn bounds_of_the_row_number_cut_the_range_and_are_not_asked_of_each_row() {
        let create = "create table t(id integer primary key, a)";
        let sql = morsel(create, &[("id__gte", "5"), ("a", "x"), ("id__lt", "9")]);
        assert_eq!(
            sql.ends,
            "select (select min(rowid) from t where \"id\" >= :p0 and \"id\" < :p1), \
             (select max(rowid) from t where \"id\" >= :p0 and \"id\" < :p1)"
        );
        assert_eq!(
            sql.from,
            "from t where \"a\" = :p0 and rowid between :first_row and :last_row "
        );
        let values: Vec<_> = sql.params((1, 2)).into_iter().map(|(_, v)| v).collect();
        assert_eq!(
            values,
            [Value::text("x"), Value::Integer(1), Value::Integer(2)]
        );
    }

    #[test]
    fn a_key_that_is_no_row_number_is_asked_of_each_row() {
        for create in [
            "create table t(id integer primary key desc)",
            "create table t(id int primary key)",
            "create table t(id integer, a, primary key (id, a))",
        ] {
            let sql = morsel(create, &[("id__gte", "5")]);
            assert!(sql.ends_params.is_empty(), "{create}");
            assert!(sql.from.contains("\"id\" >= :p0"), "{create}");
        }
    }

    #[test]
    fn only_bounds_are_taken_for_the_range() {
        let create = "create table t(id integer primary key)";
        for key in ["id__not", "id__in", "id__contains", "id__notnull"] {
            let sql = morsel(create, &[(key, "5")]);
            assert!(sql.ends_params.is_empty(), "{key}");
        }
    }
}
