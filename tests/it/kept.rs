//! Answers are kept while their database stays the same, and not a moment longer.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::server::{Raw, Server, Site, column_of, open};

/// Names the database to `counting_process`, which does nothing without it.
const DATABASE: &str = "TURNTABLE_TEST_COUNTER";
/// Clients that read at the same time.
const CLIENTS: usize = 4;

const COUNTER: &str = "create table counter(id integer primary key, n integer, kind text);
    insert into counter values (1, 0, 'a'), (2, 0, 'b');";

/// Another process that counts up, and prints each number when it is committed.
struct Counting(Child);

impl Counting {
    fn start(server: &Server) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kept::counting_process", "--nocapture"])
            .env(DATABASE, server.path("data.db"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn counting_process() {
    let Some(database) = std::env::var_os(DATABASE) else {
        return;
    };
    let connection = open(std::path::Path::new(&database));
    connection
        .pragma_update(None, "synchronous", "off")
        .unwrap();
    let stdin_ends = thread::spawn(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let mut n: u32 = 0;
    while !stdin_ends.is_finished() {
        n += 1;
        connection.execute("update counter set n = ?", [n]).unwrap();
        if n.is_multiple_of(50) {
            let _ = connection.execute_batch("pragma wal_checkpoint(passive)");
        }
        println!("committed {n}");
        // Long enough that answers are kept between two commits, short enough that there are many.
        thread::sleep(Duration::from_micros(500 * u64::from(n % 7)));
    }
}

/// Reads pages while another process commits. No answer is older than the last
/// commit that was told of before it was asked for.
fn no_answer_is_old(journal: &str, reads: usize) {
    let site = Site::of(&format!("pragma journal_mode = {journal}; {COUNTER}"));
    let server = site.setting("facet_time_limit_ms", "20000").start();
    let mut counting = Counting::start(&server);
    let committed = Arc::new(AtomicI64::new(0));
    let told = committed.clone();
    let lines = BufReader::new(counting.0.stdout.take().unwrap()).lines();
    let reader = thread::spawn(move || {
        for line in lines {
            let Ok(line) = line else { return };
            if let Some(n) = line.strip_prefix("committed ") {
                told.store(n.parse().unwrap(), Ordering::SeqCst);
            }
        }
    });
    let asked = AtomicUsize::new(0);
    let newest = AtomicI64::new(0);
    // Rows, and a facet, which is kept apart from them.
    let paths = [
        "/data/counter.json?_shape=array",
        "/data/counter.json?_facet=n&_size=0",
        "/data/counter?_facet=n",
    ];
    let client = || {
        let mut connection = Raw::connect(&server);
        loop {
            let turn = asked.fetch_add(1, Ordering::Relaxed);
            if turn >= reads {
                return;
            }
            let least = committed.load(Ordering::SeqCst);
            let path = paths[if turn % 10 < 8 { 0 } else { turn % 2 + 1 }];
            connection.ask(path);
            let answer = connection.read();
            assert_eq!(answer.status, 200, "{}", answer.text());
            let seen = match path {
                p if p == paths[0] => answer.json()[0]["n"].as_i64().unwrap(),
                p if p == paths[1] => answer.json()["facet_results"]["results"]["n"]["results"][0]
                    ["value"]
                    .as_i64()
                    .unwrap(),
                _ => {
                    let text = answer.text();
                    let value = text.split("data-facet-value=\"").nth(1).unwrap();
                    value.split('"').next().unwrap().parse().unwrap()
                }
            };
            assert!(seen >= least, "{path} has {seen}, {least} was committed");
            newest.fetch_max(seen, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(client);
        }
    });
    drop(counting);
    reader.join().unwrap();
    let newest = newest.load(Ordering::Relaxed);
    assert!(newest > 20, "the other process was seen at work: {newest}");
}

#[test]
fn no_answer_is_older_than_a_commit_before_it_in_wal_mode() {
    no_answer_is_old("wal", 90_000);
}

#[test]
fn no_answer_is_older_than_a_commit_before_it_with_a_rollback_journal() {
    no_answer_is_old("delete", 10_000);
}

/// How many pages the engine has made.
fn pages(server: &Server) -> u64 {
    server.engine()["pages"].as_u64().unwrap()
}

#[test]
fn an_answer_is_made_once_while_its_database_stays_the_same() {
    let server = Site::of(COUNTER).start();
    for path in [
        "/data/counter",
        "/data/counter.json?_facet=kind",
        "/data/counter.csv",
        "/data/counter/1",
        "/data/counter/1.json",
        "/data",
        "/data.json",
        "/",
        "/.json",
        "/data/-/query?sql=select+*+from+counter",
        "/data/-/query.json?sql=select+*+from+counter+where+id+=+:id&id=2",
        "/data/-/query.csv?sql=select+*+from+counter",
        "/data/counter/1.blob?_blob_column=kind",
    ] {
        let first = server.get(path).ok();
        let made = pages(&server);
        for _ in 0..3 {
            let again = server.get(path).ok();
            assert_eq!(
                (&again.body, again.header("etag")),
                (&first.body, first.header("etag"))
            );
        }
        assert_eq!(pages(&server), made, "{path} was made again");
        // Another name of the server is in the links of the page.
        server.get_with(path, &[("host", "other.test")]).ok();
        assert_eq!(pages(&server), made + 1, "{path}");
    }
}

#[test]
fn nothing_is_kept_where_the_cache_is_off() {
    let server = Site::of(COUNTER).setting("result_cache_mb", "0").start();
    let first = server.get("/data/counter.json").ok();
    let made = pages(&server);
    assert_eq!(server.get("/data/counter.json").ok().body, first.body);
    assert_eq!(pages(&server), made + 1);
}

#[test]
fn a_reload_of_an_unchanged_page_is_a_304_without_any_sql() {
    for cache in ["64", "0"] {
        let server = Site::of(COUNTER).setting("result_cache_mb", cache).start();
        let tag = |path: &str| server.get(path).ok().header("etag").unwrap().to_owned();
        let path = "/data/counter?_facet=kind";
        let known = tag(path);
        let made = pages(&server);
        let reload = || server.get_with(path, &[("if-none-match", &known)]);
        let answer = reload();
        assert_eq!((answer.status, answer.body.len()), (304, 0));
        assert_eq!(answer.header("cache-control"), Some("max-age=5"));
        assert_eq!(answer.header("etag"), Some(known.as_str()));
        assert_eq!(pages(&server), made);
        assert_ne!(tag("/data/counter?_facet=n"), known, "another page");
        let writer = server.open("data.db");
        writer.execute_batch("update counter set n = 7").unwrap();
        let answer = reload().ok();
        assert_ne!(answer.header("etag"), Some(known.as_str()));
    }
}

#[test]
fn what_changes_by_itself_is_not_kept() {
    let sql = "create view dice as select random() as n; create view later as select n from dice;
        create view clock as select strftime('%f,') as t;
        create view day as select date(stamp) as day from (select 'n' || 'ow' as stamp);
        create view plain as select n from counter;
        create virtual table found using fts5(kind); insert into found values ('a');";
    let server = Site::of(&format!("{COUNTER} {sql}")).start();
    for path in [
        "/data/dice.json",
        "/data/later",
        "/data/clock.json",
        "/data/day.json",
        "/data/found",
        "/data/counter.json?_where=n%3Cjulianday()",
        "/data/counter.json?kind__date=2020-01-01",
        "/data/-/query.json?sql=select+random()",
        "/data/-/query?sql=select+datetime(:t)&t=now",
        "/data/-/query.csv?sql=select+n+from+later",
        "/data/-/query.json?sql=select+kind+from+found",
        "/data/-/query.json?sql=select+*+from+pragma_table_info('counter')",
        "/data/-/query.blob?sql=select+randomblob(3)+as+b&_blob_column=b",
    ] {
        assert_eq!(server.get(path).ok().header("etag"), None, "{path}");
    }
    let roll = || server.json("/data/later.json")["rows"].take();
    assert_ne!(roll(), roll());
    for path in [
        "/data/counter.json",
        "/data/plain",
        "/data",
        "/",
        "/data/-/query.json?sql=select+*+from+plain",
    ] {
        assert!(server.get(path).ok().header("etag").is_some(), "{path}");
    }
}

#[test]
fn a_stored_text_that_means_today_is_no_date() {
    let sql = "create table t(id integer primary key, d text);
        insert into t(d) values ('now'), ('2024-02-29 10:00'), ('subsec'), ('12:00');";
    let server = Site::of(sql).start();
    let facet = server.json("/data/t.json?_facet_date=d")["facet_results"]["results"]["d"].take();
    let days: Vec<_> = column_of(&facet["results"], "value");
    assert_eq!(days, [json!("2000-01-01"), json!("2024-02-29")]);
}

#[test]
fn a_page_that_ran_out_of_time_is_made_again() {
    let rows = "create table big(id integer primary key, kind integer);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 400000)
        insert into big select x, x % 5 from c;";
    let server = Site::of(rows).setting("facet_time_limit_ms", "1").start();
    let page = server.get("/data/big.json?_facet=kind&_nosuggest=1").ok();
    assert_eq!(page.header("etag"), None);
    let facet = &page.json()["facet_results"]["results"]["kind"];
    assert_eq!(facet["partial"], json!(true));
    let rows = facet["rows_scanned"].as_u64().unwrap();
    let counts = facet["results"].as_array().unwrap().iter();
    let sum: u64 = counts.map(|line| line["count"].as_u64().unwrap()).sum();
    assert!(sum == rows && (1..400_000).contains(&rows), "{facet}");
    let html = server.text("/data/big?_facet=kind");
    assert!(html.contains("Time was up: counted in "), "{html}");
    let as_datasette = server.json("/data/big.json?_facet=kind&_facet_partial=off");
    assert_eq!(as_datasette["facet_results"]["timed_out"], json!(["kind"]));
    assert_eq!(as_datasette["facet_results"]["results"], json!({}));
}

#[test]
fn equal_requests_at_the_same_time_are_answered_by_one_page() {
    let rows = "create table big(id integer primary key, kind integer);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000)
        insert into big select x, x % 5 from c;";
    let server = Site::of(rows)
        .setting("facet_time_limit_ms", "20000")
        .start();
    let made = pages(&server);
    let start = Barrier::new(8);
    let ask = |path: &str| {
        start.wait();
        server.json(path)["facet_results"]["results"]["kind"]["results"].take()
    };
    let facets: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|n| {
                // Half of them ask for other rows with the same facet.
                let path = format!("/data/big.json?_facet=kind&_size={}", 1 + n % 2);
                let ask = &ask;
                scope.spawn(move || ask(&path))
            })
            .collect();
        clients.into_iter().map(|c| c.join().unwrap()).collect()
    });
    for facet in &facets {
        assert_eq!(facet.as_array().unwrap()[0]["count"], 60_000);
    }
    // At the most one page for each address and one more step for the one that waited.
    assert!(pages(&server) <= made + 3, "{}", pages(&server) - made);
}
