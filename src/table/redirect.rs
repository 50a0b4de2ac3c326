//! The filter form sends `_filter_column`, `_filter_op` and `_filter_value`, and
//! `_sort_by_desc`; a redirect turns them into the arguments that pages are known by.

use crate::text::query::QueryString;

/// The query string to redirect to, if this one came from the form.
pub fn canonical_query(query: &QueryString) -> Option<String> {
    filters(query).or_else(|| descending(query))
}

fn filters(query: &QueryString) -> Option<String> {
    let mut added: Vec<(String, Option<String>)> = Vec::new();
    let mut removed = Vec::new();
    let mut one = |suffix: &str, default_op: &str| {
        let part = |name: &str| query.get(&format!("_filter_{name}{suffix}")).unwrap_or("");
        let (column, mut op, mut value) = (part("column"), part("op"), part("value"));
        if op.is_empty() {
            op = default_op;
        }
        // Operators without a value come as `isnull__1`.
        if let Some((bare, fixed)) = op.split_once("__") {
            (op, value) = (bare, fixed);
        }
        if !column.is_empty() {
            added.push((format!("{column}__{op}"), Some(value.to_owned())));
        }
        for name in ["column", "op", "value"] {
            let key = format!("_filter_{name}{suffix}");
            if query.contains(&key) {
                removed.push(key);
            }
        }
    };
    one("", "exact");
    for key in query.keys() {
        if let Some(number) = key.strip_prefix("_filter_column_")
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
        {
            one(&format!("_{number}"), "exact");
        }
    }
    if removed.is_empty() {
        return None;
    }
    added.extend(removed.into_iter().map(|key| (key, None)));
    let args: Vec<_> = added
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_deref()))
        .collect();
    Some(query.with_added(&args))
}

fn descending(query: &QueryString) -> Option<String> {
    query.contains("_sort_by_desc").then(|| {
        let sort = query.get("_sort");
        query.with_added(&[
            ("_sort_desc", sort),
            ("_sort_by_desc", None),
            ("_sort", None),
        ])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirected(query: &str) -> Option<String> {
        canonical_query(&QueryString::parse(query))
    }

    #[test]
    fn the_form_s_fields_become_filters() {
        assert_eq!(
            redirected("_filter_column=state&_filter_op=exact&_filter_value=CA").as_deref(),
            Some("state__exact=CA")
        );
        assert_eq!(
            redirected("_filter_column_1=state&_filter_op_1=isnull__1&_filter_value_1=x&_size=3")
                .as_deref(),
            Some("_size=3&state__isnull=1")
        );
    }

    #[test]
    fn a_removed_filter_leaves_nothing_behind() {
        assert_eq!(
            redirected("_filter_column_1=&_filter_op_1=exact&_filter_value_1=3").as_deref(),
            Some("")
        );
    }

    #[test]
    fn descending_is_a_tick_beside_the_column() {
        assert_eq!(
            redirected("_sort=n&_sort_by_desc=on").as_deref(),
            Some("_sort_desc=n")
        );
    }

    #[test]
    fn other_pages_stay_where_they_are() {
        assert_eq!(redirected("state=CA&_sort=n"), None);
    }
}
