//! Values from elsewhere, mistakes in files, and options that are hard to see.

use serde_json::json;

use crate::server::{Site, open};

const ROWS: &str = "create table t(id integer primary key); insert into t values (1), (2), (3);";

#[test]
fn the_environment_and_files_give_values_that_no_page_shows() {
    let site = Site::of(ROWS)
        .variable("PAGE_SIZE", "2")
        .variable("SITE_TITLE", "Titled from outside")
        .args(&["-m", "m.json"])
        .config(&json!({
            "settings": {"default_page_size": {"$env": "PAGE_SIZE"}},
            "plugins": {"p": {"url": {"$env": "SITE_TITLE"}, "list": [{"$file": "s.txt"}]}}
        }));
    site.write("m.json", r#"{"title": {"$env": "SITE_TITLE"}}"#);
    site.write("s.txt", "from a file");
    let server = site.start();
    assert_eq!(server.ids("/data/t.json"), [1, 2]);
    assert!(server.text("/").contains("Titled from outside"));
    let config = server.json("/-/config.json");
    assert_eq!(
        config["plugins"]["p"],
        json!({"url": "***", "list": ["***"]})
    );
    assert_eq!(config["settings"]["default_page_size"], "***");
}

#[test]
fn a_variable_that_is_not_set_is_warned_of_once() {
    let reference = json!({"$env": "TURNTABLE_IS_NOT_SET"});
    let server = Site::of(ROWS)
        .config(&json!({"plugins": {"p": {"a": reference, "b": reference}}}))
        .start();
    server.expect_log("TURNTABLE_IS_NOT_SET");
    let log = server.stop();
    let told = log.iter().filter(|line| line.contains("IS_NOT_SET"));
    assert_eq!(told.count(), 1, "{log:?}");
}

#[test]
fn a_mistake_in_a_file_is_told_in_a_line_with_the_file_s_name() {
    for (text, part) in [
        ("settings: [", "not valid JSON or YAML"),
        ("- 1", "a mapping is expected"),
        ("settings: {default_page_size: many}", "default_page_size"),
        ("settings: {default_page_sise: 1}", "\"default_page_size\""),
        ("settings: 5", "settings"),
        ("plugins: {p: {$file: no-such-file}}", "no-such-file"),
    ] {
        let site = Site::of(ROWS).args(&["-c", "wrong.yaml"]);
        site.write("wrong.yaml", text);
        let ended = site.run_to_end();
        assert_eq!(ended.code, Some(1), "{text}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(
            ended.stderr.contains("wrong.yaml") && ended.stderr.contains(part),
            "{ended:?}"
        );
    }
}

#[test]
fn a_key_that_means_nothing_is_warned_of() {
    let server = Site::of(ROWS).config(&json!({"setings": {}})).start();
    server.expect_log("did you mean \"settings\"?");
}

#[test]
fn metadata_that_is_no_text_is_shown_as_json() {
    let site = Site::of(ROWS).args(&["-m", "m.yaml"]);
    site.write(
        "m.yaml",
        "databases: {data: {tables: {t: {custom: {a: [1, é]}}}}}",
    );
    let page = site.start().json("/data/t.json?_extra=metadata");
    assert_eq!(page["metadata"]["custom"], r#"{"a": [1, "\u00e9"]}"#);
}

#[test]
fn a_file_that_is_locked_is_read_with_nolock() {
    let site = Site::of(ROWS).args(&["--nolock"]);
    let holder = open(&site.path("data.db"));
    holder
        .execute_batch("pragma locking_mode = exclusive; begin exclusive")
        .unwrap();
    let server = site.start();
    assert_eq!(server.ids("/data/t.json"), [1, 2, 3]);
    holder.execute_batch("rollback").unwrap();
}

#[test]
fn a_browser_is_opened_at_the_page_to_begin_with() {
    use std::os::unix::fs::PermissionsExt as _;

    let site = Site::of(ROWS).args(&["--open"]);
    let script = site.write("xdg-open", "#!/bin/sh\nprintf %s \"$1\" > opened\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", site.path("").display());
    let server = site.variable("PATH", &path).start();
    // Whoever is let in as root begins there.
    let expected = format!("http://{}{}", server.address(), server.root_path());
    server.wait_until("the browser is called", |server| {
        std::fs::read_to_string(server.path("opened")).is_ok_and(|url| url == expected)
    });
}
