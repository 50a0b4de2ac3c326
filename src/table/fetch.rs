//! The rows of a page, and where the next one begins.

use rusqlite::{Connection, OptionalExtension};

use super::execute::{Context, as_invalid_sql};
use super::jobs::sql_limit;
use super::key::{Key, may_lack_a_key};
use super::plan::Plan;
use super::rows::Rows;
use crate::db::{BorrowedValue, Limit, Value};
use crate::error::Result;
use crate::text::identifier::escape;

/// A page ends early, with the token of a next one, when the texts and blobs of
/// its rows have more bytes than this: so the memory of all pages is bounded.
const PAGE_BYTES: usize = 32 << 20;

/// The rows of the page, and the token of the page after it.
pub(super) fn rows(context: &Context<'_>) -> Result<(Rows, Option<String>)> {
    let plan = context.plan;
    let (mut rows, mut more) = query(context, plan)?;
    let by_row_number;
    let mut ran = plan;
    if !plan.has_row_number && lacks_a_key(plan, &rows) {
        // Rare: only the row number tells such rows apart.
        let config = context
            .config
            .table(&context.database.name, &plan.table.name);
        by_row_number = plan.by_row_number(context.request, context.schema, config)?;
        (rows, more) = query(context, &by_row_number)?;
        ran = &by_row_number;
    }
    rows.truncate(context.request.size);
    let next = if more && !rows.is_empty() {
        Some(next_token(
            ran,
            &rows,
            ran.offset + rows.len(),
            |sort, key| {
                let value = context.snapshot.read(sql_limit(context), |connection| {
                    sort_value_of(connection, plan, sort, key)
                });
                Ok(value?)
            },
        )?)
    } else {
        None
    };
    if ran.has_row_number {
        rows.drop_last_column();
    }
    Ok((rows, next))
}

/// One row more than the page shows, or fewer if those are very long. Says
/// whether there are more than the page can show.
fn query(context: &Context<'_>, plan: &Plan) -> Result<(Rows, bool)> {
    let request = context.request;
    let queried = context
        .snapshot
        .read(Limit::millis(request.time_limit_ms), |connection| {
            let limit = request.size + 1;
            Rows::query(connection, &plan.sql, &plan.params, limit, PAGE_BYTES)
        });
    let (rows, ended) = queried.map_err(as_invalid_sql)?;
    Ok((rows, !ended))
}

/// Whether a row has a NULL in its key.
fn lacks_a_key(plan: &Plan, rows: &Rows) -> bool {
    may_lack_a_key(&plan.table) && {
        let key: Vec<usize> = plan
            .key_columns
            .iter()
            .filter_map(|name| rows.position(name))
            .collect();
        rows.iter()
            .any(|row| key.iter().any(|&n| row.value(n).is_null()))
    }
}

/// The token of the page that begins after the last of `rows`, which `plan` gave
/// and which is number `passed` of all. `look_up` finds the value sorted by of the
/// row with a key, when the rows do not have it.
pub(super) fn next_token(
    plan: &Plan,
    rows: &Rows,
    passed: usize,
    look_up: impl FnOnce(&str, &[BorrowedValue<'_>]) -> Result<Value>,
) -> Result<String> {
    if plan.key == Key::None {
        return Ok(passed.to_string());
    }
    let last = rows.iter().next_back().unwrap_or_default();
    let value = |name: &str| rows.position(name).and_then(|n| last.get(n));
    let mut key: Vec<BorrowedValue<'_>> = plan
        .key_columns
        .iter()
        .filter_map(|name| value(name))
        .collect();
    let looked_up;
    let sort_value = match &plan.order.sort {
        None => None,
        Some(sort) => {
            if let Some(value) = value(&sort.name) {
                Some(value)
            } else {
                looked_up = look_up(&sort.name, &key)?;
                Some(looked_up.borrowed())
            }
        }
    };
    if plan.has_row_number {
        key.extend(last.values().next_back());
    }
    Ok(plan.order.token(sort_value, &key))
}

/// The value sorted by, when `_col` or `_nocol` left its column out.
pub(super) fn sort_value_of(
    connection: &Connection,
    plan: &Plan,
    sort: &str,
    key: &[BorrowedValue<'_>],
) -> rusqlite::Result<Value> {
    let conditions: Vec<String> = plan
        .key_columns
        .iter()
        .map(|name| format!("{} is ?", escape(name)))
        .collect();
    let sql = format!(
        "select {} from {} where {}",
        escape(sort),
        escape(&plan.table.name),
        conditions.join(" and ")
    );
    let value = connection
        .prepare_cached(&sql)?
        .query_row(rusqlite::params_from_iter(key), |row| {
            Ok(Value::from(row.get_ref(0)?))
        })
        .optional()?;
    Ok(value.unwrap_or(Value::Null))
}
