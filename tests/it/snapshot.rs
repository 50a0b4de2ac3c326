//! One page reads one state of its database, however busily another program
//! writes; and the next request sees what was committed before it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::server::{Server, Site, column_of, open};

/// Names the database to `writer_process`, which does nothing without it.
const DATABASE: &str = "TURNTABLE_TEST_DATABASE";
/// Says when it checkpoints: after every commit, or as SQLite likes.
const CHECKPOINTS: &str = "TURNTABLE_TEST_CHECKPOINTS";
/// Rows at which the writer takes most of them away again.
const MOST_ROWS: i64 = 180;
/// Pages that are asked for in each journal mode.
const PAGES: usize = 1000;
/// Clients that ask for them at the same time.
const CLIENTS: usize = 4;

const GROUPS: &str =
    "create table item(id integer primary key, side text, label text collate nocase, day text);
    with recursive c(x) as (select 1 union all select x + 1 from c where x < 60)
    insert into item select x, 'left', 'Even', '2020-01-01' from c;";

/// Another process that writes until told to stop: this test binary again.
struct Writer(Child);

impl Writer {
    fn start(database: &Path, checkpoints: bool) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "snapshot::writer_process", "--nocapture"])
            .env(DATABASE, database)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        if checkpoints {
            command.env(CHECKPOINTS, "1");
        }
        Self(command.spawn().unwrap())
    }

    /// Closes its stdin and waits. Fails if it failed.
    fn stop(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success(), "the writer failed");
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn writer_process() {
    let Some(database) = std::env::var_os(DATABASE) else {
        return;
    };
    let checkpoints = std::env::var_os(CHECKPOINTS).is_some();
    let stdin_ends = thread::spawn(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let mut connection = open(Path::new(&database));
    connection
        .pragma_update(None, "synchronous", "off")
        .unwrap();
    let mut turn = 0;
    while !stdin_ends.is_finished() {
        turn += 1;
        write_once(&mut connection, turn);
        if checkpoints {
            empty_the_wal(&connection);
        }
    }
}

/// Copies the WAL to the database and cuts it, if the readers leave a gap: the
/// next page then begins with a WAL that has nothing in it.
fn empty_the_wal(connection: &Connection) {
    connection.busy_timeout(Duration::from_millis(20)).unwrap();
    connection
        .query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))
        .unwrap();
    connection.busy_timeout(Duration::from_mins(1)).unwrap();
}

/// One commit: a few rows change sides, and some come or go.
fn write_once(connection: &mut Connection, turn: i64) {
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    let run = |sql: &str, n: i64| {
        transaction
            .prepare_cached(sql)
            .unwrap()
            .execute([n])
            .unwrap()
    };
    run(
        "update item set side = case side when 'left' then 'right' else 'left' end,
            label = case label when 'even' then 'Odd' when 'odd' then 'EVEN' end where id % 7 = ? % 7",
        turn,
    );
    run(
        "insert into item(side, label, day) values ('left', 'odd', date('2020-01-01', '+' || (?1 % 3) || ' days'))",
        turn,
    );
    let count: i64 = transaction
        .query_row("select count(*) from item", [], |row| row.get(0))
        .unwrap();
    if count > MOST_ROWS {
        run(
            "delete from item where id in (select id from item limit ?)",
            MOST_ROWS * 2 / 3,
        );
    }
    transaction.commit().unwrap();
}

/// Checks that all parts of a page tell of the same rows. Their count.
fn agree(page: &Value) -> i64 {
    let count = page["count"].as_i64().unwrap();
    let rows = page["rows"].as_array().unwrap();
    assert_eq!(
        i64::try_from(rows.len()),
        Ok(count),
        "rows and count: {page}"
    );
    for column in ["side", "label", "day"] {
        let facet = &page["facet_results"]["results"][column]["results"];
        let counts = column_of(facet, "count");
        let sum: i64 = counts.iter().map(|n| n.as_i64().unwrap()).sum();
        assert_eq!(sum, count, "facet of {column} and count: {page}");
    }
    let lefts = rows.iter().filter(|row| row["side"] == "left").count();
    let lines = page["facet_results"]["results"]["side"]["results"]
        .as_array()
        .unwrap();
    let left = lines.iter().find(|line| line["value"] == "left");
    let counted = left.map_or(&Value::Null, |line| &line["count"]);
    assert_eq!(
        counted.as_u64().unwrap_or(0),
        lefts as u64,
        "rows and facet: {page}"
    );
    count
}

