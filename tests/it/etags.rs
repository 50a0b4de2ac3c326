//! Entity tags on all pages, and what else is in their heads.

use std::collections::BTreeSet;

use serde_json::json;

use crate::server::{Answer, Server, Site};

const SQL: &str = "create table t(id integer primary key, v text, x blob);
    insert into t values (1, 'one', x'0001'), (2, 'two', zeroblob(3000));
    create view dice as select random() as n;";

/// Pages that are there without a database, or beside it.
const ABOUT: [&str; 12] = [
    "/-/versions",
    "/-/versions.json",
    "/-/settings",
    "/-/settings.json",
    "/-/databases",
    "/-/databases.json",
    "/-/config.json",
    "/-/plugins.json",
    "/-/actor",
    "/-/actor.json",
    "/data/-/query/parameters?sql=select+:a",
    "/-/static/app.css",
];
/// Pages of the database.
const OF_DATABASE: [&str; 18] = [
    "/",
    "/.json",
    "/data",
    "/data.json",
    "/data/t",
    "/data/t.json",
    "/data/t.csv",
    "/data/t/1",
    "/data/t/1.json",
    "/data/t/1.csv",
    "/data/t/2.blob?_blob_column=x",
    "/data/-/query",
    "/data/-/query?sql=select+*+from+t",
    "/data/-/query.json?sql=select+*+from+t+where+id+=+:id&id=1",
    "/data/-/query.csv?sql=select+count(*)+from+t",
    "/data/-/query.json?sql=select+id,+v+from+t&_facet=v",
    "/data/-/schema",
    "/data/-/query.blob?sql=select+x+from+t&_blob_column=x",
];

fn tag(answer: &Answer) -> String {
    answer.header("etag").expect("a tag").to_owned()
}

fn again(server: &Server, path: &str, tag: &str) -> Answer {
    server.get_with(path, &[("if-none-match", tag)])
}

/// The request headers that change an answer, in some order.
fn varies_with(answer: &Answer) -> BTreeSet<String> {
    let names = answer.header("vary").unwrap_or_default().split(',');
    names.map(|name| name.trim().to_ascii_lowercase()).collect()
}

/// How many pages the engine has made.
fn pages(server: &Server) -> u64 {
    server.engine()["pages"].as_u64().unwrap()
}

#[test]
fn a_page_about_the_server_is_sent_once() {
    let server = Site::of(SQL).start();
    for path in ABOUT {
        let first = server.get(path).ok();
        let known = tag(&first);
        assert_eq!(tag(&server.get(path).ok()), known, "{path}");
        let answer = again(&server, path, &known);
        assert_eq!((answer.status, answer.body.len()), (304, 0), "{path}");
        assert_eq!(tag(&answer), known, "{path}");
        assert_eq!(answer.header("content-type"), None, "{path}");
        assert_eq!(again(&server, path, "\"other\"").ok().body, first.body);
        let gzip = [("accept-encoding", "gzip"), ("if-none-match", &known)];
        assert_eq!(server.get_with(path, &gzip).status, 304, "{path}");
    }
}

#[test]
fn every_page_of_a_database_is_a_304_before_any_sql() {
    for cache in ["64", "0"] {
        let server = Site::of(SQL).setting("result_cache_mb", cache).start();
        for path in OF_DATABASE {
            let known = tag(&server.get(path).ok());
            let made = pages(&server);
            let answer = again(&server, path, &known);
            assert_eq!((answer.status, answer.body.len()), (304, 0), "{path}");
            assert_eq!(pages(&server), made, "{path}");
        }
        let blob = "/data/t/2.blob?_blob_column=x";
        let known = tag(&server.get(blob).ok());
        let writer = server.open("data.db");
        writer
            .execute_batch("update t set x = x'07' where id = 2")
            .unwrap();
        assert_eq!(again(&server, blob, &known).ok().body, [7]);
    }
}

#[test]
fn a_query_is_asked_again_after_a_commit() {
    let server = Site::of(SQL).start();
    let path = "/data/-/query.json?sql=select+v+from+t+where+id+=+:id&_shape=arrayfirst&id=";
    let at = |id: &str| format!("{path}{id}");
    let first = server.get(&at("1")).ok();
    let known = tag(&first);
    assert_eq!(first.json(), json!(["one"]));
    assert_ne!(tag(&server.get(&at("2")).ok()), known, "another parameter");
    let writer = server.open("data.db");
    writer.execute_batch("update t set v = 'uno'").unwrap();
    let changed = again(&server, &at("1"), &known).ok();
    assert_eq!(changed.json(), json!(["uno"]));
    // What is wrong stays wrong, and is no answer that is kept.
    let wrong = "/data/-/query.json?sql=select+w+from+t";
    assert_eq!(
        again(&server, wrong, "*").with_status(400).header("etag"),
        None
    );
    writer
        .execute_batch("alter table t add column w text default 'w'")
        .unwrap();
    assert!(server.get(wrong).ok().header("etag").is_some());
}

