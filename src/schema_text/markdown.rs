//! SQL as a Markdown document.

/// A heading and the SQL below it. The fence is longer than any in the SQL, which
/// may have a comment with one in it; a name keeps to its line.
pub fn section(name: &str, sql: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let fence = "`".repeat(longest_run(sql).max(2) + 1);
    format!("# Schema for {name}\n\n{fence}sql\n{sql}\n{fence}")
}

/// The most backticks in a row.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_stands_in_a_fence_below_its_name() {
        assert_eq!(
            section("data.t", "create table t (a)"),
            "# Schema for data.t\n\n```sql\ncreate table t (a)\n```"
        );
    }

    #[test]
    fn neither_the_sql_nor_the_name_can_leave_its_place() {
        let document = section("a\n# b", "-- ```` \ncreate table t (a)");
        assert!(
            document.starts_with("# Schema for a # b\n\n`````sql\n"),
            "{document}"
        );
        assert!(document.ends_with("\n`````"), "{document}");
    }
}