/// Rows, count and three facets, one of them counted by SQL.
const PAGE: &str = "/data/item.json?_size=max&_extra=count,suggested_facets&_facet=side&_facet=label&_facet_date=day";

/// Asks for so many pages with several clients at once. The counts that came up.
fn read_pages(server: &Server, clients: usize, pages: usize) -> BTreeSet<i64> {
    let asked = AtomicUsize::new(0);
    let client = || {
        let mut counts = BTreeSet::new();
        while asked.fetch_add(1, Ordering::Relaxed) < pages {
            counts.insert(agree(&server.json(PAGE)));
        }
        counts
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect()
    })
}

/// A server that runs the parts of all pages in parallel.
fn parallel(journal: &str) -> Server {
    Site::of(&format!("pragma journal_mode = {journal}; {GROUPS}"))
        .args(&["--extras", "parallel", "--sql-threads", "4"])
        .setting("facet_time_limit_ms", "20000")
        .setting("sql_time_limit_ms", "20000")
        .setting("facet_suggest_time_limit_ms", "20000")
        .start()
}

/// A thousand pages while another process writes without rest.
fn pages_agree(journal: &str, checkpoints: bool) {
    let server = parallel(journal);
    let path = server.path("data.db");
    let mode: String = server
        .open("data.db")
        .query_row("pragma journal_mode", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, journal);
    let writer = Writer::start(&path, checkpoints);
    let before: i64 = server.column(PAGE, "id").last().unwrap().as_i64().unwrap();
    // One client alone leaves gaps, in which the WAL can be emptied.
    let (clients, pages) = if checkpoints {
        (1, PAGES / 3)
    } else {
        (CLIENTS, PAGES)
    };
    let counts = read_pages(&server, clients, pages);
    writer.stop();
    let after = server.column(PAGE, "id").last().unwrap().as_i64().unwrap();
    assert!(
        after > before + 20,
        "the writer wrote from {before} to {after}"
    );
    assert!(counts.len() > 5, "the writer was seen at work: {counts:?}");
}

#[test]
fn parts_of_a_page_agree_while_another_process_writes_in_wal_mode() {
    pages_agree("wal", false);
}

#[test]
fn parts_of_a_page_agree_while_another_process_writes_and_empties_the_wal() {
    pages_agree("wal", true);
}

#[test]
fn parts_of_a_page_agree_while_another_process_writes_with_a_rollback_journal() {
    pages_agree("delete", false);
}

#[test]
fn parts_of_a_page_agree_while_another_process_writes_with_a_kept_journal() {
    let server = parallel("persist");
    let writer = Writer::start(&server.path("data.db"), false);
    read_pages(&server, CLIENTS, 200);
    writer.stop();
}

#[test]
fn pages_of_an_immutable_file_agree_and_are_all_the_same() {
    let server = Site::new()
        .immutable(
            "data",
            &format!("pragma journal_mode = wal; {GROUPS}; pragma journal_mode = delete"),
        )
        .args(&["--extras", "parallel", "--sql-threads", "4"])
        .start();
    assert_eq!(read_pages(&server, CLIENTS, PAGES), BTreeSet::from([60]));
    let first = server.get(PAGE).ok();
    for _ in 0..20 {
        assert_eq!(server.get(PAGE).ok().body, first.body);
    }
}

#[test]
fn pages_for_people_agree_too() {
    let server = parallel("wal");
    let writer = Writer::start(&server.path("data.db"), false);
    for _ in 0..100 {
        let page = server.text("/data/item?_size=max&_facet=side");
        let count = page
            .split("<strong>")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap();
        let rows = page.matches("<tr data-row=").count();
        assert_eq!(count, rows.to_string());
    }
    writer.stop();
}

