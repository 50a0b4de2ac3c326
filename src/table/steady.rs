//! Whether a page can be kept while its database stays the same.

use super::execute::Context;
use crate::text::steady;

/// Whether the page shows the content of the database and nothing else, so that
/// it stays right as long as that stays the same.
pub(super) fn is_steady(context: &Context<'_>) -> bool {
    let (schema, request) = (context.schema, context.request);
    let is_steady = |name: &String| schema.find(name).is_none_or(|table| table.steady);
    let table = &context.plan.table;
    let labelled = table.foreign_keys.iter().map(|key| &key.other_table);
    let through = request.through.iter().map(|through| &through.table);
    table.steady
        && labelled.chain(through).chain(&request.fts.0).all(is_steady)
        // A condition may read any table.
        && (request.wheres.is_empty() || schema.is_steady())
        && request.wheres.iter().all(|clause| steady::is_steady(clause))
}
