//! CSV: the same rows for spreadsheets, one page or all of them.

use rusqlite::Connection;

use crate::server::{Raw, Server, Site};

/// Notes with all that CSV must quote, and two and a half thousand lines to stream.
const NOTES: &str = "create table kind(id integer primary key, name text); insert into kind values (1, 'Ünï'), (2, 'two, too');
    create table note(id integer primary key, t text, kind integer references kind(id));
    insert into note values (1, 'comma, \"quote\"', 1), (2, 'line' || char(10) || 'break', 2), (3, '日本語', null), (4, '# hash', 9), (5, '=cmd()', 2);
    create table long(id integer primary key, v text);
    with recursive c(x) as (select 1 union all select x + 1 from c where x < 2500) insert into long select x, 'v' || (x % 7) from c;
    create view longer as select id, v from long order by id;";

/// The records of a CSV, header and all, as another reader sees them.
fn records(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes);
    reader
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

/// The rows of a query as CSV should show them: NULL as nothing.
fn expected(connection: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let names = statement
        .column_names()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let rows = statement.query_map([], |row| {
        (0..columns)
            .map(|n| {
                Ok(match row.get_ref(n)? {
                    rusqlite::types::ValueRef::Null => String::new(),
                    rusqlite::types::ValueRef::Integer(i) => i.to_string(),
                    other => other.as_str()?.to_owned(),
                })
            })
            .collect()
    });
    std::iter::once(names)
        .chain(rows.unwrap().map(Result::unwrap))
        .collect()
}

fn server() -> Server {
    Site::of(NOTES).start()
}

#[test]
fn every_value_comes_back_from_its_quotes() {
    let server = server();
    let answer = server.get("/data/note.csv").ok();
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .ends_with("charset=utf-8")
    );
    let rows = expected(&server.open("data.db"), "select * from note");
    assert_eq!(records(&answer.body), rows);
}

#[test]
fn the_bytes_are_those_of_rfc_4180() {
    let server = server();
    let text = |path: &str| server.text(path);
    assert_eq!(text("/data/note.csv?id=4&_col=t"), "id,t\r\n4,# hash\r\n");
    assert_eq!(text("/data/note.csv?id=5&_col=t"), "id,t\r\n5,=cmd()\r\n");
    assert_eq!(
        text("/data/note.csv?id=1&_col=t"),
        "id,t\r\n1,\"comma, \"\"quote\"\"\"\r\n"
    );
    assert_eq!(text("/data/note.csv?id=0"), "id,t,kind\r\n");
    assert_eq!(
        text("/data/kind.csv?_header=off"),
        "1,Ünï\r\n2,\"two, too\"\r\n"
    );
}

#[test]
fn labels_stand_in_a_column_of_their_own() {
    assert_eq!(
        server().text("/data/note.csv?_labels=on&_col=kind"),
        "id,kind,kind_label\r\n1,1,Ünï\r\n2,2,\"two, too\"\r\n3,,\r\n4,9,\r\n5,2,\"two, too\"\r\n"
    );
}

#[test]
fn a_blob_is_the_address_of_its_bytes() {
    let server = Site::of(
        "create table b(id text primary key, data blob); insert into b values ('x/y', x'0001')",
    )
    .start();
    let host = server.address();
    assert_eq!(
        server.text("/data/b.csv"),
        format!("id,data\r\nx/y,http://{host}/data/b/x~2Fy.blob?_blob_column=data\r\n")
    );
}

#[test]
fn a_csv_holds_one_page_unless_it_streams() {
    let server = server();
    assert_eq!(records(&server.get("/data/long.csv").ok().body).len(), 101);
    assert_eq!(
        records(&server.get("/data/long.csv?_size=max").ok().body).len(),
        1001
    );
    let whole = server.get("/data/long.csv?_stream=on").ok();
    let rows = expected(&server.open("data.db"), "select * from long order by id");
    assert_eq!(records(&whole.body), rows);
}

#[test]
fn a_stream_has_the_order_and_the_filters_of_the_page() {
    let server = server();
    let whole = server
        .get("/data/long.csv?_stream=on&_sort_desc=v&id__gt=1200")
        .ok();
    let sql = "select * from long where id > 1200 order by v desc, id";
    assert_eq!(records(&whole.body), expected(&server.open("data.db"), sql));
}

#[test]
fn a_view_streams_too() {
    let server = server();
    let whole = server.get("/data/longer.csv?_stream=on&v=v3").ok();
    let sql = "select * from longer where v = 'v3'";
    assert_eq!(records(&whole.body), expected(&server.open("data.db"), sql));
    let whole = server.get("/data/longer.csv?_stream=on").ok();
    assert_eq!(
        records(&whole.body),
        expected(&server.open("data.db"), "select * from longer")
    );
}

