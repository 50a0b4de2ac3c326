//! `turntable inspect` and `--inspect-file`.

use serde_json::{Value, json};

use crate::server::Site;

const MANY: &str = "create table many(id integer primary key);
    with recursive c(x) as (select 1 union all select x + 1 from c limit 20000)
    insert into many select x from c;
    create table [no rows](x);
    create view v as select * from many;";

fn inspect(site: &Site) -> Value {
    let ended = site.run_to_end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn files_are_told_with_hash_size_and_counts() {
    let site = Site::new();
    site.make("data", MANY);
    let bytes = std::fs::read(site.path("data.db")).unwrap();
    let told = inspect(&site.args(&["inspect", "data.db"]));
    assert_eq!(told["data"]["size"], bytes.len());
    assert_eq!(told["data"]["file"], "data.db");
    assert_eq!(told["data"]["hash"].as_str().unwrap().len(), 64);
    assert_eq!(
        told["data"]["tables"],
        json!({"many": {"count": 20000}, "no rows": {"count": 0}})
    );
}

#[test]
fn what_was_told_is_taken_up_by_an_immutable_file_alone() {
    let make = || {
        let site = Site::new();
        site.make("data", MANY);
        let bytes = std::fs::metadata(site.path("data.db")).unwrap().len();
        let told = |bytes: u64| json!({"data": {"hash": "ab12cd", "size": bytes, "file": "x", "tables": {"many": {"count": 123_456}}}});
        site.write("told.json", told(bytes).to_string());
        site.write("stale.json", told(bytes + 1).to_string());
        site
    };
    let count = "/data/many.json?_extra=count,count_truncated&_size=1";
    let server = make()
        .args(&["-i", "data.db", "--inspect-file", "told.json"])
        .start();
    let page = server.json(count);
    assert_eq!(page["count"], 123_456);
    assert_eq!(page["count_truncated"], false);
    let filtered = server.json(&format!("{count}&id__lt=5"));
    assert_eq!(filtered["count"], 4, "what was not told is counted");
    assert_eq!(server.json("/data.json")["tables"][0]["count"], 123_456);
    assert!(server.text("/data/many").contains("123,456 rows"));
    let databases = server.json("/-/databases.json");
    assert_eq!(databases["databases"][0]["hash"], "ab12cd");

    let server = make()
        .args(&["data.db", "--inspect-file", "told.json"])
        .start();
    assert_eq!(server.json(count)["count"], 10_001);

    let server = make()
        .args(&["-i", "data.db", "--inspect-file", "stale.json"])
        .start();
    server.expect_log("its size is another");
    assert_eq!(server.json(count)["count"], 10_001);
}

#[test]
fn what_is_written_is_read_back() {
    let site = Site::new();
    site.make("data", MANY);
    let site = site.args(&["inspect", "data.db", "--inspect-file", "out.json"]);
    let ended = site.run_to_end();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    let text = std::fs::read(site.path("out.json")).unwrap();
    let site = Site::new();
    site.make("data", MANY);
    site.write("out.json", text);
    let server = site
        .args(&["-i", "data.db", "--inspect-file", "out.json"])
        .start();
    let page = server.json("/data/many.json?_extra=count&_size=1");
    assert_eq!(page["count"], 20_000);
}

#[test]
fn without_files_there_is_the_one_in_memory() {
    let told = inspect(&Site::new().args(&["inspect"]));
    assert_eq!(
        told,
        json!({"_memory": {"hash": null, "size": 0, "file": null, "tables": {}}})
    );
}

#[test]
fn what_can_t_be_inspected_is_told_in_a_line() {
    let site = Site::new();
    site.write("letter.db", "Dear reader, this is no database. ".repeat(50));
    for (words, part) in [
        (&["inspect", "letter.db"][..], "letter.db"),
        (&["inspect", "missing.db"], "missing.db"),
        (&["--inspect-file", "letter.db"], "letter.db"),
        (&["--inspect-file", "missing.json"], "missing.json"),
    ] {
        let site = Site::new().args(words);
        site.write("letter.db", "Dear reader, this is no database. ".repeat(50));
        let ended = site.run_to_end();
        assert_eq!(ended.code, Some(1), "{words:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
}
