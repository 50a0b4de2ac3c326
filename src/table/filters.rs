//! Filters: `column__operator=value` as SQL conditions and as words.

use crate::db::Value;
use crate::db::schema::{Affinity, Kind, Table};
use crate::error::{Error, Result};
use crate::text::identifier::{escape, quote};

/// How an operator becomes SQL.
enum Form {
    /// `{c} OP :p`, the value as text with the format's `%` around it.
    Text {
        operator: &'static str,
        before: &'static str,
        after: &'static str,
    },
    /// `{c} OP :p`, the value as a number if it is one.
    Number(&'static str),
    /// `{c} in (…)`
    In { not: bool },
    /// `:p in (select value from json_each({t}.{c}))`
    Array { not: bool },
    /// `date({c}) = :p`
    Date,
    /// A condition on the column alone.
    NoValue(&'static str),
}

/// One operator.
pub struct Operator {
    /// The name in the URL.
    pub key: &'static str,
    /// The name in the form.
    pub label: &'static str,
    form: Form,
    /// Words for a person: `{c}` and `{v}` are column and value.
    words: &'static str,
}

impl Operator {
    /// Whether a value belongs to it.
    pub fn takes_value(&self) -> bool {
        !matches!(self.form, Form::NoValue(_))
    }

    fn by_key(key: &str) -> Option<&'static Self> {
        OPERATORS.iter().find(|operator| operator.key == key)
    }
}

const fn text(operator: &'static str, before: &'static str, after: &'static str) -> Form {
    Form::Text {
        operator,
        before,
        after,
    }
}

const fn operator(
    key: &'static str,
    label: &'static str,
    form: Form,
    words: &'static str,
) -> Operator {
    Operator {
        key,
        label,
        form,
        words,
    }
}

/// All operators, in the order of the form.
pub static OPERATORS: &[Operator] = &[
    operator("exact", "=", text("=", "", ""), "{c} = {q}"),
    operator("not", "!=", text("!=", "", ""), "{c} != {q}"),
    operator(
        "contains",
        "contains",
        text("like", "%", "%"),
        "{c} contains \"{v}\"",
    ),
    operator(
        "notcontains",
        "does not contain",
        text("not like", "%", "%"),
        "{c} does not contain \"{v}\"",
    ),
    operator(
        "endswith",
        "ends with",
        text("like", "%", ""),
        "{c} ends with \"{v}\"",
    ),
    operator(
        "startswith",
        "starts with",
        text("like", "", "%"),
        "{c} starts with \"{v}\"",
    ),
    operator("gt", ">", Form::Number(">"), "{c} > {v}"),
    operator("gte", "≥", Form::Number(">="), "{c} ≥ {v}"),
    operator("lt", "<", Form::Number("<"), "{c} < {v}"),
    operator("lte", "≤", Form::Number("<="), "{c} ≤ {v}"),
    operator("like", "like", text("like", "", ""), "{c} like \"{v}\""),
    operator(
        "notlike",
        "not like",
        text("not like", "", ""),
        "{c} not like \"{v}\"",
    ),
    operator("glob", "glob", text("glob", "", ""), "{c} glob \"{v}\""),
    operator("in", "in", Form::In { not: false }, "{c} in {l}"),
    operator("notin", "not in", Form::In { not: true }, "{c} not in {l}"),
    operator(
        "arraycontains",
        "array contains",
        Form::Array { not: false },
        "{c} contains \"{v}\"",
    ),
    operator(
        "arraynotcontains",
        "array does not contain",
        Form::Array { not: true },
        "{c} does not contain \"{v}\"",
    ),
    operator("date", "date", Form::Date, "\"{c}\" is on date {v}"),
    operator(
        "isnull",
        "is null",
        Form::NoValue("{c} is null"),
        "{c} is null",
    ),
    operator(
        "notnull",
        "is not null",
        Form::NoValue("{c} is not null"),
        "{c} is not null",
    ),
    operator(
        "isblank",
        "is blank",
        Form::NoValue("({c} is null or {c} = '')"),
        "{c} is blank",
    ),
    operator(
        "notblank",
        "is not blank",
        Form::NoValue("({c} is not null and {c} != '')"),
        "{c} is not blank",
    ),
];

/// A filter that fits the table.
pub struct Filter {
    /// The column's name.
    pub column: String,
    /// The operator.
    pub operator: &'static Operator,
    /// The value as sent.
    pub value: String,
    /// Whether the column has no affinity, so that SQLite compares the text of a
    /// URL with its values as they are: 1 is not '1' there.
    untyped: bool,
}

/// Parameters by name, `p0`, `p1` …, in order.
pub type Params = Vec<(String, Value)>;

impl Filter {
    /// Finds column and operator of an argument. `a__b` is operator `b` on
    /// column `a`, or the column `a__b` where there is one.
    pub fn resolve(key: &str, value: &str, table: &Table) -> Result<Self> {
        let filter = |column: &str, operator| {
            untyped_column(table, column).map(|untyped| Self {
                column: column.to_owned(),
                operator,
                value: value.to_owned(),
                untyped,
            })
        };
        let exact = &OPERATORS[0];
        let Some((column, name)) = key.rsplit_once("__") else {
            return filter(key, exact).ok_or_else(|| unknown_column(key, table));
        };
        let Some(operator) = Operator::by_key(name) else {
            let names: Vec<_> = OPERATORS.iter().map(|o| o.key).collect();
            return filter(key, exact).ok_or_else(|| {
                Error::BadRequest(format!(
                    "Unknown filter operator {name} in {key} - use one of {}",
                    names.join(", ")
                ))
            });
        };
        filter(column, operator)
            .or_else(|| filter(key, exact))
            .ok_or_else(|| unknown_column(column, table))
    }

