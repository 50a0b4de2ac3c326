//! Facets: how often each value comes up, as SQLite counts it.

use proptest::prelude::*;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use crate::random::{self, Cell};
use crate::server::{Server, Site, column_of, query};

/// Six letters from places, with tags, days, a blank and a NULL.
const LETTERS: &str = r#"create table place(id integer primary key, name text); insert into place values (1, 'Rome'), (2, 'Oslo');
    create table letter(id integer primary key, place integer references place(id), state text, tags text, sent text, n integer, few text, objects text);
    insert into letter values
        (1, 1,    'open',   '["a", "b"]', '2019-01-14 08:00:00', 1,    '["x"]', '[{"k": 1}]'),
        (2, 1,    'open',   '["a", "a"]', '2019-01-14 09:30:00', 2,    '',      '[{"k": 2}]'),
        (3, 2,    'closed', '["c", "a"]', '2019-01-15',          2,    null,    '[{"k": 3}]'),
        (4, null, null,     null,         null,                  null, '[]',    null),
        (5, 9,    '',       '[]',         'later',               7,    '["x"]', '[]'),
        (6, 2,    'open',   '["b"]',      '2019-01-15T10:00',    2,    null,    null);
    create view opened as select id, state, n, n * 2 as twice from letter where state = 'open';"#;

/// Value and count of each line of a facet.
fn lines(page: &Value, name: &str) -> Vec<(Value, i64)> {
    let facet = &page["facet_results"]["results"][name];
    let results = facet["results"].as_array();
    let results = results.unwrap_or_else(|| panic!("no facet {name}: {page}"));
    results
        .iter()
        .map(|line| (line["value"].clone(), line["count"].as_i64().unwrap()))
        .collect()
}

/// A page without the suggestions.
fn page(server: &Server, arguments: &str) -> Value {
    server.json(&format!("/data/letter.json?_nosuggest=1&{arguments}"))
}

