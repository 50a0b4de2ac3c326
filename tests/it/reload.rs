//! `--reload`: new configuration without a new start.

use crate::server::Site;

const ROWS: &str = "create table t(id integer primary key, name text);
    insert into t values (1, 'a'), (2, 'b'), (3, 'c');";

/// A site whose pages have as many rows as its configuration says.
fn site() -> Site {
    let site = Site::of(ROWS).args(&["--reload", "-c", "c.yaml", "-m", "m.yaml"]);
    site.write("c.yaml", "settings: {default_page_size: 1}");
    site.write("m.yaml", "title: Old title");
    site
}

#[test]
fn a_changed_file_is_read_anew_and_the_server_stays() {
    let server = site().start();
    assert_eq!(server.ids("/data/t.json"), [1]);
    std::fs::write(server.path("c.yaml"), "settings: {default_page_size: 2}").unwrap();
    server.wait_until("the configuration is new", |server| {
        server.ids("/data/t.json") == [1, 2]
    });
    std::fs::write(server.path("m.yaml"), "title: New and longer title").unwrap();
    server.wait_until("the metadata is new", |server| {
        server.text("/").contains("New and longer title")
    });
    // The databases are those that they were.
    server
        .open("data.db")
        .execute_batch("delete from t where id = 1")
        .unwrap();
    assert_eq!(server.ids("/data/t.json"), [2, 3]);
}

#[test]
fn what_is_wrong_is_told_and_the_old_goes_on() {
    let server = site().start();
    server.expect_log("not reloaded");
    std::fs::write(server.path("c.yaml"), "settings: {default_page_sise: 2}").unwrap();
    server.wait_until("the mistake is told", |server| {
        server.has_logged("default_page_sise")
    });
    assert_eq!(server.ids("/data/t.json"), [1]);
    std::fs::write(server.path("c.yaml"), "settings: {default_page_size: 3}").unwrap();
    server.wait_until("it is mended", |server| {
        server.ids("/data/t.json") == [1, 2, 3]
    });
}

#[test]
fn who_is_logged_in_stays_so() {
    let server = site().args(&["--root"]).start();
    let login = server.get(&server.root_path());
    let cookie = login.header("set-cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    std::fs::write(server.path("c.yaml"), "settings: {default_page_size: 2}").unwrap();
    server.wait_until("the configuration is new", |server| {
        server.ids("/data/t.json") == [1, 2]
    });
    let actor = server.get_with("/-/actor.json", &[("cookie", &cookie)]);
    assert_eq!(actor.json()["actor"]["id"], "root");
}

#[test]
fn a_folder_gets_a_new_database() {
    let site = Site::new().args(&["site", "--reload"]);
    std::fs::create_dir(site.path("site")).unwrap();
    site.make("site/one", ROWS);
    let server = site.start();
    server.get("/two/t.json").error(404);
    server.open("site/two.db").execute_batch(ROWS).unwrap();
    server.wait_until("the second is there", |server| {
        server.get("/two/t.json").status == 200
    });
    assert_eq!(server.ids("/one/t.json"), [1, 2, 3]);
}

#[test]
fn memory_is_filled_anew() {
    let site = Site::new();
    let path = site.make("loaded", ROWS);
    let server = site.args(&["--reload", "--preload", &path]).start();
    assert_eq!(server.ids("/loaded/t.json"), [1, 2, 3]);
    server
        .open("loaded.db")
        .execute_batch("insert into t values (4, 'd'); create table more(x zeroblob); vacuum;")
        .unwrap();
    server.wait_until("it is filled anew", |server| {
        server.ids("/loaded/t.json") == [1, 2, 3, 4]
    });
}

#[test]
fn without_it_nothing_is_read_anew() {
    let site = Site::of(ROWS).args(&["-c", "c.yaml"]);
    site.write("c.yaml", "settings: {default_page_size: 1}");
    let server = site.start();
    assert_eq!(server.ids("/data/t.json"), [1]);
    assert!(!server.has_logged("reload"));
}
