//! A table as JSON: its shapes, its values, its extras.

use serde_json::{Value, json};

use crate::server::{Server, Site, column_of, query, tilde};

fn server(sql: &str) -> Server {
    Site::of(sql).start()
}

/// Three trees, one of them without a height.
const TREES: &str = "create table tree(id integer primary key, name text, height real, doc text);
    insert into tree values (1, 'oak', 20.5, '{\"a\": [1, 2]}'), (2, 'elm', 30, 'no json'), (3, 'fir', null, null);";

#[test]
fn the_usual_shape_is_an_object_with_rows() {
    let page = server(TREES).json("/data/tree.json");
    assert_eq!(
        page,
        json!({
            "ok": true,
            "next": null,
            "next_url": null,
            "rows": [
                {"id": 1, "name": "oak", "height": 20.5, "doc": "{\"a\": [1, 2]}"},
                {"id": 2, "name": "elm", "height": 30.0, "doc": "no json"},
                {"id": 3, "name": "fir", "height": null, "doc": null},
            ],
            "truncated": false,
        })
    );
}

#[test]
fn every_shape_holds_the_same_rows() {
    let server = server(TREES);
    let page = |shape: &str| server.json(&format!("/data/tree.json?_col=name&_shape={shape}"));
    let objects =
        json!([{"id": 1, "name": "oak"}, {"id": 2, "name": "elm"}, {"id": 3, "name": "fir"}]);
    assert_eq!(page("objects")["rows"], objects);
    assert_eq!(page("array"), objects);
    assert_eq!(
        page("arrays")["rows"],
        json!([[1, "oak"], [2, "elm"], [3, "fir"]])
    );
    assert_eq!(page("arrayfirst"), json!([1, 2, 3]));
    let by_key = page("object");
    assert_eq!(by_key.as_object().unwrap().len(), 3);
    assert_eq!(by_key["2"], objects[1]);
    server.get("/data/tree.json?_shape=circle").error(400);
}

#[test]
fn a_table_without_a_key_has_no_shape_by_key() {
    let server = server("create table bare(v); insert into bare values ('x')");
    server.get("/data/bare.json?_shape=object").error(400);
    assert_eq!(
        server.json("/data/bare.json?_shape=array"),
        json!([{"rowid": 1, "v": "x"}])
    );
}

#[test]
fn newline_delimited_rows_are_one_json_each() {
    let answer = server(TREES)
        .get("/data/tree.json?_shape=array&_nl=on")
        .ok();
    let text = answer.text();
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2]["name"], "fir");
}

#[test]
fn every_storage_class_comes_out_as_itself() {
    let server = server(
        "create table v(id integer primary key, v);
         insert into v values (1, null), (2, 7), (3, 1.5), (4, '7'), (5, x'00ff'), (6, ''), (7, x'');",
    );
    assert_eq!(
        server.column("/data/v.json", "v"),
        [
            json!(null),
            json!(7),
            json!(1.5),
            json!("7"),
            json!({"$base64": true, "encoded": "AP8="}),
            json!(""),
            json!({"$base64": true, "encoded": ""}),
        ]
    );
}

#[test]
fn declared_types_change_nothing_that_sqlite_does_not_change() {
    let server = server(
        "create table d(id integer primary key, b boolean, m decimal(9, 2), t timestamp, j json);
         insert into d values (1, 1, 12.50, '2024-01-02', '[]'), (2, 'yes', 3, 0, 5);
         create table s(id integer primary key, a any, t text not null) strict;
         insert into s values (1, '5', 'x'), (2, 5, 'y');
         create table g(n integer, twice integer as (n * 2) virtual, thrice integer as (n * 3) stored);
         insert into g(n) values (7);",
    );
    assert_eq!(
        server.json("/data/d.json?_shape=arrays")["rows"],
        json!([[1, 1, 12.5, "2024-01-02", "[]"], [2, "yes", 3, 0, 5]])
    );
    assert_eq!(server.column("/data/s.json", "a"), [json!("5"), json!(5)]);
    assert_eq!(
        server.json("/data/g.json?_shape=array"),
        json!([{"rowid": 1, "n": 7, "twice": 14, "thrice": 21}])
    );
}

