//! Rows of other tables that refer to a row: how many there are.

use crate::db::schema::IncomingKey;
use crate::db::snapshot::SqlError;
use crate::db::{Budget, PageSnapshot, Value};
use crate::error::Result;
use crate::text::identifier::escape;

/// A foreign key that refers to the row.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The key.
    pub key: IncomingKey,
    /// What it refers to: the row's value in the key's column.
    pub value: Value,
    /// Rows with that value; `None` if time ran out before they were counted.
    pub count: Option<i64>,
}

/// Counts the rows of one key within `budget`, which all counts of the page share:
/// a table may be referred to by hundreds of others, and each of them may lack
/// an index. `None` if the time is up.
pub fn count(
    snapshot: &PageSnapshot<'_>,
    key: &IncomingKey,
    value: &Value,
    budget: &Budget,
) -> Result<Option<i64>> {
    if value.is_null() {
        // NULL refers to nothing.
        return Ok(Some(0));
    }
    let sql = format!(
        "select count(*) from {} where {} = ?",
        escape(&key.other_table),
        escape(&key.other_column)
    );
    let counted = snapshot.read_within(budget, |connection| {
        connection
            .prepare_cached(&sql)?
            .query_row([value], |row| row.get(0))
    });
    match counted {
        Ok(count) => Ok(Some(count)),
        Err(SqlError::TimeLimit) => Ok(None),
        Err(SqlError::Sqlite(error)) => {
            // A table of a module that is not there, a damaged page: the row itself is fine.
            tracing::warn!(
                "rows of {} that refer to a row were not counted: {error}",
                key.other_table
            );
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Cancel;
    use crate::db::registry::test_database;

    fn key() -> IncomingKey {
        IncomingKey {
            other_table: "child".into(),
            column: "id".into(),
            other_column: "parent".into(),
        }
    }

    #[test]
    fn rows_are_counted_by_the_stored_value() {
        let (_folder, database) = test_database(
            "create table child (parent); insert into child values (1), (1), ('1'), (null)",
        );
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        let count = |value: &Value| count(&snapshot, &key(), value, &Budget::millis(1000)).unwrap();
        assert_eq!(count(&Value::Integer(1)), Some(2));
        assert_eq!(count(&Value::text("1")), Some(1));
        assert_eq!(count(&Value::Null), Some(0));
    }

    #[test]
    fn a_count_without_time_is_left_out() {
        let (_folder, database) = test_database("create table child (parent)");
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        let counted = count(&snapshot, &key(), &Value::Integer(1), &Budget::spent());
        assert_eq!(counted, Ok(None));
        assert!(snapshot.has_gaps());
    }

    #[test]
    fn a_table_that_cannot_be_read_costs_its_own_count() {
        let (_folder, database) = test_database("create table other (x)");
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        let counted = count(&snapshot, &key(), &Value::Integer(1), &Budget::millis(0));
        assert_eq!(counted, Ok(None));
    }
}