    /// The condition in SQL; its parameters go to the end of `params`.
    pub fn sql(&self, table: &str, params: &mut Params) -> Result<String> {
        let column = quote(&self.column);
        Ok(match &self.operator.form {
            Form::Text {
                operator,
                before,
                after,
            } => {
                if self.untyped
                    && before.is_empty()
                    && let Some(number) = number_of(&self.value)
                    && let Some(list) = match *operator {
                        "=" => Some("in"),
                        "!=" => Some("not in"),
                        _ => None,
                    }
                {
                    let text = bind(params, Value::text(&self.value));
                    return Ok(format!(
                        "{column} {list} ({text}, {})",
                        bind(params, number)
                    ));
                }
                let value = bind(
                    params,
                    Value::text(&format!("{before}{}{after}", self.value)),
                );
                format!("{column} {operator} {value}")
            }
            Form::Number(operator) => {
                let value = lenient_number(&self.value).unwrap_or_else(|| Value::text(&self.value));
                format!("{column} {operator} {}", bind(params, value))
            }
            Form::In { not } => {
                let mut names = Vec::new();
                for value in split_list(&self.value)? {
                    if self.untyped
                        && let Value::Text(text) = &value
                        && let Some(number) = number_of(&String::from_utf8_lossy(text))
                    {
                        names.push(bind(params, number));
                    }
                    names.push(bind(params, value));
                }
                let not = if *not { "not " } else { "" };
                format!("{} {not}in ({})", escape(&self.column), names.join(", "))
            }
            Form::Array { not } => {
                let value = bind(params, Value::text(&self.value));
                let not = if *not { "not " } else { "" };
                format!(
                    "{value} {not}in (select value from json_each({}.{column}))",
                    quote(table)
                )
            }
            Form::Date => format!(
                "date({column}) = {}",
                bind(params, Value::text(&self.value))
            ),
            Form::NoValue(condition) => condition.replace("{c}", &column),
        })
    }

    /// Whether the values that match are all those between two ends.
    pub fn is_bound(&self) -> bool {
        match self.operator.form {
            Form::Number(_) => true,
            Form::Text { operator, .. } => operator == "=" && !self.untyped,
            _ => false,
        }
    }

