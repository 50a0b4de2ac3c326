//! Exports: what `docs/exports.md` promises of CSV and of lines of JSON.

use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use crate::server::{Raw, Server, Site, percent};

const PAGE: &str = include_str!("../../docs/exports.md");

/// Rows that fail on the way: what is no JSON comes after some thousand that are.
const FAILING: &str = "create table doc(id integer primary key, body text);
    with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
        insert into doc select x, iif(x = 19000, '{', '{\"a\": 1}') from c;
    create view read as select id, json_extract(body, '$.a') as a from doc;";

/// The blocks of code on the page of the docs, in their order.
fn blocks() -> Vec<&'static str> {
    let mut parts = PAGE.split("```");
    let mut blocks = Vec::new();
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        blocks.push(block);
    }
    blocks
}

/// The objects of lines of JSON.
fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

/// What is sent of an answer, and whether it ended as it should.
fn sent(server: &Server, path: &str) -> (String, bool) {
    let mut raw = Raw::connect(server);
    raw.send(&format!(
        "GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    ));
    let head = raw.read_head();
    assert_eq!(head.status, 200, "{path}");
    assert_eq!(head.header("transfer-encoding"), Some("chunked"));
    let bytes = raw.read_to_end();
    let is_whole = bytes.ends_with(b"\r\n0\r\n\r\n");
    (String::from_utf8_lossy(&bytes).into_owned(), is_whole)
}

#[test]
fn every_example_of_the_docs_gives_what_they_say() {
    let blocks = blocks();
    let sql = blocks.iter().find_map(|block| block.strip_prefix("sql\n"));
    let server = Site::new().database("shop", sql.unwrap()).start();
    let mut examples = 0;
    for pair in blocks.windows(2) {
        let Some(path) = pair[0].trim().strip_prefix("GET ") else {
            continue;
        };
        let host = server.address().to_string();
        let expected = pair[1].strip_prefix("text\n").unwrap();
        let expected = expected.replace("localhost:8001", &host);
        let path = path.replace('<', "%3C");
        let text = server.text(&path).replace("\r\n", "\n");
        assert_eq!(text.trim_end(), expected.trim_end(), "{path}");
        examples += 1;
    }
    assert!(examples >= 7, "{examples}");
}

#[test]
fn lines_of_a_page_are_those_of_datasette_and_a_file_of_them_ends_with_a_newline() {
    let server = Site::of(
        "create table t(id integer primary key, v); insert into t values (1, 'é'), (2, null)",
    )
    .start();
    let lines = "{\"id\": 1, \"v\": \"\\u00e9\"}\n{\"id\": 2, \"v\": null}";
    for path in [
        "/data/t.json?_shape=array&_nl=on",
        "/data/t.json?_shape=array&_nl=on&_stream=1",
        "/data/-/query.json?sql=select+*+from+t&_shape=array&_nl=on",
        "/data/-/query.json?sql=select+*+from+t&_shape=array&_nl=on&_stream=1",
    ] {
        assert_eq!(server.text(path), lines, "{path}");
    }
    for path in [
        "/data/t.ndjson",
        "/data/t.ndjson?_stream=1",
        "/data/-/query.ndjson?sql=select+*+from+t",
        "/data/-/query.ndjson?sql=select+*+from+t&_stream=1",
    ] {
        let answer = server.get(path).ok();
        assert_eq!(answer.text(), format!("{lines}\n"), "{path}");
        let media_type = answer.header("content-type");
        assert_eq!(media_type, Some("text/plain; charset=utf-8"));
    }
    for path in ["/data/t.ndjson?id=9", "/data/t.ndjson?id=9&_stream=1"] {
        assert_eq!(server.text(path), "", "{path}");
    }
    let file = server.get("/data/t.ndjson?_stream=1&_dl=1").ok();
    assert_eq!(file.header("content-type"), Some("application/x-ndjson"));
    let name = file.header("content-disposition");
    assert_eq!(name, Some("attachment; filename=\"t.ndjson\""));
    // In other shapes there are no lines, and so nothing to stream.
    assert_eq!(
        server.json("/data/t.json?_shape=array&_stream=1"),
        server.json("/data/t.json?_shape=array")
    );
}

#[test]
fn wrong_requests_for_lines_are_errors_in_json() {
    let server = Site::of("create table t(id integer primary key)").start();
    server.get("/data/nope.ndjson?_stream=1").error(404);
    server.get("/data/t.ndjson?_stream=1&_sort=nope").error(400);
    server.get("/data/t.ndjson?_stream=1&_next=1").error(400);
    server
        .get("/data/-/query.ndjson?sql=select+nope&_stream=1")
        .error(400);
    server.get("/data/t/1.ndjson").error(404);
}

#[test]
fn streaming_can_be_turned_off_for_both_formats() {
    let off = Site::of("create table t(id integer primary key); insert into t values (1)")
        .setting("allow_csv_stream", "off")
        .start();
    for path in [
        "/data/t.csv?_stream=1",
        "/data/t.ndjson?_stream=1",
        "/data/t.json?_shape=array&_nl=on&_stream=1",
        "/data/-/query.csv?sql=select+1&_stream=1",
        "/data/-/query.ndjson?sql=select+1&_stream=1",
    ] {
        off.get(path).with_status(400);
    }
    assert_eq!(off.text("/data/t.ndjson"), "{\"id\": 1}\n");
    assert!(!off.text("/data/t").contains("_stream"));
}

#[test]
fn what_fails_on_the_way_is_no_whole_answer() {
    let server = Site::of(FAILING).start();
    server.expect_log("an export ended early");
    let sql = percent("select id, json_extract(body, '$.a') as a from doc");
    for path in [
        "/data/read.csv?_stream=1".to_owned(),
        format!("/data/-/query.csv?sql={sql}&_stream=1"),
        "/data/read.ndjson?_stream=1".to_owned(),
        format!("/data/-/query.ndjson?sql={sql}&_stream=1"),
    ] {
        let (text, is_whole) = sent(&server, &path);
        assert!(!is_whole, "{path} should break off");
        let last = text.trim_end().lines().last().unwrap_or_default();
        assert!(last.contains("malformed JSON"), "{path}: {last}");
        assert!(text.contains("100"), "{path} has rows before");
        if path.contains("ndjson") {
            let error: Value = serde_json::from_str(last).unwrap();
            assert_eq!(error["ok"], json!(false));
        }
    }
    let (_, is_whole) = sent(&server, "/data/read.csv?_stream=1&id__lt=19000");
    assert!(is_whole);
    // Before the first row the status can say so.
    server
        .get("/data/read.ndjson?_stream=1&id__gte=19000")
        .error(400);
}

#[test]
fn lines_beyond_the_limit_are_no_whole_answer_and_csv_says_so_in_its_last_line() {
    let server = Site::of(
        "create table big(id integer primary key, v text);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000)
             insert into big select x, hex(zeroblob(250)) from c;",
    )
    .setting("max_csv_mb", "1")
    .start();
    let query = format!(
        "/-/query.EXT?sql={}&_stream=1",
        percent("select * from big")
    );
    for path in ["/big.EXT?_stream=1", &query] {
        let path = format!("/data{path}");
        let (text, is_whole) = sent(&server, &path.replace("EXT", "ndjson"));
        assert!(!is_whole && text.contains("The rows have more than 1048576 bytes"));
        assert!(text.len() < (1 << 20) + 10_000, "{}", text.len());
        let (text, is_whole) = sent(&server, &path.replace("EXT", "csv"));
        assert!(is_whole && text.contains("CSV contains more than 1048576 bytes"));
    }
    // One page is not bounded in JSON, whose pages are not.
    assert_eq!(
        objects(&server.text("/data/big.ndjson?_size=1000")).len(),
        1000
    );
}

#[test]
fn a_page_that_is_not_streamed_has_all_its_rows_or_is_refused() {
    let server = Site::of(
        "create table doc(id integer primary key, t text, b blob);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 5)
             insert into doc select x, null, zeroblob(12000000) from c;
         insert into doc select id + 10, hex(b), null from doc;",
    )
    .setting("max_csv_mb", "0")
    .start();
    // The blobs are 60 MB, more than a page reads at once; their addresses are short.
    let csv = server.text("/data/doc.csv?_size=5&_col=b");
    let ids: Vec<_> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').next())
        .collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5"].map(Some));
    for path in [
        "/data/doc.csv?_size=4&id__gt=10",
        "/data/doc.ndjson?_size=4",
    ] {
        let refused = server.get(path).with_status(400).text();
        assert!(refused.contains("_stream=1"), "{refused}");
    }
    let all = server.text("/data/doc.csv?_stream=1&_size=4");
    assert_eq!(all.lines().count(), 11);
}

#[test]
fn the_headers_of_lines_cost_no_rows() {
    let server = Site::of(FAILING).start();
    for path in [
        "/data/read.ndjson?_stream=1",
        "/data/doc.ndjson",
        "/data/-/query.ndjson?sql=select+1",
    ] {
        let head = server.head(path).ok();
        assert!(head.body.is_empty());
        assert_eq!(head.header("content-length"), None, "{path}");
        assert_eq!(
            head.header("content-type"),
            Some("text/plain; charset=utf-8")
        );
    }
}

#[test]
fn the_pages_link_to_all_rows_as_lines_unless_they_may_not_be_streamed() {
    let sql = "create table t(id integer primary key, v integer);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 300) insert into t select x, x % 2 from c;";
    let server = Site::of(sql).start();
    let link = |page: &str| {
        let mut links = page
            .split("href=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap());
        links
            .find(|link| link.contains(".ndjson"))
            .map(|link| link.replace("&amp;", "&"))
    };
    for (page, rows) in [
        ("/data/t?v=1&_size=5&_next=20", 150),
        ("/data/-/query?sql=select+*+from+t+where+v=:v&v=0", 150),
        ("/data/t", 300),
    ] {
        let link = link(&server.text(page)).unwrap();
        assert_eq!(objects(&server.text(&link)).len(), rows, "{link}");
    }
    let off = Site::of(sql).setting("allow_csv_stream", "off").start();
    assert_eq!(link(&off.text("/data/t")), None);
    assert_eq!(link(&off.text("/data/-/query?sql=select+1")), None);
}

/// Some ten megabytes in rows of every kind of order.
fn large() -> Site {
    Site::of(
        "create table kind(id integer primary key, name text); insert into kind values (1, 'one'), (2, 'two');
         create table big(id integer primary key, n, kind integer references kind(id), v text);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 1500)
             insert into big select x, nullif(x * 7919 % 10, 3), 1 + x % 3, hex(zeroblob(4000)) from c;
         create view seen as select id, v from big order by n, id desc;
         create table named(k text primary key, id integer, v text);
         insert into named select iif(id % 400 = 7, null, 'k' || (id % 400) || '-' || id), id, v from big;
         create table pair(a integer, b integer, id integer, v text, primary key (a, b)) without rowid;
         insert into pair select id % 7, id, id, v from big;",
    )
    .setting("max_csv_mb", "0")
}

/// The numbers that SQLite gives.
fn numbers(server: &Server, sql: &str) -> Vec<i64> {
    let connection = server.open("data.db");
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| match row.get_ref(0)? {
        ValueRef::Integer(i) => Ok(i),
        other => panic!("{other:?}"),
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn slow_clients_of_tables_hold_no_place_and_get_every_row_in_its_order() {
    let server = large().start();
    let exports = [
        ("big.ndjson?", "select id from big order by id"),
        ("big.ndjson?_labels=on&", "select id from big order by id"),
        (
            "big.ndjson?_sort_desc=n&",
            "select id from big order by n desc, id",
        ),
        (
            "big.ndjson?_sort=n&_nocol=n&",
            "select id from big order by n, id",
        ),
        (
            "big.ndjson?n__gt=2&",
            "select id from big where n > 2 order by id",
        ),
        ("seen.ndjson?", "select id from seen"),
        ("named.ndjson?", "select id from named order by k, rowid"),
        ("pair.ndjson?", "select id from pair order by a, b"),
        (
            "pair.json?_shape=array&_nl=on&_sort=b&",
            "select id from pair order by b",
        ),
        (
            "named.ndjson?_sort=v&",
            "select id from named order by v, k, rowid",
        ),
    ];
    let mut clients = Vec::new();
    for (path, _) in exports {
        let mut raw = Raw::connect(&server);
        raw.ask(&format!("/data/{path}_stream=1"));
        assert_eq!(raw.read_head().status, 200);
        clients.push(raw);
    }
    // None reads any further, and there are more of them than places.
    server.wait_for_engine("without exports", |engine| engine["exports"] == 0);
    assert_eq!(
        server.text("/data/kind.ndjson?_stream=1").lines().count(),
        2
    );
    for (mut raw, (path, sql)) in clients.into_iter().zip(exports) {
        let mut text = Vec::new();
        while let Some(chunk) = raw.read_chunk() {
            text.extend(chunk);
        }
        let rows = objects(&String::from_utf8(text).unwrap());
        let ids: Vec<_> = rows.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, numbers(&server, sql), "{path}");
        if path.contains("_labels") {
            let label = |n: i64| match n % 3 {
                0 => json!({"value": 1, "label": "one"}),
                1 => json!({"value": 2, "label": "two"}),
                _ => json!(3),
            };
            for row in rows {
                assert_eq!(row["kind"], label(row["id"].as_i64().unwrap()));
            }
        }
    }
}

#[test]
fn slow_clients_of_queries_hold_eight_places_and_none_of_the_pages() {
    let server = large()
        .args(&["--sql-threads", "1"])
        .setting("max_pages", "1")
        .setting("page_wait_ms", "20")
        .start();
    let query = "/data/-/query.csv?sql=select+*+from+big&_stream=1";
    let mut clients = Vec::new();
    for _ in 0..8 {
        let mut raw = Raw::connect(&server);
        raw.ask(query);
        assert_eq!(raw.read_head().status, 200);
        clients.push(raw);
    }
    server.get(query).with_status(503);
    server.get("/data/big.csv?_stream=1").with_status(503);
    assert_eq!(server.ids("/data/big.json?id=7"), [7]);
    assert_eq!(server.engine()["exports"], 8);
    clients.pop();
    server.wait_for_engine("with a place", |engine| engine["exports"] == 7);
    let csv = server.text("/data/-/query.csv?sql=select+id+from+big&_stream=1");
    assert_eq!(csv.lines().count(), 1501);
}

#[test]
fn a_writer_gets_in_while_a_slow_client_exports_a_table() {
    let server = large().start();
    let mut slow = Raw::connect(&server);
    slow.ask("/data/big.csv?_stream=1");
    slow.read_head();
    // With a rollback journal a commit waits for all readers.
    let writer = server.open("data.db");
    let changed = writer.execute("update big set n = 'new' where id = 1500", []);
    assert_eq!(changed.unwrap(), 1);
    // The client has not been given up for it, and reads what is there when it comes to it.
    let mut text = Vec::new();
    while let Some(chunk) = slow.read_chunk() {
        text.extend(chunk);
    }
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.lines().count(), 1501);
    assert!(text.lines().last().unwrap().starts_with("1500,new,"));
}