#[test]
fn large_integers_are_not_rounded() {
    let server = server(
        "create table big(id integer primary key, n integer);
         insert into big values (9007199254740993, 9223372036854775807), (2, -9223372036854775808);",
    );
    let text = server.text("/data/big.json?_shape=arrays");
    assert!(text.contains("[2, -9223372036854775808]"), "{text}");
    assert!(
        text.contains("[9007199254740993, 9223372036854775807]"),
        "{text}"
    );
    assert_eq!(
        server.ids("/data/big.json?n=9223372036854775807"),
        [9_007_199_254_740_993]
    );
    assert_eq!(
        server.ids("/data/big.json?n__gt=9223372036854775806"),
        [9_007_199_254_740_993]
    );
    assert!(server.ids("/data/big.json?id=9007199254740992").is_empty());
}

#[test]
fn infinities_are_null_unless_asked_for_in_every_shape() {
    let server = server(
        "create table inf(r real, id integer primary key);
         insert into inf values (9e999, 1), (-9e999, 2), (0.5, 3);",
    );
    assert_eq!(
        server.column("/data/inf.json", "r"),
        [json!(null), json!(null), json!(0.5)]
    );
    assert_eq!(
        server.json("/data/inf.json?_shape=arrayfirst"),
        json!([null, null, 0.5])
    );
    for shape in ["objects", "arrays", "array", "arrayfirst", "object"] {
        let text = server.text(&format!("/data/inf.json?_shape={shape}&_json_infinity=on"));
        assert!(text.contains("-Infinity"), "{shape}: {text}");
    }
}

#[test]
fn text_that_json_must_escape_comes_back() {
    let text = "quote \" backslash \\ tab \t line \n bell \u{7} nul \u{0} é 🎉 \u{2028}";
    let site = Site::of("create table t(id integer primary key, t text)");
    let server = site.start();
    server
        .open("data.db")
        .execute("insert into t values (1, ?)", [text])
        .unwrap();
    assert_eq!(server.column("/data/t.json", "t"), [text]);
}

#[test]
fn text_that_is_no_utf_8_does_not_cost_the_page() {
    let server = server(
        "create table t(id integer primary key, t text);
         insert into t values (1, cast(x'61ff62' as text)), (2, 'fine')",
    );
    assert_eq!(server.column("/data/t.json", "t"), ["a\u{fffd}b", "fine"]);
    server.text("/data/t");
    server.text("/data/t.csv");
}

#[test]
fn columns_can_be_chosen_and_left_out_but_not_the_key() {
    let server = server(TREES);
    let columns = |arguments: &str| {
        let page = server.json(&format!("/data/tree.json?_extra=columns&{arguments}"));
        page["columns"].clone()
    };
    assert_eq!(columns("_col=name"), json!(["id", "name"]));
    assert_eq!(columns("_col=id&_col=name"), json!(["id", "name"]));
    assert_eq!(columns("_nocol=name&_nocol=doc"), json!(["id", "height"]));
    assert_eq!(columns(""), json!(["id", "name", "height", "doc"]));
    server.get("/data/tree.json?_col=leaf").error(400);
    server.get("/data/tree.json?_nocol=leaf").error(400);
    server.get("/data/tree.json?_nocol=id").error(400);
}

#[test]
fn sizes_are_bounded() {
    let server = server(
        "create table n(id integer primary key);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 1500) insert into n select x from c",
    );
    let rows = |size: &str| server.ids(&format!("/data/n.json?_size={size}")).len();
    assert_eq!(server.ids("/data/n.json").len(), 100);
    assert_eq!(
        (rows("7"), rows("0"), rows("max"), rows("1000")),
        (7, 0, 1000, 1000)
    );
    for size in ["1001", "-1", "ten", "1.5"] {
        server.get(&format!("/data/n.json?_size={size}")).error(400);
    }
}

