//! Stopping: a signal lets running pages finish, and the exit code tells how it went.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::server::{Raw, Server, Site};

const ONE_ROW: &str = "create table t(id integer primary key); insert into t values (1)";

/// Asks for a page that can't go on, because another program holds the lock,
/// and waits until it has begun. The lock is given back when the connection is dropped.
fn held_page(server: &Server) -> (Raw, rusqlite::Connection) {
    let writer = server.open("data.db");
    writer.execute_batch("begin exclusive").unwrap();
    let mut client = Raw::connect(server);
    client.ask("/data/t.json");
    server.wait_for_engine("running", |engine| engine["running"] == 1);
    (client, writer)
}

/// Waits until the server takes no connections any more.
fn wait_until_deaf(server: &Server) {
    let began = Instant::now();
    while TcpStream::connect(server.address()).is_ok() {
        assert!(began.elapsed() < Duration::from_mins(1), "it still listens");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_running_page_is_finished_after_sigterm_and_the_code_is_0() {
    let mut server = Site::of(ONE_ROW).start();
    let (mut client, writer) = held_page(&server);
    server.signal("TERM");
    wait_until_deaf(&server);
    drop(writer);
    let answer = client.read();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["rows"][0]["id"], 1);
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn an_export_is_sent_to_its_end_after_sigterm() {
    let mut server = Site::of(
        "create table big(id integer primary key, v text);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 6000) insert into big select x, hex(zeroblob(1000)) from c;",
    )
    .start();
    let mut client = Raw::connect(&server);
    client.ask("/data/big.csv?_stream=on");
    client.read_head();
    let mut size = client.read_chunk().unwrap().len();
    server.signal("TERM");
    wait_until_deaf(&server);
    while let Some(chunk) = client.read_chunk() {
        size += chunk.len();
    }
    let lines: usize = (1..=6000)
        .map(|n: u32| n.to_string().len() + 1 + 2000 + 2)
        .sum();
    assert_eq!(size, lines + "id,v\r\n".len());
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn a_connection_that_asks_for_nothing_holds_nothing_up() {
    let mut server = Site::of(ONE_ROW)
        .setting("shutdown_grace_ms", "30000")
        .start();
    let mut idle = Raw::connect(&server);
    let mut used = Raw::connect(&server);
    used.ask("/data/t.json");
    assert_eq!(used.read().status, 200);
    let began = Instant::now();
    server.signal("TERM");
    assert_eq!(server.wait(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(idle.read_to_end().is_empty());
}

#[test]
fn a_page_that_does_not_end_is_given_up_when_the_grace_is_over() {
    let mut server = Site::of(ONE_ROW)
        .setting("shutdown_grace_ms", "100")
        .start();
    server.expect_log("the grace was over");
    let (mut client, _writer) = held_page(&server);
    server.signal("TERM");
    assert_eq!(server.wait(), Some(0));
    assert!(client.read_to_end().is_empty());
}

#[test]
fn a_second_signal_stops_at_once() {
    let mut server = Site::of(ONE_ROW)
        .setting("shutdown_grace_ms", "50000")
        .start();
    let (_client, _writer) = held_page(&server);
    server.signal("TERM");
    wait_until_deaf(&server);
    server.signal("TERM");
    assert_eq!(server.wait(), Some(130));
}

#[test]
fn ctrl_c_stops_it_as_well() {
    let mut server = Site::of(ONE_ROW).start();
    assert_eq!(server.ids("/data/t.json"), [1]);
    server.signal("INT");
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn the_port_can_be_taken_again_at_once() {
    let server = Site::of(ONE_ROW).start();
    let port = server.address().port();
    assert_eq!(server.ids("/data/t.json"), [1]);
    server.stop();
    assert!(std::net::TcpListener::bind(("127.0.0.1", port)).is_ok());
}

#[test]
fn a_wal_database_is_left_as_it_was_found() {
    let site = Site::of(&format!("pragma journal_mode = wal; {ONE_ROW}"));
    let before = std::fs::read(site.path("data.db")).unwrap();
    let server = site.start();
    server.text("/data/t");
    let path = server.path("data.db");
    server.signal("TERM");
    let mut server = server;
    assert_eq!(server.wait(), Some(0));
    assert_eq!(std::fs::read(path).unwrap(), before, "we only read");
}