#[test]
fn a_stored_query_has_a_tag_unless_the_server_fills_it_in() {
    let config = json!({"databases": {"data": {"queries": {
        "one": "select v from t where id = :id",
        "sent": "select :_header_x_word as word",
        "now": "select :_now_epoch as now",
    }}}});
    let server = Site::of(SQL).config(&config).start();
    for path in [
        "/data/one?id=1",
        "/data/one.json?id=1",
        "/data/one.csv?id=2",
        "/data/-/queries",
        "/data/-/queries.json",
    ] {
        let known = tag(&server.get(path).ok());
        assert_eq!(again(&server, path, &known).status, 304, "{path}");
    }
    let other = tag(&server.get("/data/one.json?id=2").ok());
    assert_eq!(again(&server, "/data/one.json?id=1", &other).status, 200);
    for path in ["/data/sent.json", "/data/sent", "/data/now.json"] {
        assert_eq!(server.get(path).ok().header("etag"), None, "{path}");
    }
    for word in ["a", "b"] {
        let path = "/data/sent.json?_shape=arrayfirst";
        let answer = server.get_with(path, &[("x-word", word)]).ok();
        assert_eq!(answer.json(), json!([word]));
    }
}

#[test]
fn another_configuration_has_other_tags() {
    let site = Site::of(SQL);
    let path = site.path("data.db").display().to_string();
    let first = site.start();
    let tags: Vec<_> = OF_DATABASE
        .into_iter()
        .chain(["/-/settings.json"])
        .map(|path| (path, tag(&first.get(path).ok())))
        .collect();
    let other = Site::new()
        .args(&[&path])
        .setting("default_page_size", "1")
        .start();
    for (path, known) in &tags {
        // The key of an answer has the host in it.
        let host = first.address().to_string();
        let headers = [("host", &*host), ("if-none-match", known)];
        assert_eq!(other.get_with(path, &headers).status, 200, "{path}");
    }
}

#[test]
fn a_head_has_the_headers_of_its_get_on_every_page() {
    let server = Site::of(SQL).immutable("fixed", SQL).start();
    let others = [
        "/fixed.db",
        "/favicon.ico",
        "/data/-/query?sql=select+random()+*+0",
        "/data/t.csv?_stream=on",
        "/data/-/query.csv?sql=select+v+from+t&_stream=on",
        "/no/such/page/here",
        "/data/nope.json",
        "/-",
    ];
    for accepted in ["identity", "gzip"] {
        for path in ABOUT.into_iter().chain(OF_DATABASE).chain(others) {
            let headers = [("accept-encoding", accepted)];
            let get = server.get_with(path, &headers);
            let head = server.head_with(path, &headers);
            assert_eq!(
                (head.status, head.body.len()),
                (get.status, 0),
                "{path} {accepted}"
            );
            for name in [
                "content-type",
                "content-disposition",
                "content-security-policy",
                "cache-control",
                "link",
                "location",
                "referrer-policy",
                "x-content-type-options",
            ] {
                assert_eq!(head.header(name), get.header(name), "{path} {name}");
            }
            assert_eq!(varies_with(&head), varies_with(&get), "{path}");
            // No rows are made for the head of CSV.
            let is_csv = path.contains(".csv");
            if is_csv && path != "/data/t/1.csv" {
                assert_eq!(head.header("content-length"), None, "{path}");
                continue;
            }
            let names = ["content-length", "content-encoding", "etag"];
            for name in &names[..if is_csv { 2 } else { 3 }] {
                assert_eq!(
                    head.header(name),
                    get.header(name),
                    "{path} {name} {accepted}"
                );
            }
        }
    }
}

#[test]
fn no_header_tells_of_files_or_of_sqlite() {
    let server = Site::of(SQL).start();
    let folder = server.path("").display().to_string();
    let paths = [
        "/data/-/query?sql=select+nope",
        "/data/-/query.json?sql=select+nope",
        "/data/t?_where=nope",
        "/data/nope",
    ];
    for path in ABOUT.into_iter().chain(OF_DATABASE).chain(paths) {
        for (name, value) in &server.get(path).headers {
            let lower = value.to_ascii_lowercase();
            assert!(
                !value.contains(&folder) && !lower.contains("sqlite") && !lower.contains("data.db"),
                "{path} {name}: {value}"
            );
        }
    }
}

#[test]
fn a_description_keeps_its_styles_and_scripts() {
    let config = json!({"databases": {"data": {"tables": {"t": {
        "description_html": "<style>.mine { color: red }</style><script src=\"https://js.example/x.js\"></script>"
    }}}}});
    let site = Site::of(SQL);
    let metadata = site.write("metadata.json", config.to_string());
    let server = site.args(&["--metadata", &metadata]).start();
    let answer = server.get("/data/t").ok();
    let policy = answer.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'self' https://js.example;"),
        "{policy}"
    );
    assert!(
        answer
            .text()
            .contains("<style>.mine { color: red }</style>")
    );
}

#[test]
fn sql_across_databases_is_never_old() {
    let server = Site::of(SQL).args(&["--crossdb"]).start();
    let path = "/_memory/-/query.json?sql=select+v+from+data.t+where+id+=+1&_shape=arrayfirst";
    for value in ["one", "uno", "eins"] {
        let writer = server.open("data.db");
        writer
            .execute("update t set v = ? where id = 1", [value])
            .unwrap();
        let answer = server.get(path).ok();
        assert_eq!(answer.json(), json!([value]));
        assert_eq!(answer.header("etag"), None);
    }
}