#[test]
fn a_database_that_changes_its_journal_mode_stays_in_one_piece() {
    let server = parallel("delete");
    read_pages(&server, CLIENTS, 20);
    let connection = server.open("data.db");
    connection
        .pragma_update(None, "journal_mode", "wal")
        .unwrap();
    let writer = Writer::start(&server.path("data.db"), true);
    read_pages(&server, CLIENTS, 200);
    writer.stop();
}

#[test]
fn a_page_and_a_checkpoint_that_wait_for_each_other_do_not_wait_long() {
    let server = parallel("wal");
    let stop = AtomicBool::new(false);
    let (sender, started) = mpsc::channel();
    thread::scope(|scope| {
        let stop = &stop;
        let _stop = Stop(stop);
        let connection = server.open("data.db");
        connection
            .pragma_update(None, "synchronous", "off")
            .unwrap();
        scope.spawn(move || {
            // Patient: it holds the lock of checkpoints until no page reads any more.
            while !stop.load(Ordering::Relaxed) {
                connection
                    .execute_batch(
                        "insert into item(side, label, day) values ('right', 'odd', null);
                         delete from item where id = (select min(id) from item);
                         pragma wal_checkpoint(truncate);",
                    )
                    .unwrap();
                // Nobody listens after the first time.
                let _ = sender.send(());
            }
        });
        started.recv().unwrap();
        let began = Instant::now();
        for _ in 0..4 {
            server.text("/data/item?_size=max&_facet=side&_facet=label");
        }
        // Four pages of some milliseconds; a lock that is waited for in vain costs five seconds.
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{:?}",
            began.elapsed()
        );
    });
}

/// Makes a change by another program after each page, and looks whether the next page has it.
fn never_stale(journal: &str, extras: &str) {
    let server = Site::of(&format!("pragma journal_mode = {journal}; {GROUPS}"))
        .args(&["--extras", extras])
        .start();
    let connection = server.open("data.db");
    for n in 61..120 {
        connection
            .execute("insert into item values (?, 'right', 'odd', null)", [n])
            .unwrap();
        let page = server.json("/data/item.json?_size=max&_extra=count&_facet=side&_nosuggest=1");
        assert_eq!(page["count"], n);
        assert_eq!(page["rows"].as_array().unwrap().last().unwrap()["id"], n);
        let facet = &page["facet_results"]["results"]["side"]["results"];
        let sum: i64 = column_of(facet, "count")
            .iter()
            .map(|n| n.as_i64().unwrap())
            .sum();
        assert_eq!(sum, n);
    }
}

#[test]
fn what_was_committed_is_seen_by_the_next_page() {
    for (journal, extras) in [
        ("wal", "parallel"),
        ("wal", "sequential"),
        ("delete", "parallel"),
        ("delete", "sequential"),
    ] {
        never_stale(journal, extras);
    }
}

#[test]
fn rows_that_are_only_in_the_wal_are_served() {
    let site = Site::of(
        "pragma journal_mode = wal; create table t(id integer primary key); insert into t values (1)",
    );
    let writer = open(&site.path("data.db"));
    writer
        .execute_batch("pragma wal_autocheckpoint = 0; insert into t values (2)")
        .unwrap();
    let server = site.start();
    assert_eq!(server.ids("/data/t.json"), [1, 2]);
    writer.execute_batch("insert into t values (3)").unwrap();
    assert_eq!(server.ids("/data/t.json"), [1, 2, 3]);
}

