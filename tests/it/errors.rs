//! What goes wrong, and what a client is told of it: enough, and no more.

use std::io::{Seek as _, SeekFrom, Write as _};

use crate::server::{Raw, Site, query, tilde};

const ONE_ROW: &str =
    "create table t(id integer primary key, name text); insert into t values (1, 'x');";

#[test]
fn what_is_not_there_is_a_404_in_the_form_of_its_format() {
    let server = Site::of(ONE_ROW).start();
    for path in ["/data/none", "/none/t", "/data/t/x/y"] {
        server.get(&format!("{path}.json")).error(404);
        let page = server.get(path).with_status(404);
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8"),
            "{path}"
        );
    }
    let csv = server.get("/data/none.csv").with_status(404);
    assert!(
        csv.header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );
}

#[test]
fn an_unknown_format_is_not_there() {
    let server = Site::of(ONE_ROW).start();
    server.get("/data/t.xml").with_status(404);
    server.get("/data/t.blob").with_status(404);
}

#[test]
fn a_404_does_not_repeat_what_was_asked_for_unescaped() {
    let server = Site::of(ONE_ROW).start();
    for path in [
        "/data/%3Cscript%3Ealert(1)%3C~2Fscript%3E",
        "/data/~3Cscript~3Ealert~281~29",
        "/~3Cimg~3E/t",
    ] {
        let answer = server.get(path);
        assert!(
            !answer.text().contains("<script>alert") && !answer.text().contains("<img>"),
            "{path}"
        );
    }
}

#[test]
fn errors_of_arguments_are_escaped_in_the_page() {
    let server = Site::of(ONE_ROW).start();
    for key in [
        "_sort", "_facet", "_col", "_size", "<svg>", "_where", "_shape",
    ] {
        let path = format!("/data/t?{}", query(&[(key, "<script>alert(1)</script>")]));
        assert!(
            !server.get(&path).text().contains("<script>alert"),
            "{path}"
        );
    }
}

#[test]
fn no_redirect_leads_to_another_host() {
    let server = Site::of(ONE_ROW).start();
    for path in [
        "//example.com/",
        "/%5Cexample.com/",
        "/%2Fexample.com/",
        "//example.com/t/",
        "/\\example.com/",
    ] {
        let mut raw = Raw::connect(&server);
        raw.ask(path);
        let answer = raw.read();
        if let Some(location) = answer.header("location") {
            let local = location.starts_with('/')
                && !location.starts_with("//")
                && !location.starts_with("/\\");
            assert!(local, "{path} leads to {location}");
        }
        assert!(answer.status < 500, "{path}: {}", answer.status);
    }
}

#[test]
fn a_path_with_a_slash_at_its_end_or_in_percent_encoding_is_redirected() {
    let server = Site::of("create table \"a b\"(id integer primary key)").start();
    for (path, location) in [
        ("/data/a+b/", "/data/a+b"),
        ("/data/a%20b?_size=1", "/data/a~20b?_size=1"),
    ] {
        let answer = server.get(path).with_status(302);
        assert_eq!(answer.header("location"), Some(location));
        server.get(location).ok();
    }
}

#[test]
fn pages_are_read_only() {
    let server = Site::of(ONE_ROW).start();
    let answer = server.post("/data/t", "id=2").with_status(405);
    assert!(answer.header("allow").unwrap().contains("GET"));
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let server = Site::of(ONE_ROW).start();
    for path in ["/data/t", "/data/t.json", "/data/t.csv", "/data/none.json"] {
        let (head, get) = (server.head(path), server.get(path));
        assert!(head.body.is_empty(), "{path}");
        assert_eq!(head.status, get.status, "{path}");
        assert_eq!(
            head.header("content-type"),
            get.header("content-type"),
            "{path}"
        );
    }
}

#[test]
fn other_sites_may_read_answers_and_errors_when_told_so() {
    let server = Site::of(ONE_ROW).args(&["--cors"]).start();
    for path in [
        "/data/t.json",
        "/data/none.json",
        "/data/t.json?_sort=none",
        "/data/t.csv",
    ] {
        let answer = server.get(path);
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("*"),
            "{path}"
        );
        assert!(
            answer
                .header("access-control-allow-headers")
                .unwrap()
                .contains("Authorization")
        );
        assert_eq!(answer.header("access-control-expose-headers"), Some("Link"));
    }
    let silent = Site::of(ONE_ROW).start().get("/data/t.json").ok();
    assert_eq!(silent.header("access-control-allow-origin"), None);
}

