//! The SQL page: what may be sent, its parameters, its limits and its facets.

use serde_json::{Value, json};
use turntable::auth::{Actor, Signer, signed_cookie};

use crate::server::{Server, Site};

const S: &str = "create table s(id integer primary key, name text, tags text, day text, n);
    insert into s values (1, 'ann', '[\"a\",\"b\"]', '2024-01-01 12:30:00', 1),
        (2, 'bob', '[\"a\"]', '2024-01-01 03:31:00', 1.5), (3, 'ann', 'no list', null, 'it''s'),
        (4, null, '[\"b\",\"b\"]', '2024-01-02', x'00ff');";

/// The address of the SQL page for some SQL and further arguments.
fn page(extension: &str, sql: &str, more: &str) -> String {
    page_of("data", extension, sql, more)
}

fn page_of(database: &str, extension: &str, sql: &str, more: &str) -> String {
    let sql = turntable::text::query::encode(std::iter::once(("sql", sql)));
    format!("/{database}/-/query{extension}?{sql}{more}")
}

fn rows(server: &Server, sql: &str, more: &str) -> Value {
    server.json(&page(".json", sql, &format!("&_shape=arrays{more}")))["rows"].take()
}

/// The error of a page that is refused.
fn refusal(server: &Server, sql: &str, status: u16) -> String {
    let answer = server.get(&page(".json", sql, ""));
    assert_eq!(answer.status, status, "{sql}");
    let json = answer.json();
    assert_eq!(json["ok"], false, "{sql}");
    json["error"].as_str().unwrap().to_owned()
}

#[test]
fn the_form_asks_for_each_parameter_and_keeps_its_value() {
    let server = Site::of(S).start();
    let sql = "select :who, $n, @x, ':no', \"a:b\" -- :not\n, '1' as c from s";
    let html = server.text(&page("", sql, "&who=%22b%22&n=5"));
    for field in [
        "name=\"who\" value=\"&quot;b&quot;\"",
        "name=\"n\" value=\"5\"",
        "name=\"x\" value=\"\"",
    ] {
        assert!(html.contains(field), "{field}: {html}");
    }
    for none in ["name=\"no\"", "name=\"b\"", "name=\"not\""] {
        assert!(!html.contains(none), "{none}");
    }
    let parameters = server.json("/data/-/query/parameters?sql=select+:a,+$b,+':c'+from");
    assert_eq!(parameters["parameters"], json!(["a", "b"]));
    assert_eq!(
        rows(&server, "select :a, $b, typeof(@c)", "&a=1&b=2"),
        json!([["1", "2", "text"]])
    );
}

