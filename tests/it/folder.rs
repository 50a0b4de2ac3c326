//! A folder in the place of files.

use serde_json::json;

use crate::server::Site;

const ROWS: &str = "create table t(id integer primary key); insert into t values (1), (2), (3);";

/// A site with a folder `site` of two databases.
fn site() -> Site {
    let site = Site::new();
    std::fs::create_dir(site.path("site")).unwrap();
    site.make("site/b", ROWS);
    site.make("site/a", ROWS);
    std::fs::rename(site.path("site/a.db"), site.path("site/a.sqlite")).unwrap();
    site
}

#[test]
fn what_it_holds_is_found() {
    let site = site().args(&["site"]);
    site.write("site/datasette.yaml", "settings:\n  default_page_size: 2\n");
    site.write(
        "site/metadata.yml",
        "title: From the folder\ndatabases:\n  b:\n    tables:\n      t:\n        sort_desc: id\n",
    );
    let server = site.start();
    let databases = server.json("/-/databases.json");
    let listed = databases["databases"].as_array().unwrap().iter();
    let names: Vec<_> = listed.map(|database| &database["name"]).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(server.ids("/b/t.json"), [3, 2]);
    assert!(server.text("/").contains("From the folder"));
}

#[test]
fn what_is_typed_goes_before_what_it_holds() {
    let site = site().args(&["site", "-m", "other.json"]);
    site.write("other.json", r#"{"title": "Typed"}"#);
    site.write("site/metadata.json", r#"{"title": "Held"}"#);
    let server = site.start();
    let page = server.text("/");
    assert!(page.contains("Typed") && !page.contains("Held"));
}

#[test]
fn databases_that_were_inspected_are_immutable() {
    let site = site().args(&["site"]);
    let data = json!({"b": {"hash": "abc", "size": std::fs::metadata(site.path("site/b.db")).unwrap().len(),
        "file": "b.db", "tables": {"t": {"count": 77}}}});
    site.write("site/inspect-data.json", data.to_string());
    let server = site.start();
    let databases = server.json("/-/databases.json")["databases"].take();
    assert_eq!(databases[0]["is_mutable"], false);
    assert_eq!(databases[0]["hash"], "abc");
    assert_eq!(databases[1]["is_mutable"], true);
    assert_eq!(server.json("/b/t.json?_extra=count")["count"], 77);
}

#[test]
fn plugins_are_left_alone_and_that_is_told() {
    let site = site().args(&["site"]);
    std::fs::create_dir(site.path("site/plugins")).unwrap();
    let server = site.start();
    server.expect_log("plugins are not supported");
    assert_eq!(server.json("/-/plugins.json"), json!([]));
}

#[test]
fn a_folder_without_databases_serves_the_one_in_memory_and_says_so() {
    let site = Site::new().args(&["empty"]);
    std::fs::create_dir(site.path("empty")).unwrap();
    let server = site.start();
    server.expect_log("there is no database");
    let databases = server.json("/-/databases.json");
    assert_eq!(databases["databases"][0]["name"], "_memory");
}

#[test]
fn two_folders_are_one_too_many() {
    let site = site().args(&["site", "more"]);
    std::fs::create_dir(site.path("more")).unwrap();
    let ended = site.run_to_end();
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
}