#[test]
fn a_view_that_can_t_be_read_is_an_error_of_its_own_page_alone() {
    let server = Site::of(&format!(
        "{ONE_ROW} create table base(a text); create view broken as select a from base;
         create view sound as select id from t; drop table base;"
    ))
    .start();
    server.get("/data/broken.json").error(400);
    server.get("/data/broken").with_status(400);
    server.get("/data/broken.csv").with_status(400);
    assert_eq!(server.ids("/data/sound.json"), [1]);
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn a_table_of_an_unknown_module_is_an_error_of_its_own_page_alone() {
    let server = Site::of(&format!(
        "{ONE_ROW} pragma writable_schema = on;
         insert into sqlite_master(type, name, tbl_name, rootpage, sql)
         values ('table', 'map', 'map', 0, 'CREATE VIRTUAL TABLE map USING atlas(a, b)');"
    ))
    .start();
    server.get("/data/map.json").error(400);
    server.get("/data/map").with_status(400);
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn damage_found_on_the_way_is_logged_and_its_details_are_not_told() {
    let site = Site::of(&format!(
        "{ONE_ROW} create table bad(id integer primary key, v text);
         with recursive c(x) as (select 1 union all select x + 1 from c where x < 500) insert into bad select x, hex(zeroblob(100)) from c;"
    ));
    let root: u64 = site_root_page(&site, "bad");
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open(site.path("data.db"))
        .unwrap();
    file.seek(SeekFrom::Start((root - 1) * 4096)).unwrap();
    file.write_all(&[0xee; 4096]).unwrap();
    drop(file);
    let folder = site.path("").display().to_string();
    let server = site.start();
    server.expect_log("malformed");
    server.get("/data/bad.json").error(500);
    for path in ["/data/bad", "/data/bad.csv", "/data/bad.json?_facet=v"] {
        let answer = server.get(path).with_status(500);
        let text = answer.text();
        assert!(
            !text.contains("malformed") && !text.contains(folder.trim_end_matches('/')),
            "{text}"
        );
    }
    assert_eq!(server.ids("/data/t.json"), [1]);
}

/// The page of the file where a table begins.
fn site_root_page(site: &Site, table: &str) -> u64 {
    let connection = crate::server::open(&site.path("data.db"));
    let root = "select rootpage from sqlite_schema where name = ?";
    connection
        .query_row(root, [table], |row| row.get::<_, i64>(0))
        .unwrap()
        .unsigned_abs()
}

#[test]
fn a_file_that_goes_away_while_it_is_served_takes_no_other_with_it() {
    let server = Site::of(ONE_ROW).database("other", ONE_ROW).start();
    assert_eq!(server.ids("/data/t.json"), [1]);
    std::fs::remove_file(server.path("data.db")).unwrap();
    assert_eq!(server.ids("/other/t.json"), [1]);
    let answer = server.get("/data/t.json");
    assert!(
        answer.status == 200 || answer.status >= 400,
        "an answer, whatever it says"
    );
    assert_eq!(server.ids("/other/t.json"), [1]);
}

#[test]
fn what_is_no_http_gets_an_answer_or_is_hung_up_on() {
    let server = Site::of(ONE_ROW).start();
    for text in [
        "nonsense\r\n\r\n",
        "GET\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "GET /data/t.json HTTP/9.9\r\n\r\n",
    ] {
        let mut raw = Raw::connect(&server);
        raw.send(text);
        raw.close_sending();
        let answer = String::from_utf8_lossy(&raw.read_to_end()).into_owned();
        assert!(
            !answer.contains("HTTP/1.1 200") && !answer.contains("HTTP/1.1 5"),
            "{text:?}: {answer}"
        );
    }
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn requests_on_one_connection_are_answered_in_their_order() {
    let server = Site::of(ONE_ROW).start();
    let mut raw = Raw::connect(&server);
    for n in 0..6 {
        raw.ask(&format!(
            "/data/t.json?_shape=array&id__gte=0&_size={}",
            n % 2
        ));
    }
    for n in 0..6 {
        let answer = raw.read();
        assert_eq!(answer.json().as_array().unwrap().len(), n % 2);
    }
}

#[test]
fn no_argument_however_odd_is_our_own_fault() {
    let server = Site::of(ONE_ROW).start();
    let odd = [
        "",
        "\u{0}",
        "'",
        "\"",
        "%",
        "~",
        "$null",
        "[",
        "{",
        "{}",
        "9999999999999999999999",
        "-1",
        "NaN",
        "1e999",
        "é🎉",
    ];
    let keys = [
        "_size",
        "_next",
        "_sort",
        "_sort_desc",
        "_facet",
        "_facet_array",
        "_facet_date",
        "_facet_size",
        "_col",
        "_nocol",
        "_extra",
        "_shape",
        "_where",
        "_through",
        "_search",
        "_search_name",
        "_searchmode",
        "_labels",
        "_label",
        "_json",
        "_json_infinity",
        "_ttl",
        "_timelimit",
        "_nl",
        "_trace",
        "_stream",
        "_header",
        "_dl",
        "_filter_column",
        "_filter_op",
        "_sort_by_desc",
        "id",
        "id__in",
        "id__gt",
        "name__glob",
        "name__like",
        "name__date",
        "name__arraycontains",
        "name__isnull",
        "name__nonsense",
    ];
    for key in keys {
        for value in odd {
            for format in ["", ".json", ".csv"] {
                let path = format!("/data/t{format}?{}", query(&[(key, value)]));
                let status = server.get(&path).status;
                assert!(matches!(status, 200 | 302 | 400), "{status}: {path}");
            }
        }
    }
}

#[test]
fn many_arguments_do_not_take_long() {
    let server = Site::of(ONE_ROW).start();
    let many: Vec<String> = (0..900).map(|n| format!("id__lt={}", n + 2)).collect();
    assert_eq!(server.ids(&format!("/data/t.json?{}", many.join("&"))), [1]);
    let many: Vec<String> = (0..3000).map(|_| "_facet=id".to_owned()).collect();
    let answer = server.get(&format!("/data/t.json?{}", many.join("&")));
    assert!(answer.status < 500, "{}", answer.status);
}

#[test]
fn a_name_that_is_no_utf_8_is_not_there() {
    let server = Site::of(ONE_ROW).start();
    server.get("/data/~FF~FE.json").error(404);
    server.get("/~FF/t.json").error(404);
    server
        .get(&format!("/data/{}.json", tilde("t\u{0}")))
        .error(404);
}