#[test]
fn what_another_program_does_to_the_schema_is_seen_by_the_next_page() {
    for journal in ["wal", "delete"] {
        let server = Site::of(&format!(
            "pragma journal_mode = {journal}; create table t(id integer primary key, a text); insert into t values (1, 'x');
             create table gone(id integer primary key);"
        ))
        .args(&["--sql-threads", "1"])
        .start();
        let connection = server.open("data.db");
        let change = |sql: &str| connection.execute_batch(sql).unwrap();
        let rows = |path: &str| server.json(&format!("/data/{path}.json?_shape=array"));
        assert_eq!(rows("t"), json!([{"id": 1, "a": "x"}]));
        // Statements are kept; so each page is asked for once before.
        let row = || server.json("/data/t/1.json?_shape=array");
        let sql = || server.json("/data/-/query.json?_shape=array&sql=select+*+from+t");
        assert_eq!((row(), sql()), (rows("t"), rows("t")));
        let both = |expected: Value| {
            assert_eq!(row(), expected);
            assert_eq!(sql(), expected);
        };
        change("alter table t add column b text default 'new'");
        both(json!([{"id": 1, "a": "x", "b": "new"}]));
        assert_eq!(rows("t"), json!([{"id": 1, "a": "x", "b": "new"}]));
        change("alter table t rename column a to c");
        both(json!([{"id": 1, "c": "x", "b": "new"}]));
        assert_eq!(rows("t"), json!([{"id": 1, "c": "x", "b": "new"}]));
        change("alter table t drop column b");
        both(json!([{"id": 1, "c": "x"}]));
        assert_eq!(rows("t"), json!([{"id": 1, "c": "x"}]));
        change(
            "begin; drop table t; create table t(id integer primary key, b int, c text);
             insert into t values (1, 8, 'y'); commit",
        );
        both(json!([{"id": 1, "b": 8, "c": "y"}]));
        change("alter table t drop column b; update t set c = 'x'");
        server.get("/data/later.json").error(404);
        change("create table later(id integer primary key); insert into later values (9)");
        assert_eq!(rows("later"), json!([{"id": 9}]));
        change("create view v as select id + 1 as id from later");
        assert_eq!(rows("v"), json!([{"id": 10}]));
        assert_eq!(rows("gone"), json!([]));
        change("drop table gone");
        server.get("/data/gone.json").error(404);
        change("alter table t rename to u");
        server.get("/data/t.json").error(404);
        assert_eq!(rows("u"), json!([{"id": 1, "c": "x"}]));
        change(
            "drop table later; create table later(k text primary key, v); insert into later values ('a', 1)",
        );
        assert_eq!(rows("later"), json!([{"k": "a", "v": 1}]));
        change("vacuum");
        assert_eq!(rows("u"), json!([{"id": 1, "c": "x"}]));
    }
}

/// Tells a thread to stop, also when its test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_schema_that_changes_without_rest_costs_no_page() {
    let server = parallel("wal");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            let connection = server.open("data.db");
            while !stop.load(Ordering::Relaxed) {
                connection
                    .execute_batch("alter table item add column more text default 'm'; alter table item drop column more;")
                    .unwrap();
            }
        });
        for _ in 0..150 {
            let page = server.json(PAGE);
            agree(&page);
            let columns: BTreeSet<usize> = page["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row.as_object().unwrap().len())
                .collect();
            assert_eq!(columns.len(), 1, "all rows have the same columns");
        }
    });
}

/// Names the database to `dying_process`, which does nothing without it.
const DYING: &str = "TURNTABLE_TEST_DYING";

#[test]
fn dying_process() {
    let Some(database) = std::env::var_os(DYING) else {
        return;
    };
    let connection = open(Path::new(&database));
    // A cache of ten pages: most of the changes are in the file before the end.
    connection
        .execute_batch("pragma cache_size = 10; begin; update big set n = 2;")
        .unwrap();
    std::process::abort();
}

#[test]
fn what_a_program_left_half_done_is_rolled_back() {
    for journal in ["delete", "persist", "truncate"] {
        let server = Site::of(&format!(
            "pragma journal_mode = {journal}; create table big(id integer primary key, n int, pad text);
             with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000)
             insert into big select x, 1, hex(randomblob(200)) from c;"
        ))
        .start();
        server.expect_log("left half done");
        let ones = "/data/big.json?_size=0&_facet=n";
        let facet = || server.json(ones)["facet_results"]["results"]["n"]["results"].take();
        let before = facet();
        let died = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "snapshot::dying_process", "--nocapture"])
            .env(DYING, server.path("data.db"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(!died.unwrap().success());
        assert_eq!(facet(), before, "{journal}");
        assert_eq!(before[0]["count"], 3000);
    }
}
