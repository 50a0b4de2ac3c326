//! `--load-extension`. The extension is compiled here, against no header: SQLite
//! keeps the order of its table of functions for ever.

use std::path::Path;
use std::process::Command;

use crate::server::Site;

/// `seven()` is 7, `next()` one more each time that anybody calls it.
const SOURCE: &str = r#"
typedef int (*create_function)(void *, const char *, int, int, void *,
    void (*)(void *, int, void **), void *, void *);
typedef void (*result_int)(void *, int);
static void **sqlite;
static int calls;
static void seven(void *context, int n, void **values) { ((result_int)sqlite[82])(context, 7); }
static void next(void *context, int n, void **values) { ((result_int)sqlite[82])(context, ++calls); }
int other_entry(void *db, char **error, void **api) {
    sqlite = api;
    ((create_function)api[45])(db, "next", 0, 1, 0, next, 0, 0);
    return ((create_function)api[45])(db, "seven", 0, 1, 0, seven, 0, 0);
}
int sqlite3_extension_init(void *db, char **error, void **api) { return other_entry(db, error, api); }
"#;

/// Compiles the extension to `ext.so` in a folder.
pub fn compile(folder: &Path) {
    std::fs::write(folder.join("ext.c"), SOURCE).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "ext.so", "ext.c"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
}

fn site() -> Site {
    let site = Site::of(
        "create table t(id integer primary key); insert into t values (1);
         create view moving as select next() as id from t;",
    );
    compile(&site.path(""));
    site
}

const SEVEN: &str = "/data/-/query.json?sql=select+seven()+as+id";

#[test]
fn every_connection_has_its_functions() {
    let server = site().args(&["--load-extension", "./ext"]).start();
    for _ in 0..20 {
        assert_eq!(server.ids(SEVEN), [7]);
    }
}

#[test]
fn an_entry_point_and_the_environment_may_name_it() {
    let server = site()
        .args(&["--load-extension", "./ext.so:other_entry"])
        .start();
    assert_eq!(server.ids(SEVEN), [7]);
    let server = site()
        .variable("DATASETTE_LOAD_EXTENSION", "./ext.so")
        .start();
    assert_eq!(server.ids(SEVEN), [7]);
}

#[test]
fn visitors_load_nothing() {
    let server = site().args(&["--load-extension", "./ext.so"]).start();
    let load = "/data/-/query.json?sql=select+load_extension('./ext.so')";
    assert!(server.get(load).error(400).contains("not authorized"));
}

#[test]
fn a_view_that_uses_one_of_its_functions_is_made_anew_each_time() {
    let server = site().args(&["--load-extension", "./ext.so"]).start();
    let first = server.ids("/data/moving.json");
    assert_ne!(first, server.ids("/data/moving.json"));
}

#[test]
fn one_that_can_t_be_loaded_keeps_the_program_from_starting() {
    for extension in ["./none.so", "./ext.so:no_such_entry", "./ext.c"] {
        let ended = site().args(&["--load-extension", extension]).run_to_end();
        assert_eq!(ended.code, Some(1), "{extension}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(ended.stderr.contains("cannot load the extension"));
    }
}

#[test]
fn files_are_inspected_with_it() {
    let site = site();
    let ended = Command::new(env!("CARGO_BIN_EXE_turntable"))
        .args(["inspect", "data.db", "--load-extension", "./ext.so"])
        .current_dir(site.path(""))
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}
