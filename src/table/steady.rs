//! Whether a page can be kept while its database stays the same.

use super::execute::Context;

/// Whether the page shows the content of the database and nothing else, so that
/// it stays right as long as that stays the same. A `_where` may do anything; a
/// filter by date reads columns that may hold the text 'now'.
pub(super) fn is_steady(context: &Context<'_>) -> bool {
    let (schema, request, plan) = (context.schema, context.request, context.plan);
    let labelled = plan.table.foreign_keys.iter().map(|key| &key.other_table);
    let through = request.through.iter().map(|through| &through.table);
    let mut others = labelled.chain(through);
    plan.table.steady
        && others.all(|name| schema.find(name).is_none_or(|table| table.steady))
        && request.wheres.is_empty()
        && !plan
            .filters
            .iter()
            .any(|filter| filter.operator.key == "date")
}
