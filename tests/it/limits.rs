//! Limits: of time, of places in the engine, and of the patience of clients.

use std::thread;

use serde_json::{Value, json};

use crate::server::{Raw, Server, Site, column_of, query};

/// A view that never ends, and a condition that never ends on a table of one row.
const ENDLESS: &str = "create table t(id integer primary key); insert into t values (1);
    create view endless as with recursive c(x) as (select 1 union all select x + 1 from c) select x, x % 3 as rest from c;";

/// A page whose only row takes for ever to find.
fn endless() -> String {
    let clause = "(with recursive c(x) as (select 1 union all select x + 1 from c) select max(x) from c) > 0";
    format!("/data/t.json?{}", query(&[("_where", clause)]))
}

/// One place in the engine, and nothing ends by itself.
fn narrow() -> Site {
    Site::of(ENDLESS)
        .args(&["--sql-threads", "1"])
        .setting("max_pages", "1")
        .setting("sql_time_limit_ms", "0")
        .setting("page_wait_ms", "20")
}

/// Waits until a page runs.
fn wait_for_a_page(server: &Server) {
    server.wait_for_engine("running", |engine| engine["running"] == 1);
}

/// Waits until no page is inside.
fn wait_for_an_empty_engine(server: &Server) {
    server.wait_for_engine("empty", |engine| {
        engine["running"] == 0 && engine["queued"] == 0
    });
}

#[test]
fn a_query_that_takes_too_long_is_told_to_the_client() {
    let server = Site::of(ENDLESS).setting("sql_time_limit_ms", "50").start();
    let error = server.get(&endless()).error(400);
    assert!(error.contains("too long"), "{error}");
    assert!(!error.contains('<'), "plain text in JSON");
    let page = server
        .get(&endless().replace(".json", ""))
        .with_status(400)
        .text();
    assert!(
        page.contains("too long") && page.contains("<html"),
        "{page}"
    );
    assert_eq!(server.ids("/data/t.json"), [1], "the server lives on");
}

#[test]
fn a_client_may_ask_for_a_shorter_limit_but_for_no_longer_one() {
    let server = Site::of(ENDLESS)
        .setting("sql_time_limit_ms", "60000")
        .start();
    server
        .get(&format!("{}&_timelimit=20", endless()))
        .error(400);
    let strict = Site::of(ENDLESS).setting("sql_time_limit_ms", "20").start();
    strict
        .get(&format!("{}&_timelimit=600000", endless()))
        .error(400);
    server.get("/data/t.json?_timelimit=soon").error(400);
}

#[test]
fn a_facet_that_takes_too_long_is_named_and_the_page_is_there() {
    let server = Site::of(ENDLESS)
        .setting("facet_time_limit_ms", "30")
        .start();
    let page = server.json(
        "/data/endless.json?_facet=rest&_facet=x&_size=3&_nosuggest=1&_extra=facets_timed_out",
    );
    assert_eq!(column_of(&page, "x"), [1, 2, 3]);
    assert_eq!(page["facet_results"]["timed_out"], json!(["rest", "x"]));
    assert_eq!(page["facet_results"]["results"], json!({}));
    assert_eq!(page["facets_timed_out"], json!(["rest", "x"]));
    let html = server.text("/data/endless?_facet=rest");
    assert!(html.contains("Took too long to count: rest"));
}

#[test]
fn a_count_stops_at_its_cap_even_where_rows_never_end() {
    let server = Site::of(ENDLESS).start();
    let page = server.json("/data/endless.json?_extra=count,suggested_facets&_size=1");
    assert_eq!(
        (&page["count"], &page["count_truncated"]),
        (&json!(10_001), &json!(true))
    );
    assert_eq!(column_of(&page["suggested_facets"], "name"), ["rest"]);
}

