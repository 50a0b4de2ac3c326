//! How SQLite was built: without the locks that all threads of a process share.

use rusqlite::Connection;

use crate::server::Site;

/// The options of the library that these tests are linked with.
fn of_the_library() -> Vec<String> {
    let connection = Connection::open_in_memory().unwrap();
    let mut statement = connection.prepare("pragma compile_options").unwrap();
    let options = statement.query_map([], |row| row.get(0)).unwrap();
    options.collect::<Result<_, _>>().unwrap()
}

/// The options of the library that the program runs on.
fn of_the_program() -> Vec<String> {
    let versions = Site::new().start().json("/-/versions.json");
    let options = versions["sqlite"]["compile_options"].as_array().unwrap();
    let text = |option: &serde_json::Value| option.as_str().unwrap().to_owned();
    options.iter().map(text).collect()
}

#[test]
fn sqlite_has_no_page_cache_for_the_whole_process() {
    for options in [of_the_library(), of_the_program()] {
        assert!(options.len() > 10, "{options:?}");
        let shared = options
            .iter()
            .any(|o| o.contains("ENABLE_MEMORY_MANAGEMENT"));
        assert!(!shared, "{options:?}");
    }
}

#[test]
fn sqlite_keeps_no_allocation_statistics() {
    for options in [of_the_library(), of_the_program()] {
        assert!(
            options.contains(&"DEFAULT_MEMSTATUS=0".to_owned()),
            "{options:?}"
        );
    }
}

#[test]
fn sqlite_can_open_the_snapshot_of_another_connection() {
    for options in [of_the_library(), of_the_program()] {
        assert!(
            options.contains(&"ENABLE_SNAPSHOT".to_owned()),
            "{options:?}"
        );
    }
}

#[test]
fn sqlite_may_be_used_from_several_threads() {
    for options in [of_the_library(), of_the_program()] {
        let safe = options
            .iter()
            .any(|o| o == "THREADSAFE=1" || o == "THREADSAFE=2");
        assert!(safe, "{options:?}");
    }
}

#[test]
fn tables_of_the_modules_that_people_use_can_be_read() {
    let server = Site::of(
        "create virtual table box using rtree(id, low, high);
         insert into box values (7, 1.5, 2.5);
         create virtual table word using fts5(text);
         insert into word values ('an apple');
         create virtual table old using fts4(text);
         insert into old values ('a pear');",
    )
    .start();
    assert_eq!(server.ids("/data/box.json?id=7"), [7]);
    assert_eq!(server.column("/data/word.json", "text"), ["an apple"]);
    assert_eq!(server.column("/data/old.json", "text"), ["a pear"]);
}
