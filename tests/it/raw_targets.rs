//! Paths and queries as people type them behind `curl`: not quite URIs.

use serde_json::json;

use crate::server::{Answer, Raw, Server, Site, column_of, query};

const SOME: &str = "/data/t.json?id__in=[\"1\",\"3\"]";
const FEW: &str = "/data/t.json?_where=id<3";

fn start() -> Server {
    Site::of(
        "create table t (id integer primary key, a);
         insert into t values (1, 'é'), (2, '<>'), (3, 'x`y')",
    )
    .start()
}

fn ids(answer: Answer) -> serde_json::Value {
    column_of(&answer.ok().json(), "id").into()
}

#[test]
fn quotes_and_angle_brackets_need_no_encoding() {
    let server = start();
    let mut raw = Raw::connect(&server);
    for (path, expected) in [
        (SOME, json!([1, 3])),
        (FEW, json!([1, 2])),
        ("/data/t.json?a=é", json!([1])),
        ("/data/t.json?a=<>", json!([2])),
        ("/data/t.json?a=x`y", json!([3])),
    ] {
        raw.ask(path);
        assert_eq!(ids(raw.read()), expected, "{path}");
    }
    // Such a name is not its usual encoding, which is told.
    raw.ask("/data/<\"`é\"");
    let answer = raw.read().with_status(302);
    assert_eq!(answer.header("location"), Some("/data/~3C\"~60~C3~A9\""));
}

#[test]
fn a_request_may_come_in_bits_and_many_may_come_at_once() {
    let server = start();
    let mut raw = Raw::connect(&server);
    let requests = [SOME, FEW].map(|path| format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n"));
    for at in 0..requests[0].len() {
        raw.send(&requests[0][at..=at]);
    }
    assert_eq!(ids(raw.read()), json!([1, 3]));
    raw.send(&requests.concat().repeat(5));
    for _ in 0..5 {
        assert_eq!(ids(raw.read()), json!([1, 3]));
        assert_eq!(ids(raw.read()), json!([1, 2]));
    }
}

#[test]
fn what_was_refused_still_is() {
    let server = start();
    for head in [
        "Content-Length: 3\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length : 3\r\n",
        "Transfer-Encoding: gzip\r\n",
        "X: y\r\n folded\r\n",
    ] {
        let mut raw = Raw::connect(&server);
        raw.send(&format!("GET {FEW} HTTP/1.1\r\nHost: h\r\n{head}\r\n"));
        raw.read().with_status(400);
        assert!(raw.read_to_end().is_empty(), "{head}");
    }
    for line in ["GET /data/t.json?a=b c HTTP/1.1", "PRI * HTTP/2.0", "GET /"] {
        let mut raw = Raw::connect(&server);
        raw.send(&format!("{line}\r\nHost: h\r\n\r\n"));
        raw.read().with_status(400);
    }
    let mut raw = Raw::connect(&server);
    raw.ask(&format!("/data/t.json?a={}", "\"".repeat(50_000)));
    raw.read().with_status(431);
}

#[test]
fn a_proxy_on_this_machine_is_still_known_as_one() {
    let server = start();
    let page = format!("/data/t.json?{}", query(&[("_size", "1")]));
    let answer = server.get_with(&page, &[("x-forwarded-proto", "https")]);
    let next = answer.ok().json()["next_url"].clone();
    assert!(next.as_str().unwrap().starts_with("https://"), "{next}");
}