    /// The condition in words: `state = "CA"`.
    pub fn words(&self) -> String {
        let digits = !self.value.is_empty() && self.value.bytes().all(|b| b.is_ascii_digit());
        let quoted = if digits {
            self.value.clone()
        } else {
            format!("\"{}\"", self.value)
        };
        let mut out = String::new();
        let mut rest = self.operator.words;
        while let Some((before, more)) = rest.split_once('{') {
            out.push_str(before);
            let (name, after) = more.split_once('}').unwrap_or((more, ""));
            match name {
                "c" => out.push_str(&self.column),
                "v" => out.push_str(&self.value),
                "q" => out.push_str(&quoted),
                _ => out.push_str(&list_words(&self.value)),
            }
            rest = after;
        }
        out + rest
    }
}

fn bind(params: &mut Params, value: Value) -> String {
    let name = format!("p{}", params.len());
    let placeholder = format!(":{name}");
    params.push((name, value));
    placeholder
}

/// Whether `name` is a column of the table, or its rowid; and if so, whether it has no affinity.
fn untyped_column(table: &Table, name: &str) -> Option<bool> {
    if let Some(column) = table.find_column(name) {
        return Some(column.affinity == Affinity::Blob);
    }
    let is_rowid = ["rowid", "_rowid_", "oid"]
        .iter()
        .any(|alias| name.eq_ignore_ascii_case(alias));
    (is_rowid && table.kind != Kind::View && !table.without_rowid).then_some(false)
}

/// The 400 for a column that is not there.
pub fn unknown_column(name: &str, table: &Table) -> Error {
    Error::BadRequest(format!(
        "No column {name} in {} - _extra=columns lists those there are",
        table.name
    ))
}

/// The number that a text is the usual spelling of.
fn number_of(text: &str) -> Option<Value> {
    let number = lenient_number(text)?;
    (number.display() == text).then_some(number)
}

/// A text as an integer or a finite float, if Python's `int` or `float` took it.
fn lenient_number(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(integer) = text.parse() {
        return Some(Value::Integer(integer));
    }
    // Rust reads "inf" and "nan" too, which are words here.
    text.parse::<f64>()
        .ok()
        .filter(|f| f.is_finite())
        .map(Value::Real)
}

/// `a, b` or a JSON array.
fn split_list(text: &str) -> Result<Vec<Value>> {
    if !text.starts_with('[') {
        return Ok(text
            .split(',')
            .map(|item| Value::text(item.trim()))
            .collect());
    }
    let items: Vec<serde_json::Value> = serde_json::from_str(text)
        .map_err(|error| Error::BadRequest(format!("{text} is no JSON array: {error}")))?;
    items
        .into_iter()
        .map(|item| match item {
            serde_json::Value::Null => Ok(Value::Null),
            serde_json::Value::Bool(b) => Ok(Value::Integer(i64::from(b))),
            serde_json::Value::String(s) => Ok(Value::text(&s)),
            serde_json::Value::Number(n) => Ok(n
                .as_i64()
                .map_or_else(|| Value::Real(n.as_f64().unwrap_or(0.0)), Value::Integer)),
            nested => Err(Error::BadRequest(format!(
                "{nested} can't be compared: use text and numbers"
            ))),
        })
        .collect()
}

fn list_words(text: &str) -> String {
    let items: Vec<String> = split_list(text)
        .unwrap_or_default()
        .iter()
        .map(|item| match item {
            Value::Text(_) => {
                let mut out = Vec::new();
                crate::text::json::push_string(&mut out, &item.display());
                String::from_utf8(out).unwrap_or_default()
            }
            Value::Null => "null".into(),
            other => other.display().into_owned(),
        })
        .collect();
    format!("[{}]", items.join(", "))
}

/// `where a, b and c`, or nothing.
pub fn description(extra: &[String], filters: &[Filter]) -> String {
    let mut parts: Vec<String> = extra.to_vec();
    parts.extend(filters.iter().map(Filter::words));
    match parts.split_last() {
        None => String::new(),
        Some((last, [])) => format!("where {last}"),
        Some((last, before)) => format!("where {} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::db::schema::Schema;

    fn table(sql: &str) -> std::sync::Arc<Table> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        Schema::load(&connection)
            .unwrap()
            .table("t")
            .unwrap()
            .clone()
    }

    fn sql(key: &str, value: &str) -> (String, Vec<Value>) {
        let table = table("create table t (a text, n integer, x, \"a__b\" text, \"q\"\"q\" text)");
        let mut params = Params::new();
        let sql = Filter::resolve(key, value, &table)
            .unwrap()
            .sql("t", &mut params)
            .unwrap();
        (sql, params.into_iter().map(|(_, value)| value).collect())
    }

    #[test]
    fn values_are_parameters_and_names_are_quoted() {
        assert_eq!(
            sql("a", "x' or 1"),
            ("\"a\" = :p0".into(), vec![Value::text("x' or 1")])
        );
        assert_eq!(sql("q\"q__contains", "5%").0, "\"q\"\"q\" like :p0");
        assert_eq!(sql("a__contains", "o").1, [Value::text("%o%")]);
        assert_eq!(
            sql("a__isblank", "1"),
            ("(\"a\" is null or \"a\" = '')".into(), vec![])
        );
    }

    #[test]
    fn comparisons_take_numbers_whole() {
        assert_eq!(
            sql("n__gt", "9007199254740993").1,
            [Value::Integer(9_007_199_254_740_993)]
        );
        assert_eq!(sql("n__gt", "1.5").1, [Value::Real(1.5)]);
        assert_eq!(sql("n__gt", "inf").1, [Value::text("inf")]);
    }

    #[test]
    fn a_column_without_a_type_is_compared_with_text_and_number() {
        assert_eq!(
            sql("x", "1"),
            (
                "\"x\" in (:p0, :p1)".into(),
                vec![Value::text("1"), Value::Integer(1)]
            )
        );
        assert_eq!(sql("x", "01").0, "\"x\" = :p0", "no number is written so");
        assert_eq!(sql("x__not", "1").0, "\"x\" not in (:p0, :p1)");
        assert_eq!(sql("x__in", "1,a").0, "x in (:p0, :p1, :p2)");
        assert_eq!(
            sql("n", "1").0,
            "\"n\" = :p0",
            "SQLite converts for a typed column"
        );
    }

    #[test]
    fn two_underscores_in_a_name_are_no_operator() {
        assert_eq!(sql("a__b", "1").0, "\"a__b\" = :p0");
        assert_eq!(sql("a__b__contains", "1").0, "\"a__b\" like :p0");
    }

    #[test]
    fn unknown_columns_and_operators_are_refused_by_name() {
        let table = table("create table t (a text)");
        for (key, word) in [("b", "b"), ("a__near", "near"), ("b__gt", "b")] {
            let error = Filter::resolve(key, "1", &table).err().unwrap();
            assert_eq!(error.status(), 400);
            assert!(error.message().contains(word), "{}", error.message());
        }
        assert!(Filter::resolve("rowid", "1", &table).is_ok());
    }

    #[test]
    fn lists_come_with_commas_or_as_json() {
        assert_eq!(sql("a__in", "x, y").1, [Value::text("x"), Value::text("y")]);
        assert_eq!(
            sql("a__in", "[\"x,y\", 2]").1,
            [Value::text("x,y"), Value::Integer(2)]
        );
        let table = table("create table t (a text)");
        let filter = Filter::resolve("a__in", "[1", &table).unwrap();
        assert_eq!(
            filter.sql("t", &mut Params::new()).unwrap_err().status(),
            400
        );
    }

    #[test]
    fn filters_read_as_a_sentence() {
        let table = table("create table t (state text, n integer)");
        let filter = |key, value| Filter::resolve(key, value, &table).unwrap();
        let filters = [
            filter("n__gt", "3"),
            filter("state", "CA"),
            filter("state__in", "a,b"),
        ];
        assert_eq!(
            description(&["search matches \"x\"".into()], &filters),
            "where search matches \"x\", n > 3, state = \"CA\" and state in [\"a\", \"b\"]"
        );
        assert_eq!(description(&[], &[]), "");
    }
}