#[test]
fn wrong_sql_is_shown_again_with_its_parameters() {
    let server = Site::of(S).start();
    let answer = server.get(&page("", "select nope from s where id = :id", "&id=7"));
    assert_eq!(answer.status, 200, "the form works; its JSON is a 400");
    assert_eq!(
        server
            .get(&page(".json", "select nope from s where id = :id", "&id=7"))
            .status,
        400
    );
    assert_eq!(server.get(&page("", "delete from s", "")).status, 400);
    let html = answer.text();
    for part in [
        "no such column: nope",
        "select nope from s where id = :id</textarea>",
        "name=\"id\" value=\"7\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn the_word_pragma_is_no_pragma() {
    let server = Site::of(S).start();
    assert_eq!(
        rows(&server, "select 'pragma' as pragma /* pragma */", ""),
        json!([["pragma"]])
    );
    let sql = "select name from pragma_table_info('s') where pk";
    assert_eq!(rows(&server, sql, ""), json!([["id"]]));
    for sql in [
        "select * from pragma_journal_mode",
        "select * from pragma_journal_mode('delete')",
        "select * from PRAGMA_user_version",
    ] {
        let message = refusal(&server, sql, 400);
        assert!(message.contains("pragma_table_info()"), "{sql}: {message}");
    }
}

#[test]
fn a_value_that_would_take_all_memory_is_refused() {
    let server = Site::of(S).start();
    let message = refusal(&server, "select zeroblob(1e9)", 400);
    assert!(message.contains("67108864 bytes"), "{message}");
    let many = format!("select {}", ["zeroblob(60000000)"; 6].join(", "));
    let message = refusal(&server, &many, 400);
    assert!(message.contains("row is too long"), "{message}");
    // The connection is as it was.
    assert_eq!(rows(&server, "select count(*) from s", ""), json!([[4]]));
    assert_eq!(server.ids("/data/s.json"), [1, 2, 3, 4]);
}

#[test]
fn a_result_that_is_cut_says_so_in_every_form() {
    let server = Site::of(S).setting("max_returned_rows", "3").start();
    let (cut, whole) = ("select id from s", "select id from s limit 3");
    assert_eq!(server.json(&page(".json", cut, ""))["truncated"], true);
    assert_eq!(server.json(&page(".json", whole, ""))["truncated"], false);
    assert!(server.text(&page("", cut, "")).contains("first 3 rows"));
    assert!(!server.text(&page("", whole, "")).contains("first 3 rows"));
    let csv = server.get(&page(".csv", cut, "")).ok();
    assert_eq!(csv.header("turntable-truncated"), Some("true"));
    assert_eq!(csv.text(), "id\r\n1\r\n2\r\n3\r\n");
    let csv = server.get(&page(".csv", whole, "")).ok();
    assert_eq!(csv.header("turntable-truncated"), None);
    let csv = server.get(&page(".csv", cut, "&_stream=on")).ok();
    assert_eq!(csv.header("turntable-truncated"), None);
    assert_eq!(csv.text().lines().count(), 5);
}

#[test]
fn a_query_has_facets_like_a_table() {
    let server = Site::of(S).setting("max_returned_rows", "1").start();
    let arguments = "&_facet=name&_facet_array=tags&_facet_date=day&_facet_size=max";
    let json = server.json(&page(".json", "select * from s; -- all", arguments));
    let counts = |column: &str| {
        let values = json["facet_results"]["results"][column]["results"].clone();
        let values = values.as_array().unwrap().clone();
        let pairs = values
            .iter()
            .map(|value| json!([value["value"], value["count"]]));
        Value::from(pairs.collect::<Vec<_>>())
    };
    // Not the page's one row is counted, but all; `_facet_size` has the same bound as rows.
    assert_eq!(counts("name"), json!([["ann", 2]]));
    assert_eq!(counts("day"), json!([["2024-01-01", 2]]));
    assert_eq!(json["facet_results"]["results"]["name"]["truncated"], true);
    assert_eq!(json["facet_results"]["timed_out"], json!([]));
    let server = Site::of(S).start();
    let json = server.json(&page(".json", "select * from s", "&_facet_array=tags"));
    let tags = &json["facet_results"]["results"]["tags"];
    assert_eq!(tags["type"], "array");
    let first = [&tags["results"][0]["count"], &tags["results"][1]["count"]];
    assert_eq!(first, [&json!(2), &json!(2)], "twice in a row counts once");
    let array = server.json(&page(".json", "select 1", "&_facet=nope&_shape=array"));
    assert_eq!(array, json!([{"1": 1}]), "there is no place for facets");
}

#[test]
fn the_link_of_a_facet_value_finds_the_rows_that_were_counted() {
    let server = Site::of(S).start();
    let sql = "select *, n + 0 as m from s where id <> :without";
    let arguments = "&without=9&_facet=n&_facet=m&_facet=name&_facet_array=tags&_facet_date=day";
    let json = server.json(&page(".json", sql, arguments));
    let results = json["facet_results"]["results"].as_object().unwrap();
    let mut followed = 0;
    for facet in results.values() {
        for value in facet["results"].as_array().unwrap() {
            let Some(url) = value["toggle_url"].as_str() else {
                assert!(value["value"].is_object(), "only a blob has no link");
                continue;
            };
            let found = server.json(&url.replace("/-/query?", "/-/query.json?"));
            let count = found["rows"].as_array().unwrap().len();
            assert_eq!(json!(count), value["count"], "{url}");
            followed += 1;
        }
    }
    assert!(followed >= 10, "{followed}");
}

#[test]
fn a_facet_that_cannot_be_is_told() {
    let server = Site::of(S).start();
    for (sql, arguments, word) in [
        ("select id from s", "&_facet=nope", "nope"),
        ("explain select 1", "&_facet=addr", "EXPLAIN"),
        ("select id from s", "&_facet_foo=id", "_facet_foo"),
    ] {
        let answer = server.get(&page(".json", sql, arguments));
        assert_eq!(answer.status, 400, "{sql}");
        assert!(answer.text().contains(word), "{sql}");
    }
    let closed = Site::of(S).setting("allow_facet", "off").start();
    assert_eq!(
        closed.get(&page(".json", "select 1", "&_facet=1")).status,
        400
    );
}

#[test]
fn facets_stand_on_the_page_and_columns_offer_them() {
    let server = Site::of(S).start();
    let html = server.text(&page("", "select name, id from s", "&_facet=name"));
    assert!(html.contains("data-facet-value=\"ann\""), "{html}");
    assert!(html.contains("_facet=id"), "{html}");
}

#[test]
fn a_page_links_to_its_plan_which_is_a_tree() {
    let server = Site::of(S).start();
    let html = server.text(&page("", "select * from s where name = :name", "&name=x"));
    assert!(
        html.contains(
            "sql=explain+query+plan%0Aselect+%2A+from+s+where+name+%3D+%3Aname&amp;name=x"
        ),
        "{html}"
    );
    let sql = "explain query plan select id from s union select 1";
    let html = server.text(&page("", sql, ""));
    assert!(html.contains("\n   LEFT\n      SCAN s\n"), "{html}");
    assert!(!html.contains("explain+query+plan%0A"), "{html}");
}

#[test]
fn columns_of_one_name_are_both_there_where_there_is_a_place() {
    let server = Site::of(S).start();
    assert_eq!(rows(&server, "select 1 as a, 2 as a", ""), json!([[1, 2]]));
    let csv = server.text(&page(".csv", "select 1 as a, 2 as a", ""));
    assert_eq!(csv, "a,a\r\n1,2\r\n");
    let json = server.json(&page(".json", "select 1 as a, 2 as a", "&_facet=a"));
    assert_eq!(
        json["facet_results"]["results"]["a"]["results"][0]["value"],
        1
    );
}

#[test]
fn sql_across_databases_reads_only_those_that_one_may_run_sql_on() {
    let config = json!({"databases": {"secret": {"allow_sql": {"id": "ann"}}}});
    let server = Site::of(S)
        .database(
            "secret",
            "create table hidden(x); insert into hidden values (1)",
        )
        .args(&["--crossdb"])
        .config(&config)
        .start();
    let ask = |sql: &str, headers: &[(&str, &str)]| {
        server.get_with(&page_of("_memory", ".json", sql, ""), headers)
    };
    assert_eq!(ask("select count(id) from data.s", &[]).status, 200);
    for sql in [
        "select * from secret.hidden",
        "select x from hidden",
        "select count(*) from hidden",
        "select sql from secret.sqlite_master",
        "select * from pragma_table_list",
        "select * from pragma_database_list",
        "select * from pragma_table_info('hidden', 'secret')",
    ] {
        assert_eq!(ask(sql, &[]).status, 403, "{sql}");
    }
    let stream = page_of(
        "_memory",
        ".csv",
        "select * from secret.hidden",
        "&_stream=on",
    );
    assert_eq!(server.get(&stream).status, 403);
    let facet = page_of("_memory", ".json", "select x from hidden", "&_facet=x");
    assert_eq!(server.get(&facet).status, 403);
    let set = signed_cookie(
        &Signer::new("case-secret".to_owned()),
        &Actor::with_id("ann"),
        false,
        "/",
    );
    let cookie = set.split(';').next().unwrap();
    let headers = [("cookie", cookie)];
    assert_eq!(ask("select count(*) from hidden", &headers).status, 200);
}
