//! `--get`: one request without a server.

use std::process::Command;

use serde_json::{Value, json};

use crate::server::{Ended, Site};

const CITIES: &str = "create table t(id integer primary key, name text);
    insert into t values (1, 'one'), (2, 'zwei');";

fn get(words: &[&str]) -> Ended {
    Site::of(CITIES).args(words).run_to_end()
}

fn body(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

#[test]
fn the_answer_is_printed_and_the_code_says_whether_it_is_good() {
    let ended = get(&["--get", "/data/t.json?_shape=array"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        body(&ended),
        json!([{"id": 1, "name": "one"}, {"id": 2, "name": "zwei"}])
    );
    assert!(ended.stdout.ends_with("]\n"));
    for (path, status) in [("/data/none.json", 404), ("/data/t.json?no=1", 400)] {
        let ended = get(&["--get", path]);
        assert_eq!(ended.code, Some(1), "{path}");
        assert_eq!(body(&ended)["status"], status);
    }
    assert_eq!(get(&["--get", "/data/t/"]).code, Some(1), "a redirect");
}

#[test]
fn headers_come_before_the_body_after_an_empty_line() {
    let ended = get(&["--get", "/data/t.csv", "--headers"]);
    let (head, body) = ended.stdout.split_once("\n\n").unwrap();
    assert_eq!(head.lines().next(), Some("HTTP/1.1 200"));
    assert!(head.contains("\ncontent-type: text/plain"), "{head}");
    assert_eq!(body, "id,name\r\n1,one\r\n2,zwei\r\n");
}

#[test]
fn a_path_may_be_typed_as_people_type_it() {
    let ended = get(&["--get", "data/-/query.json?sql=select \"a é\"&_shape=array"]);
    assert_eq!(body(&ended), json!([{"\"a é\"": "a é"}]));
}

#[test]
fn a_file_comes_byte_for_byte() {
    let site = Site::new().immutable("still", CITIES);
    let file = std::fs::read(site.path("still.db")).unwrap();
    // Not by `run_to_end`, which reads text.
    let answer = Command::new(env!("CARGO_BIN_EXE_turntable"))
        .args(["-i", "still.db", "--get", "/still.db"])
        .current_dir(site.path(""))
        .output()
        .unwrap();
    assert!(answer.status.success());
    assert!(answer.stdout == file);
}

#[test]
fn a_whole_table_streams() {
    let site = Site::of(
        "create table n(id integer primary key);
         with recursive c(x) as (select 1 union all select x + 1 from c limit 5000)
         insert into n select x from c;",
    );
    let ended = site.args(&["--get", "/data/n.csv?_stream=on"]).run_to_end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stdout.lines().count(), 5001);
}

#[test]
fn an_actor_is_who_asks() {
    let site = || {
        Site::of(CITIES)
            .setting("allow", r#"{"id": "ann"}"#)
            .args(&["--get", "/data/t.json"])
    };
    let ann = site().args(&["--actor", r#"{"id": "ann"}"#]).run_to_end();
    assert_eq!(ann.code, Some(0), "{ann:?}");
    let bob = site().args(&["--actor", r#"{"id": "bob"}"#]).run_to_end();
    assert_eq!(bob.code, Some(1));
    assert_eq!(body(&bob)["status"], 403);
    assert_eq!(site().run_to_end().code, Some(1));
}

#[test]
fn a_token_is_sent() {
    let ended = get(&["--get", "/data/t.json", "--token", "dstok_notvalid"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(body(&ended)["status"], 401);
}

#[test]
fn a_token_that_was_made_here_lets_its_actor_in() {
    let token = |words: &[&str]| {
        let site = Site::new().args(&["create-token", "ann", "--secret", "s"]);
        site.args(words).run_to_end().stdout.trim().to_owned()
    };
    let ask = |token: &str, path: &str| {
        let site = Site::of(CITIES).setting("allow", r#"{"id": "ann"}"#);
        site.args(&["--secret", "s", "--token", token, "--get", path])
            .run_to_end()
    };
    let all = token(&[]);
    assert_eq!(
        body(&ask(&all, "/-/actor.json"))["actor"],
        json!({"id": "ann", "token": "dstok"})
    );
    assert_eq!(ask(&all, "/data/t.json").code, Some(0));
    let narrow = token(&["-d", "data", "view-table", "-e", "60"]);
    assert_eq!(ask(&narrow, "/data/t.json").code, Some(0));
    let sql = "/data/-/query.json?sql=select+1";
    assert_eq!(ask(&all, sql).code, Some(0));
    assert_eq!(ask(&narrow, sql).code, Some(1));
}

#[test]
fn what_belongs_to_get_is_nothing_without_it() {
    for words in [
        &["--headers"][..],
        &["--token", "x"],
        &["--actor", "{}"],
        &["--get", "/", "--actor", "ann"],
        &["--get", "/", "--token", "a\nb"],
    ] {
        let ended = get(words);
        assert_eq!(ended.code, Some(2), "{words:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
}

#[test]
fn nobody_may_deny_everything_and_let_one_in() {
    let site = || Site::of(CITIES).args(&["--default-deny"]);
    let nobody = site().args(&["--get", "/data/t.json"]).run_to_end();
    assert_eq!(nobody.code, Some(1));
    let rules = site()
        .setting("databases.data.allow", "true")
        .setting("allow", "true")
        .args(&["--get", "/data/t.json"]);
    assert_eq!(rules.run_to_end().code, Some(0));
}

#[test]
fn a_note_is_shown_with_the_versions() {
    let ended = get(&["--get", "/-/versions.json", "--version-note", "of Monday"]);
    assert_eq!(body(&ended)["turntable"]["note"], "of Monday");
    assert_eq!(body(&ended)["datasette"]["note"], "of Monday");
}