#[test]
fn a_count_that_takes_too_long_is_left_out() {
    let server = Site::of(
        "create view sparse as with recursive c(x) as (select 1 union all select x + 1 from c)
         select x from c where x % 1000000000 = 1;",
    )
    .setting("sql_time_limit_ms", "40")
    .start();
    let page = server.json("/data/sparse.json?_size=0&_extra=count&_nosuggest=1");
    assert_eq!((&page["ok"], &page["count"]), (&json!(true), &Value::Null));
    server.get("/data/sparse.json?_size=1").error(400);
}

#[test]
fn a_full_engine_turns_the_next_page_away_and_says_when_to_come_back() {
    let server = narrow().start();
    let mut first = Raw::connect(&server);
    first.ask(&endless());
    wait_for_a_page(&server);
    for path in ["/data/t.json", "/data/t", "/data/t.csv"] {
        let busy = server.get(path).with_status(503);
        let seconds: u32 = busy.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{path}");
    }
    server.get("/data/t.json").error(503);
    assert_eq!(
        server.json("/-/versions.json")["ok"],
        true,
        "what needs no SQL is served"
    );
    assert_eq!(server.get("/-/static/app.css").status, 200);
    drop(first);
    wait_for_an_empty_engine(&server);
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn a_page_that_waits_gets_in_when_a_place_comes_free() {
    let server = narrow().setting("page_wait_ms", "60000").start();
    let mut first = Raw::connect(&server);
    first.ask(&endless());
    wait_for_a_page(&server);
    thread::scope(|scope| {
        let second = scope.spawn(|| server.ids("/data/t.json"));
        thread::sleep(std::time::Duration::from_millis(50));
        assert!(!second.is_finished());
        drop(first);
        assert_eq!(second.join().unwrap(), [1]);
    });
}

#[test]
fn a_client_that_leaves_stops_its_sql() {
    let server = narrow()
        .setting("max_pages", "4")
        .setting("page_wait_ms", "60000")
        .start();
    for _ in 0..8 {
        // One runs, others wait for the only thread; all leave.
        let mut clients: Vec<Raw> = (0..4).map(|_| Raw::connect(&server)).collect();
        for client in &mut clients {
            client.ask(&endless());
        }
        wait_for_a_page(&server);
        drop(clients);
        wait_for_an_empty_engine(&server);
    }
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn more_clients_than_places_are_all_served_in_the_end() {
    let server = Site::of(ENDLESS)
        .args(&["--sql-threads", "2", "--extras", "parallel"])
        .setting("max_pages", "2")
        .setting("page_wait_ms", "60000")
        .setting("result_cache_mb", "0")
        .start();
    thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(server.ids("/data/t.json?_facet=id&_extra=count"), [1]);
                }
            });
        }
    });
    let engine = server.engine();
    assert_eq!(
        (&engine["running"], &engine["panicked"]),
        (&json!(0), &json!(0))
    );
    assert!(engine["pages"].as_u64().unwrap() >= 240, "{engine}");
}

#[test]
fn a_database_that_another_program_keeps_locked_is_a_503_and_not_for_ever() {
    let server = Site::of(ENDLESS).database("other", ENDLESS).start();
    server.expect_log("locked");
    let writer = server.open("data.db");
    writer.execute_batch("begin exclusive").unwrap();
    let answer = server.get("/data/t.json");
    answer.error(503);
    assert!(answer.header("retry-after").is_some());
    assert_eq!(server.ids("/other/t.json"), [1]);
    writer.execute_batch("commit").unwrap();
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn a_writer_that_holds_the_lock_for_a_moment_is_waited_for() {
    let server = Site::of(ENDLESS).start();
    let writer = server.open("data.db");
    writer
        .execute_batch("begin exclusive; insert into t values (2)")
        .unwrap();
    thread::scope(|scope| {
        let page = scope.spawn(|| server.ids("/data/t.json"));
        thread::sleep(std::time::Duration::from_millis(100));
        writer.execute_batch("commit").unwrap();
        assert_eq!(page.join().unwrap(), [1, 2]);
    });
}
