//! `<option>`s of the filter form. A form has dozens; written here they cost a
//! fraction of what a loop in the template does.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::table::filters::OPERATORS;
use crate::text::html;

/// The options of all operators, by the one that is chosen; `""` for none.
static OPERATOR_OPTIONS: LazyLock<HashMap<&'static str, String>> = LazyLock::new(|| {
    let chosen = OPERATORS.iter().map(|operator| operator.key);
    std::iter::once("")
        .chain(chosen)
        .map(|chosen| (chosen, operator_options(chosen)))
        .collect()
});

/// The options of the select of operators.
pub fn operators(chosen: &str) -> &'static str {
    OPERATOR_OPTIONS.get(chosen).map_or("", String::as_str)
}

fn operator_options(chosen: &str) -> String {
    let mut out = String::new();
    for operator in OPERATORS {
        out.push_str("<option value=\"");
        out.push_str(operator.key);
        // An operator without a value carries a stand-in, so that the form's redirect has one.
        out.push_str(if operator.takes_value() {
            "\""
        } else {
            "__1\" data-no-value"
        });
        out.push_str(if operator.key == chosen {
            " selected>"
        } else {
            ">"
        });
        html::escape_into(&mut out, operator.label);
        out.push_str("</option>");
    }
    out
}

/// Appends one option.
pub fn push(out: &mut String, value: &str, label: &str, selected: bool) {
    out.push_str("<option value=\"");
    html::escape_into(out, value);
    out.push_str(if selected { "\" selected>" } else { "\">" });
    html::escape_into(out, label);
    out.push_str("</option>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_operator_is_selected_and_those_without_a_value_say_so() {
        let options = operators("gt");
        assert!(options.contains("<option value=\"gt\" selected>&gt;</option>"));
        assert!(options.contains("<option value=\"isnull__1\" data-no-value>is null</option>"));
        assert_eq!(options.matches(" selected").count(), 1);
        assert!(!operators("").contains(" selected"));
    }

    #[test]
    fn names_are_escaped() {
        let mut out = String::new();
        push(&mut out, "\"><b>", "<b>", true);
        assert_eq!(
            out,
            "<option value=\"&#34;&gt;&lt;b&gt;\" selected>&lt;b&gt;</option>"
        );
    }
}