#[test]
fn no_rows_but_their_count_can_be_asked_for() {
    let server = server(TREES);
    let page = server.json("/data/tree.json?_size=0&_extra=count&height__gt=25");
    assert_eq!((&page["count"], &page["rows"]), (&json!(1), &json!([])));
    assert_eq!(page["next"], Value::Null);
}

#[test]
fn counts_stop_at_ten_thousand_and_say_so() {
    let server = server(
        "create table n(id integer primary key);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 10002) insert into n select x from c",
    );
    let count = |filter: &str| {
        let page = server.json(&format!("/data/n.json?_size=1&_extra=count{filter}"));
        (
            page["count"].as_i64().unwrap(),
            page["count_truncated"].as_bool().unwrap(),
        )
    };
    assert_eq!(count("&id__gt=1"), (10_001, true));
    assert_eq!(count("&id__gt=2"), (10_000, false));
    assert!(server.text("/data/n").contains("10,000+ rows"));
}

#[test]
fn extras_come_when_asked_for_and_unknown_ones_are_refused() {
    let server = server(TREES);
    let page =
        server.json("/data/tree.json?_extra=count,primary_keys&_extra=database,table,is_view");
    assert_eq!(page["count"], 3);
    assert_eq!(page["primary_keys"], json!(["id"]));
    assert_eq!(
        (&page["database"], &page["table"]),
        (&json!("data"), &json!("tree"))
    );
    assert_eq!(page["is_view"], false);
    assert!(page.get("columns").is_none());
    let error = server.get("/data/tree.json?_extra=nonsense").error(400);
    assert!(error.contains("nonsense"), "{error}");
}

#[test]
fn the_query_of_a_page_is_sql_that_gives_its_rows() {
    let server = server(TREES);
    let page = server.json("/data/tree.json?_extra=query&height__gt=1&_sort_desc=height&_size=1");
    let sql = page["query"]["sql"].as_str().unwrap();
    let connection = server.open("data.db");
    let mut statement = connection.prepare(sql).unwrap();
    let params = page["query"]["params"].as_object().unwrap();
    for (name, value) in params {
        let index = statement
            .parameter_index(&format!(":{name}"))
            .unwrap()
            .unwrap();
        statement.raw_bind_parameter(index, value.as_i64()).unwrap();
    }
    let first: i64 = statement
        .raw_query()
        .next()
        .unwrap()
        .unwrap()
        .get(0)
        .unwrap();
    assert_eq!(json!(first), page["rows"][0]["id"]);
}

#[test]
fn every_extra_that_the_list_names_can_be_asked_for() {
    let server = server(TREES);
    let list = server.json("/data/tree.json?_extra=extras");
    let names = column_of(&list["extras"], "name");
    assert!(names.len() > 20);
    for name in names {
        let name = name.as_str().unwrap();
        let page = server.json(&format!("/data/tree.json?_extra={name}"));
        assert!(page.get(name).is_some(), "{name}");
    }
}

#[test]
fn text_can_be_shown_as_the_json_that_it_holds() {
    let rows = server(TREES).column("/data/tree.json?_json=doc", "doc");
    assert_eq!(rows, [json!({"a": [1, 2]}), json!("no json"), json!(null)]);
}

/// Beans with foreign keys of all kinds: whole, dangling, to nowhere, implied and in another case.
const BEANS: &str = "create table kind(id integer primary key, name text);
    insert into kind values (1, 'red'), (2, 'blue');
    create table bean(id integer primary key, kind integer references kind(id), gone integer references nowhere(id),
        implied integer references kind, shout integer references KIND(ID), parent integer references bean(id));
    insert into bean values (1, 1, 5, 2, 1, null), (2, 99, null, null, 2, 1);";

