//! Filters: which rows each operator leaves, and what can't be done with them.

use proptest::prelude::*;
use rusqlite::params_from_iter;
use serde_json::json;

use crate::random::{self, Cell};
use crate::server::{Server, Site, query};

/// Six people, with what filters stumble over: blanks, NULLs, quotes, wildcards, dates in two spellings, bad JSON.
const PEOPLE: &str = r#"create table person(id integer primary key, name text, age integer, score real, tags text, born text, any);
    insert into person values
        (1, 'Ann',          30,   1.5,  '["red", "blue"]', '2001-02-03 04:05:06', 1),
        (2, 'bob',          9,    10,   '["red"]',         '2001-02-03T23:59:59', '1'),
        (3, '',             10,   9,    '[]',              '2001-02-04',          1.5),
        (4, null,           null, null, null,              null,                  null),
        (5, 'O''Hara "X"',  -4,   2,    '["a, b", "re"]',  'some day',            'x'),
        (6, '100%_sure',    30,   -1.5, '["RED"]',         '2001-02-03',          x'31');
    create view grown as select id, name, age, age + 1 as older, score * 2 as twice, born as "born on" from person;"#;

/// Checks which rows a filter leaves.
fn leaves(server: &Server, table: &str, key: &str, value: &str, ids: &[i64]) {
    let path = format!("/data/{table}.json?{}", query(&[(key, value)]));
    assert_eq!(server.ids(&path), ids, "{table} where {key} = {value}");
}

