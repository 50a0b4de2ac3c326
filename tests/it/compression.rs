//! Compressed answers, and the headers that tell browsers and caches about them.

use std::io::Read as _;

use serde_json::json;

use crate::server::{Answer, Server, Site};

const ROWS: &str = "create table t(id integer primary key, v text);
    with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000)
    insert into t select x, 'value number ' || x from c;
    create table b(id integer primary key, x blob); insert into b values (1, zeroblob(5000));";

fn encoded(server: &Server, path: &str, encoding: &str) -> Answer {
    server.get_with(path, &[("accept-encoding", encoding)]).ok()
}

fn decoded(answer: &Answer) -> String {
    let mut text = String::new();
    match answer.header("content-encoding") {
        Some("gzip") => flate2::read::GzDecoder::new(&*answer.body)
            .read_to_string(&mut text)
            .unwrap(),
        Some("br") => brotli::Decompressor::new(&*answer.body, 4096)
            .read_to_string(&mut text)
            .unwrap(),
        Some("zstd") => zstd::Decoder::new(&*answer.body)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap(),
        other => panic!("{other:?}"),
    };
    text
}

#[test]
fn text_comes_compressed_as_the_client_wants_it_and_says_the_same() {
    let server = Site::of(ROWS).start();
    for path in [
        "/data/t",
        "/data/t.json?_size=500",
        "/data/t.csv?_size=500",
        "/data/t.csv?_stream=on",
        "/data",
        "/",
        "/data/-/query?sql=select+*+from+t",
        "/data/-/query.csv?sql=select+*+from+t&_stream=on",
        "/data/t/1",
        "/-/static/app.css",
        "/no/such/page/here",
    ] {
        let plain = server.get(path);
        assert_eq!(plain.header("content-encoding"), None, "{path}");
        for (accepted, expected) in [
            ("gzip", "gzip"),
            ("br", "br"),
            ("gzip, deflate, br, zstd", "zstd"),
        ] {
            // Twice: the second time it may have been kept.
            for _ in 0..2 {
                let answer = server.get_with(path, &[("accept-encoding", accepted)]);
                assert_eq!(answer.header("content-encoding"), Some(expected), "{path}");
                let vary = answer.header("vary").unwrap().to_ascii_lowercase();
                assert!(vary.contains("accept-encoding"), "{path}: {vary}");
                let without_time = |text: String| {
                    let at = text.find("Queries took").unwrap_or(text.len());
                    text[..at].to_owned()
                };
                assert_eq!(
                    without_time(decoded(&answer)),
                    without_time(plain.text()),
                    "{path}"
                );
                assert!(answer.body.len() < plain.body.len(), "{path}");
            }
        }
        for none in ["identity", "gzip;q=0", "deflate"] {
            let answer = server.get_with(path, &[("accept-encoding", none)]);
            assert_eq!(answer.header("content-encoding"), None, "{path} {none}");
        }
    }
}

#[test]
fn what_would_not_get_smaller_is_sent_as_it_is() {
    let server = Site::of(ROWS).immutable("fixed", ROWS).start();
    for path in [
        "/-/actor.json",
        "/data/b/1.blob?_blob_column=x",
        "/favicon.ico",
        "/fixed.db",
    ] {
        let answer = encoded(&server, path, "gzip, br, zstd");
        assert_eq!(answer.header("content-encoding"), None, "{path}");
    }
}

#[test]
fn a_compressed_page_that_has_not_changed_is_a_304() {
    let server = Site::of(ROWS).start();
    for path in ["/data/t", "/data/t.json", "/-/static/app.css"] {
        let tag = encoded(&server, path, "zstd")
            .header("etag")
            .unwrap()
            .to_owned();
        assert!(tag.starts_with("W/"), "{path}: {tag}");
        for accepted in ["zstd", "gzip", "identity"] {
            let again = server.get_with(
                path,
                &[("accept-encoding", accepted), ("if-none-match", &tag)],
            );
            assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
            assert!(again.header("vary").unwrap().contains("Accept-Encoding"));
        }
    }
}

#[test]
fn a_head_has_the_headers_of_its_get() {
    let server = Site::of(ROWS).start();
    for path in ["/data/t", "/data/t.json", "/-/static/app.css"] {
        let headers = [("accept-encoding", "br")];
        let (get, head) = (
            server.get_with(path, &headers),
            server.head_with(path, &headers),
        );
        for name in [
            "content-encoding",
            "content-length",
            "etag",
            "vary",
            "content-type",
        ] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
}

#[test]
fn pages_tell_browsers_what_they_may_do() {
    let config = json!({"extra_js_urls": ["https://cdn.example/a.js"]});
    let server = Site::of(ROWS).config(&config).start();
    for path in [
        "/",
        "/data",
        "/data/t",
        "/data/t/1",
        "/data/-/query",
        "/-/versions",
        "/no/such/page/here",
    ] {
        let answer = server.get(path);
        let policy = answer
            .header("content-security-policy")
            .unwrap_or_else(|| panic!("{path}"));
        assert!(
            policy.contains("script-src 'self' https://cdn.example;"),
            "{path}: {policy}"
        );
        assert_eq!(
            answer.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
        assert!(answer.header("referrer-policy").is_some(), "{path}");
        let html = answer.text();
        assert!(
            !html.contains("<style") && !html.contains(" onclick"),
            "{path}"
        );
        for script in html.split("<script").skip(1) {
            assert!(
                script.split('>').next().unwrap().contains("src="),
                "{path}: {script}"
            );
        }
    }
    for path in [
        "/data/t.json",
        "/data/t.csv",
        "/favicon.ico",
        "/-/static/app.css",
    ] {
        assert_eq!(
            server.get(path).header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
    }
}