#[test]
fn labels_name_the_rows_that_foreign_keys_point_at() {
    let server = server(BEANS);
    let rows = server.json("/data/bean.json?_labels=on&_shape=array");
    let red = json!({"value": 1, "label": "red"});
    let blue = json!({"value": 2, "label": "blue"});
    assert_eq!(
        rows[0],
        json!({"id": 1, "kind": red, "gone": 5, "implied": blue, "shout": red, "parent": null})
    );
    assert_eq!(rows[1]["kind"], 99, "it points at no row");
    assert_eq!(rows[1]["gone"], Value::Null);
    let one = server.json("/data/bean.json?_label=implied&_shape=array");
    assert_eq!((&one[0]["kind"], &one[0]["implied"]), (&json!(1), &blue));
    let none = server.json("/data/bean.json?_shape=array");
    assert_eq!(none[0]["kind"], 1);
}

#[test]
fn a_view_has_rows_without_a_key() {
    let server = server(&format!(
        "{TREES} create view tall as select name, height from tree where height > 25;"
    ));
    let page = server.json("/data/tall.json?_extra=is_view,primary_keys,count");
    assert_eq!(page["rows"], json!([{"name": "elm", "height": 30.0}]));
    assert_eq!(
        (&page["is_view"], &page["count"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(page["primary_keys"], json!([]));
}

#[test]
fn a_column_called_rowid_is_a_column() {
    let server = server(
        "create table r(rowid text, v text); insert into r values ('r1', 'one'), ('r2', 'two')",
    );
    assert_eq!(
        server.json("/data/r.json?_shape=array"),
        json!([{"rowid": "r1", "v": "one"}, {"rowid": "r2", "v": "two"}])
    );
    assert_eq!(server.column("/data/r.json?rowid=r2", "v"), ["two"]);
    let next = server.json("/data/r.json?_size=1")["next_url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(server.column(&next, "v"), ["two"]);
}

#[test]
fn names_may_hold_anything() {
    for name in [
        "a table",
        "it's",
        "quo\"te",
        "100% +plus~tilde",
        "a/b.csv",
        "q?uery#hash&amp",
        "dot.json",
        "back\\slash",
        "テーブル é",
        "-",
        "[brackets]",
        "select",
        "semi;colon",
        "x:y,z",
        "<b>bold</b>",
        "new\nline",
    ] {
        let quoted = name.replace('"', "\"\"");
        let server = server(&format!(
            "create table \"{quoted}\"(id integer primary key, \"{quoted}\" text, tags text);
             insert into \"{quoted}\" values (1, 'x', '[\"p\"]'), (2, 'y', '[\"p\"]'), (3, 'x', null);"
        ));
        let path = format!("/data/{}.json", tilde(name));
        let arguments = query(&[
            (name, "x"),
            ("_sort_desc", name),
            ("_facet", name),
            ("_facet_array", "tags"),
            ("_extra", "count"),
        ]);
        let page = server.json(&format!("{path}?{arguments}"));
        assert_eq!(column_of(&page, "id"), [1, 3], "{name}");
        assert_eq!(column_of(&page, name), ["x", "x"], "{name}");
        assert_eq!(page["count"], 2, "{name}");
        assert_eq!(
            page["facet_results"]["results"][name]["results"][0]["count"], 2,
            "{name}"
        );
        assert_eq!(
            page["facet_results"]["results"]["tags"]["results"][0]["count"], 1,
            "{name}"
        );
        server.text(&format!("/data/{}?{arguments}", tilde(name)));
        server.text(&format!(
            "/data/{}.csv?{}",
            tilde(name),
            query(&[(name, "x")])
        ));
    }
}

#[test]
fn columns_may_be_called_like_our_own_arguments() {
    let server = server(
        "create table odd(id integer primary key, _item text, _search text, _facet text, _size integer, a__gt integer, _next text);
         insert into odd values (1, 'i1', 's1', 'f1', 10, 5, 'n1'), (2, 'i2', 's2', 'f2', 20, 6, 'n2');",
    );
    let ids = |arguments: &str| server.ids(&format!("/data/odd.json?{arguments}"));
    assert_eq!(ids("_item__exact=i2"), [2]);
    assert_eq!(ids("_search__exact=s1"), [1]);
    assert_eq!(ids("_facet__exact=f2"), [2]);
    assert_eq!(ids("_size__gt=15"), [2]);
    assert_eq!(ids("_next__exact=n1"), [1]);
    assert_eq!(ids("a__gt=6"), [2], "there is a column of that very name");
    assert_eq!(ids("a__gt__gt=5"), [2]);
}

#[test]
fn caches_may_keep_a_page_as_long_as_it_says() {
    let server = server(TREES);
    let kept = |arguments: &str| {
        let answer = server.get(&format!("/data/tree.json{arguments}")).ok();
        answer.header("cache-control").map(str::to_owned)
    };
    assert_eq!(kept("").as_deref(), Some("max-age=5"));
    assert_eq!(kept("?_ttl=60").as_deref(), Some("max-age=60"));
    assert_eq!(kept("?_ttl=0").as_deref(), Some("no-cache"));
    let personal = server
        .get_with("/data/tree.json", &[("cookie", "a=b")])
        .ok();
    assert_eq!(personal.header("cache-control"), Some("private, no-store"));
}

#[test]
fn a_page_leads_to_the_next_in_its_headers_too() {
    let server = server(TREES);
    let answer = server.get("/data/tree.json?_size=2").ok();
    let url = answer.json()["next_url"].as_str().unwrap().to_owned();
    assert_eq!(
        answer.header("link"),
        Some(format!("<{url}>; rel=\"next\"").as_str())
    );
    assert_eq!(
        answer.header("content-type"),
        Some("application/json; charset=utf-8")
    );
}

#[test]
fn full_text_search_takes_what_people_type() {
    let server = server(
        "create table park(id integer primary key, name text, about text);
         insert into park values (1, 'Hill Park', 'north-side AND steep'), (2, 'O''Hara \"field\"', 'flat'), (3, 'café', 'none');
         create virtual table park_fts using fts5(name, about, content=\"park\", content_rowid=\"id\");
         insert into park_fts(rowid, name, about) select id, name, about from park;",
    );
    let ids =
        |key: &str, text: &str| server.ids(&format!("/data/park.json?{}", query(&[(key, text)])));
    assert_eq!(ids("_search", "O'Hara"), [2]);
    assert_eq!(ids("_search", "\"field\""), [2]);
    assert_eq!(ids("_search", "unclosed \"field"), [] as [i64; 0]);
    assert_eq!(ids("_search", "north-side"), [1]);
    assert_eq!(ids("_search", "AND"), [1]);
    assert_eq!(ids("_search", "hill steep"), [1]);
    assert_eq!(ids("_search_name", "steep"), [] as [i64; 0]);
    assert_eq!(ids("_search_about", "steep"), [1]);
    assert_eq!(
        server.ids("/data/park.json?_searchmode=raw&_search=hil*"),
        [1]
    );
    server
        .get("/data/park.json?_searchmode=raw&_search=%22")
        .error(400);
    server.get("/data/park.json?_search_leaf=x").error(400);
    server
        .get("/data/park.json?_search=x&_fts_table=other")
        .error(400);
}

#[test]
fn a_view_can_be_searched_where_the_configuration_says_how() {
    let site = Site::of(
        "create table park(id integer primary key, name text); insert into park values (1, 'Hill'), (2, 'Dale');
         create view parks as select id, name from park;
         create virtual table park_fts using fts5(name); insert into park_fts(rowid, name) select id, name from park;",
    );
    let parks = json!({"fts_table": "park_fts", "fts_pk": "id"});
    let server = site
        .config(&json!({"databases": {"data": {"tables": {"parks": parks}}}}))
        .start();
    assert_eq!(server.ids("/data/parks.json?_search=dale"), [2]);
}