#[test]
fn values_are_counted_the_most_frequent_first_and_ties_by_value() {
    let server = Site::of(LETTERS).start();
    let page = page(&server, "_facet=state&_facet=n");
    assert_eq!(
        lines(&page, "state"),
        [(json!("open"), 3), (json!(""), 1), (json!("closed"), 1)],
        "NULL is no value"
    );
    assert_eq!(
        lines(&page, "n"),
        [(json!(2), 3), (json!(1), 1), (json!(7), 1)]
    );
    let facet = &page["facet_results"]["results"]["state"];
    assert_eq!(facet["type"], "column");
    assert_eq!(
        (&facet["hideable"], &facet["truncated"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(page["facet_results"]["timed_out"], json!([]));
}

#[test]
fn the_link_of_a_value_leads_to_the_rows_that_it_counted_and_back() {
    let server = Site::of(LETTERS).start();
    for (table, argument, column) in [
        ("letter", "_facet", "state"),
        ("letter", "_facet", "n"),
        ("letter", "_facet", "place"),
        ("letter", "_facet_array", "tags"),
        ("letter", "_facet_date", "sent"),
        ("opened", "_facet", "n"),
        ("opened", "_facet", "twice"),
    ] {
        let page = server.json(&format!(
            "/data/{table}.json?_nosuggest=1&{argument}={column}"
        ));
        let results = page["facet_results"]["results"][column]["results"].clone();
        assert!(!results.as_array().unwrap().is_empty(), "{column}");
        for line in results.as_array().unwrap() {
            assert_eq!(line["selected"], false);
            let url = line["toggle_url"].as_str().unwrap();
            let filtered = server.json(url);
            assert_eq!(
                json!(column_of(&filtered, "id").len()),
                line["count"],
                "{url}"
            );
            let again = filtered["facet_results"]["results"][column]["results"]
                .as_array()
                .unwrap()
                .clone();
            let same = again
                .iter()
                .find(|other| other["value"] == line["value"])
                .unwrap();
            assert_eq!(same["selected"], true, "{url}");
            let back = server.json(same["toggle_url"].as_str().unwrap());
            assert_eq!(back["rows"], page["rows"], "{url}");
        }
    }
}

#[test]
fn days_and_elements_of_arrays_are_counted_once_a_row() {
    let server = Site::of(LETTERS).start();
    let page = page(&server, "_facet_date=sent&_facet_array=tags");
    assert_eq!(
        lines(&page, "sent"),
        [(json!("2019-01-14"), 2), (json!("2019-01-15"), 2)]
    );
    assert_eq!(
        lines(&page, "tags"),
        [(json!("a"), 3), (json!("b"), 2), (json!("c"), 1)]
    );
    assert_eq!(page["facet_results"]["results"]["tags"]["type"], "array");
    assert_eq!(page["facet_results"]["results"]["sent"]["type"], "date");
}

#[test]
fn one_column_may_have_facets_of_two_kinds() {
    let server = Site::of(LETTERS).start();
    let page = page(&server, "_facet=tags&_facet_array=tags");
    let results = page["facet_results"]["results"].as_object().unwrap();
    let kinds: Vec<_> = results
        .values()
        .map(|facet| facet["type"].clone())
        .collect();
    assert_eq!(kinds, ["column", "array"]);
}

#[test]
fn facets_count_what_the_filters_leave() {
    let server = Site::of(LETTERS).start();
    let page = page(&server, "_facet=state&n=2");
    assert_eq!(
        lines(&page, "state"),
        [(json!("open"), 2), (json!("closed"), 1)]
    );
}

#[test]
fn facets_do_not_depend_on_the_page_that_is_shown() {
    let server = Site::of(LETTERS).start();
    let first = page(&server, "_facet=state&_size=1");
    let next = server.json(first["next_url"].as_str().unwrap());
    assert_eq!(lines(&first, "state"), lines(&next, "state"));
}

#[test]
fn a_facet_on_a_foreign_key_has_labels() {
    let server = Site::of(LETTERS).start();
    let page = page(&server, "_facet=place");
    assert_eq!(
        lines(&page, "place"),
        [(json!(1), 2), (json!(2), 2), (json!(9), 1)]
    );
    let labels = page["facet_results"]["results"]["place"]["results"]
        .as_array()
        .unwrap();
    let labels: Vec<_> = labels.iter().map(|line| line["label"].clone()).collect();
    assert_eq!(labels, [json!("Rome"), json!("Oslo"), json!(9)]);
}

#[test]
fn a_facet_shows_so_many_values_and_says_if_there_are_more() {
    let server = Site::of(
        "create table m(id integer primary key, v integer);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 400) insert into m select x, x % 150 from c;",
    )
    .start();
    let facet = |size: &str| {
        let page = server.json(&format!("/data/m.json?_size=1&_nosuggest=1&_facet=v{size}"));
        let truncated = page["facet_results"]["results"]["v"]["truncated"].clone();
        (lines(&page, "v"), truncated)
    };
    let connection = server.open("data.db");
    let mut statement = connection
        .prepare("select v, count(*) from m group by v order by 2 desc, 1")
        .unwrap();
    let all: Vec<(Value, i64)> = statement
        .query_map([], |row| Ok((json!(row.get::<_, i64>(0)?), row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (size, shown, truncated) in [
        ("", 30, true),
        ("&_facet_size=max", 150, false),
        ("&_facet_size=150", 150, false),
        ("&_facet_size=149", 149, true),
        ("&_facet_size=3", 3, true),
    ] {
        assert_eq!(
            facet(size),
            (all[..shown].to_vec(), json!(truncated)),
            "{size}"
        );
    }
}

#[test]
fn facets_that_there_can_t_be_are_refused() {
    let server = Site::of(LETTERS).start();
    for arguments in [
        "_facet=leaf",
        "_facet_array=leaf",
        "_facet_date=leaf",
        "_facet_size_of=n",
        "_facet=%7Bx",
    ] {
        server
            .get(&format!("/data/letter.json?{arguments}"))
            .error(400);
    }
    let off = Site::of(LETTERS).setting("allow_facet", "off").start();
    off.get("/data/letter.json?_facet=state").error(400);
    assert_eq!(off.ids("/data/letter.json").len(), 6);
}

#[test]
fn facets_can_be_left_out() {
    let server = Site::of(LETTERS).start();
    let page = page(&server, "_facet=state&_nofacet=1");
    assert_eq!(page["facet_results"]["results"], json!({}));
    assert_eq!(column_of(&page, "id").len(), 6);
}

#[test]
fn one_row_that_is_no_json_does_not_cost_the_array_facet() {
    let server = Site::of("create table letter(id integer primary key, tags text); insert into letter values (1, '[\"a\"]'), (2, 'oops'), (3, '[\"a\"'), (4, '[\"a\"]')").start();
    assert_eq!(
        lines(&page(&server, "_facet_array=tags"), "tags"),
        [(json!("a"), 2)]
    );
}

#[test]
fn suggestions_are_columns_that_a_facet_would_help_with() {
    let server = Site::of(LETTERS).start();
    let suggested = |arguments: &str| {
        let page = server.json(&format!(
            "/data/letter.json?_extra=suggested_facets{arguments}"
        ));
        page["suggested_facets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|facet| {
                (
                    facet["name"].as_str().unwrap().to_owned(),
                    facet["type"].as_str().unwrap_or("column").to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let has = |list: &[(String, String)], name: &str, kind: &str| {
        list.contains(&(name.to_owned(), kind.to_owned()))
    };
    let all = suggested("");
    assert!(
        has(&all, "state", "column") && has(&all, "n", "column"),
        "{all:?}"
    );
    assert!(has(&all, "sent", "date"), "{all:?}");
    assert!(
        has(&all, "tags", "array") && has(&all, "few", "array"),
        "blanks and NULLs do not matter: {all:?}"
    );
    assert!(!has(&all, "objects", "array"), "{all:?}");
    assert!(!has(&all, "id", "column"), "{all:?}");
    assert!(
        !has(&suggested("&_facet=state"), "state", "column"),
        "it is there already"
    );
    assert!(suggested("&_nosuggest=1").is_empty());
}

#[test]
fn suggestions_look_at_the_first_thousand_rows_alone() {
    let server = Site::of(
        "create table ramp(id integer primary key, first text, all_same text, arrays text);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000)
         insert into ramp select x, case when x <= 1000 then 'g' || (x % 3) else 'u' || x end, 'same', '[]' from c;",
    )
    .start();
    let page = server.json("/data/ramp.json?_size=1&_extra=suggested_facets");
    assert_eq!(column_of(&page["suggested_facets"], "name"), ["first"]);
}

#[test]
fn configured_facets_are_always_there_and_can_t_be_hidden() {
    let site = Site::of(LETTERS);
    let letter = json!({"facets": ["state", {"array": "tags"}, {"date": "sent"}], "facet_size": 1});
    let server = site
        .config(&json!({"databases": {"data": {"tables": {"letter": letter}}}}))
        .start();
    let page = page(&server, "_extra=facet_results");
    assert_eq!(
        page["facet_results"]["results"].as_object().unwrap().len(),
        3
    );
    assert_eq!(lines(&page, "state"), [(json!("open"), 3)]);
    assert_eq!(page["facet_results"]["results"]["state"]["hideable"], false);
}

#[test]
fn a_configured_facet_of_no_column_is_logged_and_the_page_comes_up() {
    let server = Site::of(LETTERS)
        .config(&json!({"databases": {"data": {"tables": {"letter": {"facets": ["leaf"]}}}}}))
        .start();
    server.expect_log("leaf");
    server.text("/data/letter");
}

/// A value of SQLite as the JSON of a facet shows it. Whole floats and integers are one group, so both are shown as floats here.
#[expect(clippy::cast_precision_loss, reason = "both sides are rounded alike")]
fn shown(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => json!(i as f64),
        ValueRef::Real(r) => json!(r),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(blob) => {
            use base64::Engine as _;
            let encoded = base64::engine::general_purpose::STANDARD.encode(blob);
            json!({"$base64": true, "encoded": encoded})
        }
    }
}

/// The same of a value that came as JSON.
fn rounded(value: &Value) -> Value {
    value.as_f64().map_or_else(|| value.clone(), |f| json!(f))
}

/// The facet of a column, counted by SQLite.
fn counted(server: &Server, table: &str, filter: &str, size: usize) -> Vec<(Value, i64)> {
    let sql = format!(
        "select v, count(*) from {table} where v is not null and {filter} group by v order by 2 desc, v limit {size}"
    );
    let connection = server.open("random.db");
    let mut statement = connection.prepare(&sql).unwrap();
    let rows = statement.query_map([], |row| Ok((shown(row.get_ref(0)?), row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// Types of the column that is counted.
const TYPES: [&str; 8] = [
    "",
    "text",
    "integer",
    "real",
    "numeric",
    "blob",
    "text collate nocase",
    "text collate rtrim",
];

#[test]
fn facets_of_random_columns_are_those_of_sqlite() {
    let server = random::server();
    proptest!(random::cases(40), |(
        kind in 0..TYPES.len(),
        values in prop::collection::vec((random::cell(), 0..3i64), 0..40),
        size in 1..12usize,
    )| {
        let declaration = format!("v {}, g integer", TYPES[kind]);
        let table = random::table(&server, &declaration, values.into_iter().map(|(v, g)| vec![v, Cell::Integer(g)]));
        let view = random::new_name();
        server
            .open("random.db")
            .execute_batch(&format!("create view {view} as select v, g from {table}"))
            .unwrap();
        for source in [&table, &view] {
            for (filter, condition) in [("", "1"), ("g__gt=0&", "g > 0")] {
                let size_text = size.to_string();
                let arguments = query(&[("_facet", "v"), ("_facet_size", &size_text), ("_nosuggest", "1"), ("_extra", "count")]);
                let page = server.json(&format!("/random/{source}.json?{filter}{arguments}"));
                let found: Vec<(Value, i64)> = lines(&page, "v").iter().map(|(value, n)| (rounded(value), *n)).collect();
                let mut expected = counted(&server, source, condition, size + 1);
                let truncated = expected.len() > size;
                expected.truncate(size);
                prop_assert_eq!(found, expected, "{} {}", declaration, source);
                prop_assert_eq!(&page["facet_results"]["results"]["v"]["truncated"], &json!(truncated));
            }
        }
    });
}