#[test]
fn each_operator_leaves_the_rows_that_it_should() {
    let server = Site::of(PEOPLE).start();
    for (key, value, ids) in [
        ("name", "Ann", &[1][..]),
        ("name", "ann", &[]),
        ("name", "", &[3]),
        ("name__exact", "bob", &[2]),
        ("name__not", "bob", &[1, 3, 5, 6]),
        ("name__contains", "N", &[1]),
        ("name__contains", "%", &[1, 2, 3, 5, 6]),
        ("name__notcontains", "o", &[1, 3, 6]),
        ("name__startswith", "an", &[1]),
        ("name__endswith", "SURE", &[6]),
        ("name__like", "_o_", &[2]),
        ("name__notlike", "%o%", &[1, 3, 6]),
        ("name__glob", "[AO]*", &[1, 5]),
        ("name__in", "Ann, bob", &[1, 2]),
        ("name__in", r#"["Ann", ""]"#, &[1, 3]),
        ("name__notin", "Ann,bob", &[3, 5, 6]),
        ("name__isnull", "1", &[4]),
        ("name__notnull", "1", &[1, 2, 3, 5, 6]),
        ("name__isblank", "1", &[3, 4]),
        ("name__notblank", "1", &[1, 2, 5, 6]),
        ("age", "30", &[1, 6]),
        ("age__gt", "9", &[1, 3, 6]),
        ("age__gte", "10", &[1, 3, 6]),
        ("age__lt", "10", &[2, 5]),
        ("age__lte", "9.5", &[2, 5]),
        ("age__not", "30", &[2, 3, 5]),
        ("age__in", "30,-4", &[1, 5, 6]),
        ("age__in", "[10, 9]", &[2, 3]),
        ("score__gt", "9", &[2]),
        ("score", "9", &[3]),
        ("score", "9.0", &[3]),
        ("score__lt", "0", &[6]),
        ("tags__arraycontains", "red", &[1, 2]),
        ("tags__arraycontains", "a, b", &[5]),
        ("tags__arraynotcontains", "red", &[3, 4, 5, 6]),
        ("born__date", "2001-02-03", &[1, 2, 6]),
        ("born__date", "2001-02-04", &[3]),
        ("id__notin", "1,2,3", &[4, 5, 6]),
        ("rowid", "4", &[4]),
    ] {
        leaves(&server, "person", key, value, ids);
    }
}

#[test]
fn a_view_s_computed_numbers_are_found_by_the_text_of_a_url() {
    let server = Site::of(PEOPLE).start();
    for (key, value, ids) in [
        ("older", "31", &[1, 6][..]),
        ("older__exact", "10", &[2]),
        ("older__not", "31", &[2, 3, 5]),
        ("older__gt", "10", &[1, 3, 6]),
        ("older__in", "10,11", &[2, 3]),
        ("older__notin", "31", &[2, 3, 5]),
        ("twice", "3.0", &[1]),
        ("twice__lte", "4", &[1, 5, 6]),
        ("born on__date", "2001-02-03", &[1, 2, 6]),
        ("age", "9", &[2]),
    ] {
        leaves(&server, "grown", key, value, ids);
    }
}

#[test]
fn a_column_without_a_type_holds_numbers_and_texts_and_both_are_found() {
    let server = Site::of(PEOPLE).start();
    leaves(&server, "person", "any", "1", &[1, 2]);
    leaves(&server, "person", "any", "1.5", &[3]);
    leaves(&server, "person", "any", "x", &[5]);
    leaves(&server, "person", "any__in", "1,x", &[1, 2, 5]);
}

#[test]
fn filters_add_up() {
    let server = Site::of(PEOPLE).start();
    let ids = |arguments: &str| server.ids(&format!("/data/person.json?{arguments}"));
    assert_eq!(ids("age=30&score__gt=0"), [1]);
    assert_eq!(ids("score__gt=1&score__lt=9.5"), [1, 3, 5]);
    assert_eq!(ids("name__contains=o&name__contains=b"), [2]);
    assert_eq!(ids("age__gt=0&_where=score%3E5&_where=id%3C3"), [2]);
}

#[test]
fn what_is_sent_as_a_value_stays_a_value() {
    let server = Site::of(PEOPLE).start();
    leaves(&server, "person", "name", "' or 1=1 --", &[]);
    leaves(&server, "person", "name", "O'Hara \"X\"", &[5]);
    leaves(&server, "person", "age__gt", "9; drop table person", &[]);
    leaves(&server, "person", "name__in", "x') or (1=1", &[]);
    let name = "name\"] union select 1 --";
    for key in [
        name.to_owned(),
        format!("{name}__exact"),
        format!("{name}__isnull"),
    ] {
        server
            .get(&format!("/data/person.json?{}", query(&[(&key, "1")])))
            .error(400);
    }
    for key in [
        "_sort",
        "_sort_desc",
        "_facet",
        "_col",
        "_nocol",
        "_facet_array",
        "_facet_date",
    ] {
        server
            .get(&format!("/data/person.json?{}", query(&[(key, name)])))
            .error(400);
    }
}

#[test]
fn a_filter_that_fits_no_column_is_refused_and_never_ignored() {
    let server = Site::of(PEOPLE).start();
    for (arguments, part) in [
        ("leaf=1", "leaf"),
        ("leaf__gt=1", "leaf"),
        ("leaf__isnull=1", "leaf"),
        ("name__resembles=Ann", "resembles"),
        ("name__in=%5B1", "[1"),
        ("_where=leaf%3D1", "leaf"),
    ] {
        let error = server
            .get(&format!("/data/person.json?{arguments}"))
            .error(400);
        assert!(error.contains(part), "{arguments}: {error}");
    }
    server.get("/data/grown.json?rowid=1").error(400);
}

#[test]
fn a_condition_can_t_leave_its_place() {
    let server = Site::of(PEOPLE).start();
    for clause in [
        "1=1) union select 1,2,3,4,5,6,7 --",
        "1=1) or (1=1",
        "1=1; drop table person",
        "1=1 /*",
        "id = 1 order by",
        "(",
        "'",
        "",
    ] {
        let path = format!("/data/person.json?{}", query(&[("_where", clause)]));
        server.get(&path).error(400);
    }
    let commented = query(&[
        ("_where", "id > 1 -- the first is left out"),
        ("id__lt", "4"),
    ]);
    assert_eq!(
        server.ids(&format!("/data/person.json?{commented}")),
        [2, 3]
    );
    let either = query(&[("_where", "id = 1 or id = 2"), ("age", "9")]);
    assert_eq!(
        server.ids(&format!("/data/person.json?{either}")),
        [2],
        "and binds tighter than or"
    );
}

#[test]
fn conditions_may_be_forbidden() {
    let server = Site::of(PEOPLE).setting("default_allow_sql", "off").start();
    server.get("/data/person.json?_where=id%3D1").error(403);
    assert_eq!(server.ids("/data/person.json?id=1"), [1]);
}

#[test]
fn one_row_that_is_no_json_does_not_bring_the_page_down() {
    let server = Site::of("create table t(id integer primary key, tags text); insert into t values (1, '[\"x\"]'), (2, 'oops')").start();
    let answer = server.get("/data/t.json?tags__arraycontains=x");
    assert!(matches!(answer.status, 200 | 400), "{}", answer.text());
}

/// Books, with who lent them and to whom.
const BOOKS: &str = "create table book(id integer primary key, title text); insert into book values (1, 'one'), (2, 'two'), (3, 'three');
    create table reader(id integer primary key, name text); insert into reader values (1, 'ann'), (2, 'bob');
    create table loan(book_id integer references book(id), reader_id integer references reader(id));
    insert into loan values (1, 1), (2, 1), (2, 2), (3, 2);";

#[test]
fn rows_can_be_found_through_another_table() {
    let server = Site::of(BOOKS).start();
    let ids = |through: &serde_json::Value| {
        let arguments = query(&[("_through", &through.to_string())]);
        server.ids(&format!("/data/book.json?{arguments}"))
    };
    assert_eq!(
        ids(&json!({"table": "loan", "column": "reader_id", "value": "1"})),
        [1, 2]
    );
    assert_eq!(
        ids(&json!({"table": "loan", "column": "reader_id", "value": 2})),
        [2, 3]
    );
    for bad in [
        "{",
        "[]",
        r#"{"table": "loan"}"#,
        r#"{"table": "nowhere", "column": "x", "value": "1"}"#,
        r#"{"table": "reader", "column": "id", "value": "1"}"#,
        r#"{"table": "loan", "column": "leaf", "value": "1"}"#,
    ] {
        let arguments = query(&[("_through", bad)]);
        server
            .get(&format!("/data/book.json?{arguments}"))
            .error(400);
    }
}

#[test]
fn the_page_says_in_words_what_is_filtered() {
    let server = Site::of(PEOPLE).start();
    let words = |arguments: &str| {
        let page = server.json(&format!(
            "/data/person.json?_extra=human_description_en&{arguments}"
        ));
        page["human_description_en"].as_str().unwrap().to_owned()
    };
    assert_eq!(words(""), "");
    assert_eq!(
        words("age__gt=5&name=Ann"),
        "where age > 5 and name = \"Ann\""
    );
    assert_eq!(
        words("name__isnull=1&_sort_desc=age"),
        "where name is null sorted by age descending"
    );
}

#[test]
fn the_fields_of_the_form_become_the_arguments_of_the_page() {
    let server = Site::of(PEOPLE).start();
    for (form, location) in [
        (
            "_filter_column=name&_filter_op=exact&_filter_value=Ann",
            "/data/person?name__exact=Ann",
        ),
        (
            "_filter_column=name&_filter_op=isnull__1&_filter_value=",
            "/data/person?name__isnull=1",
        ),
        (
            "_filter_column_1=age&_filter_op_1=gt&_filter_value_1=5&_size=2",
            "/data/person?_size=2&age__gt=5",
        ),
        (
            "_filter_column=&_filter_op=exact&_filter_value=",
            "/data/person",
        ),
        ("_sort=age&_sort_by_desc=on", "/data/person?_sort_desc=age"),
    ] {
        let answer = server.get(&format!("/data/person?{form}")).with_status(302);
        assert_eq!(answer.header("location"), Some(location), "{form}");
    }
}

#[test]
fn comparisons_with_random_values_are_those_of_sqlite() {
    let server = random::server();
    proptest!(random::cases(24), |(
        rows in prop::collection::vec((random::cell(), random::cell(), random::cell()), 1..12),
        value in prop_oneof![random::text(), (-3..4i64).prop_map(|n| n.to_string())],
    )| {
        let table = random::table(
            &server,
            "n integer primary key, i integer, t text, r real",
            rows.iter().enumerate().map(|(n, (i, t, r))| {
                vec![Cell::Integer(i64::try_from(n).unwrap()), i.clone(), t.clone(), r.clone()]
            }),
        );
        let connection = server.open("random.db");
        for column in ["i", "t", "r"] {
            for (operator, condition, pattern) in [
                ("exact", "= ?", value.clone()),
                ("not", "!= ?", value.clone()),
                ("contains", "like ?", format!("%{value}%")),
                ("startswith", "like ?", format!("{value}%")),
                ("endswith", "like ?", format!("%{value}")),
                ("glob", "glob ?", value.clone()),
            ] {
                let sql = format!("select n from {table} where {column} {condition} order by n");
                let mut statement = connection.prepare(&sql).unwrap();
                let expected: Vec<i64> = statement
                    .query_map(params_from_iter([pattern]), |row| row.get(0))
                    .unwrap()
                    .map(Result::unwrap)
                    .collect();
                let arguments = query(&[(&format!("{column}__{operator}"), &value), ("_size", "max")]);
                let found = server.column(&format!("/random/{table}.json?{arguments}"), "n");
                prop_assert_eq!(found, expected, "{}__{}={:?}", column, operator, value);
            }
        }
    });
}