#[test]
fn what_is_made_while_it_is_sent_is_chunked_and_what_is_whole_tells_its_length() {
    let server = server();
    let mut raw = Raw::connect(&server);
    raw.ask("/data/long.csv?_stream=on");
    let streamed = raw.read();
    assert_eq!(streamed.header("transfer-encoding"), Some("chunked"));
    assert_eq!(streamed.header("content-length"), None);
    assert_eq!(records(&streamed.body).len(), 2501);
    raw.ask("/data/note.csv");
    let whole = raw.read();
    assert_eq!(whole.header("transfer-encoding"), None);
    assert_eq!(records(&whole.body).len(), 6);
}

#[test]
fn the_headers_alone_cost_no_export() {
    let server = server();
    for path in [
        "/data/long.csv?_stream=on",
        "/data/longer.csv?_stream=on&_dl=1",
        "/data/note.csv",
        "/data/-/query.csv?sql=select+*+from+note",
    ] {
        let head = server.head(path).ok();
        let get = server.get(path).ok();
        assert!(head.body.is_empty());
        assert_eq!(
            head.header("content-type"),
            get.header("content-type"),
            "{path}"
        );
        assert_eq!(
            head.header("content-disposition"),
            get.header("content-disposition")
        );
        // The length is not known without the rows; a wrong one would be worse than none.
        assert_eq!(head.header("content-length"), None, "{path}");
    }
    // Nothing but headers came, so the connection can be used again.
    let mut raw = Raw::connect(&server);
    raw.send("HEAD /data/long.csv?_stream=on HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(raw.read_head().status, 200);
    raw.ask("/data/kind.csv");
    assert_eq!(raw.read().text(), "id,name\r\n1,Ünï\r\n2,\"two, too\"\r\n");
}

#[test]
fn a_download_has_a_name() {
    let answer = server().get("/data/note.csv?_dl=1").ok();
    assert_eq!(
        answer.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    assert_eq!(
        answer.header("content-disposition"),
        Some("attachment; filename=\"note.csv\"")
    );
}

#[test]
fn an_export_that_grows_too_large_says_so_at_its_end() {
    let server = Site::of(
        "create table big(id integer primary key, v text);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000) insert into big select x, hex(zeroblob(250)) from c;",
    )
    .setting("max_csv_mb", "1")
    .start();
    let text = server.text("/data/big.csv?_stream=on");
    assert!(text.len() < (1 << 20) + 1000);
    assert!(text.ends_with("CSV contains more than 1048576 bytes"));
    assert!(
        server.text("/data/big.csv?_size=max").ends_with("\r\n"),
        "one page is not too large"
    );
}

#[test]
fn streaming_can_be_turned_off_and_begins_at_the_first_row() {
    let off = Site::of(NOTES).setting("allow_csv_stream", "off").start();
    off.get("/data/long.csv?_stream=on").with_status(400);
    assert_eq!(records(&off.get("/data/long.csv").ok().body).len(), 101);
    server()
        .get("/data/long.csv?_stream=on&_next=5")
        .with_status(400);
}

#[test]
fn a_client_that_leaves_an_export_takes_nothing_with_it() {
    let server = server();
    for _ in 0..20 {
        let mut raw = Raw::connect(&server);
        raw.ask("/data/longer.csv?_stream=on");
        raw.read_head();
        drop(raw);
    }
    server.wait_for_engine("empty", |engine| {
        engine["running"] == 0 && engine["queued"] == 0
    });
    assert_eq!(
        records(&server.get("/data/long.csv?_stream=on").ok().body).len(),
        2501
    );
}

#[test]
fn a_slow_reader_holds_no_place_in_the_engine() {
    let server = Site::of(
        "create table big(id integer primary key, v text);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 8000) insert into big select x, hex(zeroblob(1000)) from c;",
    )
    .args(&["--sql-threads", "1"])
    .setting("max_pages", "1")
    .start();
    let mut slow = Raw::connect(&server);
    slow.ask("/data/big.csv?_stream=on");
    slow.read_head();
    let mut size = slow.read_chunk().unwrap().len();
    for _ in 0..5 {
        assert_eq!(
            server.ids("/data/big.json?id=7"),
            [7],
            "others are served meanwhile"
        );
    }
    while let Some(chunk) = slow.read_chunk() {
        size += chunk.len();
    }
    assert!(size > 8000 * 2000);
}
