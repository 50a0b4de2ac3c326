//! Starting: what is served, what is said when it can't be, and the exit codes.

use std::net::TcpListener;

use serde_json::json;

use crate::server::{Ended, Site};

const ONE_TABLE: &str = "create table t(id integer primary key); insert into t values (1)";

/// The one line that a program said which did not start.
fn only_line(ended: &Ended) -> &str {
    assert_eq!(ended.stdout, "", "{ended:?}");
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{ended:?}");
    lines[0]
}

/// Checks that the program ends with `code` and one line that names `part`.
fn fails(site: &Site, code: i32, part: &str) {
    let ended = site.run_to_end();
    assert!(only_line(&ended).contains(part), "{ended:?}");
    assert_eq!(ended.code, Some(code), "{ended:?}");
}

#[test]
fn port_0_prints_the_address_that_answers() {
    let server = Site::of(ONE_TABLE).start();
    assert_ne!(server.address().port(), 0);
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn nothing_is_logged_for_a_request_unless_asked_for() {
    let server = Site::of(ONE_TABLE).start();
    server.get("/data/t.json?quiet").error(400);
    server.text("/data/t");
    let log = server.stop();
    assert!(!log.iter().any(|line| line.contains("/data/t")), "{log:?}");
}

#[test]
fn the_access_log_has_a_line_for_every_request() {
    let server = Site::of(ONE_TABLE).args(&["--access-log"]).start();
    let length = server.get("/data/t.json?_size=1").ok().body.len();
    server.get("/data/none.json").error(404);
    let log = server.stop();
    let lines = |part: &str| {
        log.iter()
            .filter(|line| line.contains(part))
            .collect::<Vec<_>>()
    };
    let found = lines("GET /data/t.json?_size=1 200");
    assert_eq!(found.len(), 1, "{log:?}");
    assert!(found[0].contains(&format!(" 200 {length} ")), "{found:?}");
    assert_eq!(lines("GET /data/none.json 404").len(), 1, "{log:?}");
}

#[test]
fn a_file_that_is_not_there_is_named_and_the_code_is_1() {
    let site = Site::new().args(&["nowhere.db"]);
    fails(&site, 1, "nowhere.db");
}

#[test]
fn a_good_file_does_not_hide_one_that_is_not_there() {
    let site = Site::of(ONE_TABLE).args(&["nowhere.db"]);
    fails(&site, 1, "nowhere.db");
}

#[test]
fn a_file_that_is_no_database_is_named_and_the_code_is_1() {
    let site = Site::new().args(&["letter.db"]);
    site.write("letter.db", "Dear reader, this is no database. ".repeat(50));
    fails(&site, 1, "letter.db");
}

#[test]
fn a_folder_is_no_database() {
    let site = Site::new();
    std::fs::create_dir(site.path("folder.db")).unwrap();
    fails(&site.args(&["-i", "folder.db"]), 1, "folder.db");
}

#[test]
fn one_damaged_file_among_good_ones_is_logged_and_the_others_are_served() {
    let site = Site::of(ONE_TABLE);
    let bad = site.write("bad.db", "SQLite format 4 is not there yet.".repeat(50));
    let server = site.args(&[&bad]).database("more", ONE_TABLE).start();
    server.expect_log("bad.db");
    assert_eq!(server.ids("/data/t.json"), [1]);
    assert_eq!(server.ids("/more/t.json"), [1]);
    server.get("/bad/t.json").error(404);
}

#[test]
fn a_database_cut_short_is_damaged() {
    let site = Site::of(ONE_TABLE);
    let whole = site.make(
        "whole",
        "create table long(x); insert into long values (zeroblob(100000))",
    );
    let mut bytes = std::fs::read(whole).unwrap();
    bytes.truncate(700);
    let bad = site.write("short.db", bytes);
    let server = site.args(&[&bad]).start();
    server.expect_log("short.db");
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn an_empty_file_is_an_empty_database() {
    let site = Site::new();
    let empty = site.write("empty.db", "");
    let server = site.args(&[&empty]).start();
    server.get("/empty/t.json").error(404);
    server
        .open("empty.db")
        .execute_batch("create table t(id); insert into t values (4)")
        .unwrap();
    assert_eq!(server.ids("/empty/t.json"), [4]);
}

#[test]
fn a_missing_file_is_made_with_create() {
    let server = Site::new().args(&["new.db", "--create"]).start();
    assert!(server.path("new.db").exists());
    server.get("/new/t.json").error(404);
}

#[test]
fn without_a_file_there_is_a_database_in_memory() {
    let server = Site::new().start();
    let databases = server.json("/-/databases.json");
    assert_eq!(databases["databases"][0]["name"], "_memory");
}

#[test]
fn what_is_typed_wrong_is_told_in_a_line_and_the_code_is_2() {
    for (words, part) in [
        (&["--no-such-option"][..], "--no-such-option"),
        (
            &["--setting", "default_page_sise", "5"],
            "default_page_sise",
        ),
        (
            &["--setting", "default_page_size", "lots"],
            "default_page_size",
        ),
        (&["--setting", "default_page_size"], "setting"),
        (&["-p", "door"], "door"),
        (&["-p", "70000"], "70000"),
        (&["--extras", "sideways"], "sideways"),
        (&["--sql-threads", "some"], "some"),
        (&["--workers", "0"], "--workers"),
    ] {
        fails(&Site::of(ONE_TABLE).args(words), 2, part);
    }
}

#[test]
fn a_port_that_is_taken_is_told_and_the_code_is_1() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    fails(&Site::of(ONE_TABLE).args(&["-p", &port]), 1, &port);
}

#[test]
fn a_file_that_is_named_twice_is_not_served_as_two_databases() {
    let site = Site::of(ONE_TABLE);
    let again = site.path("data.db").display().to_string();
    fails(&site.args(&[&again]), 1, "data.db");
}

#[test]
fn a_configuration_that_can_t_be_read_is_named_and_the_code_is_1() {
    let site = Site::of(ONE_TABLE);
    let broken = site.write("broken.json", "{\"settings\": ");
    let site = site.args(&["-c", &broken]);
    fails(&site, 1, "broken.json");
    let site = Site::of(ONE_TABLE).args(&["-m", "no-such-metadata.json"]);
    fails(&site, 1, "no-such-metadata.json");
}

#[test]
fn help_and_version_are_printed_and_the_code_is_0() {
    for (word, part) in [
        ("--help", "Usage"),
        ("--version", env!("CARGO_PKG_VERSION")),
        ("--help-settings", "default_page_size"),
    ] {
        let ended = Site::new().args(&[word]).run_to_end();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{word}");
        assert!(ended.stdout.contains(part), "{ended:?}");
    }
}

#[test]
fn two_files_of_one_name_get_two_names() {
    let site = Site::of(ONE_TABLE);
    std::fs::create_dir(site.path("other")).unwrap();
    let second = site.make("other/data", "create table u(id); insert into u values (2)");
    let server = site.args(&[&second]).start();
    assert_eq!(server.ids("/data/t.json"), [1]);
    assert_eq!(server.ids("/data_2/u.json"), [2]);
}

#[test]
fn a_file_name_may_hold_anything() {
    let name = "100% of (1) é#?";
    let server = Site::new().database(name, ONE_TABLE).start();
    let path = format!("/{}/t.json", crate::server::tilde(name));
    assert_eq!(server.ids(&path), [1]);
}

#[test]
fn immutable_and_preloaded_files_are_served_too() {
    let site = Site::new().immutable("still", ONE_TABLE);
    let loaded = site.make("loaded", "create table t(id); insert into t values (3)");
    let server = site.args(&["--preload", &loaded]).start();
    assert_eq!(server.ids("/still/t.json"), [1]);
    assert_eq!(server.ids("/loaded/t.json"), [3]);
}

#[test]
fn a_setting_of_the_command_line_goes_before_that_of_the_file() {
    let server = Site::of(
        "create table t(id integer primary key); insert into t values (1), (2), (3), (4), (5), (6)",
    )
    .config(&json!({"settings": {"default_page_size": 4, "max_returned_rows": 5}}))
    .setting("max_returned_rows", "6")
    .start();
    assert_eq!(server.ids("/data/t.json"), [1, 2, 3, 4]);
    assert_eq!(server.ids("/data/t.json?_size=max").len(), 6);
    assert_eq!(server.json("/-/settings.json")["default_page_size"], 4);
}

#[test]
fn no_sql_threads_still_answer() {
    let server = Site::of(ONE_TABLE).args(&["--sql-threads", "0"]).start();
    assert_eq!(server.ids("/data/t.json"), [1]);
}

#[test]
fn what_a_configuration_keeps_secret_stays_secret() {
    let server = Site::of(ONE_TABLE)
        .config(&json!({"plugins": {"p": {"api_key": "k-123", "shown": "yes"}}}))
        .start();
    let config = server.text("/-/config.json");
    assert!(
        config.contains("yes") && !config.contains("k-123"),
        "{config}"
    );
}
