//! The pages around tables: schemas, a search of a whole database, jumping,
//! autocompletion, downloads in parts, the list of actions.

use serde_json::{Value, json};

use crate::server::{Answer, ROOT, Server, Site};

const LIBRARY: &str = "create table author(id integer primary key, name text);
    insert into author values (1, 'Ann Fox'), (2, 'Bob'), (3, '100% Fox'), (12, 'Zed');
    create table book(id integer primary key, title text, author integer references author(id), body text);
    insert into book values (1, 'One', 1, 'the quick <b>fox</b>'), (2, 'Two', 1, 'a dog'), (3, 'Three', 2, 'fox fox');
    create virtual table book_fts using fts5(title, body, content=[book], content_rowid='id');
    insert into book_fts(book_fts) values ('rebuild');
    create index book_author on book(author);
    create view titles as select title from book;";

fn library() -> Server {
    Site::of(LIBRARY).start()
}

fn names(answer: &Value) -> Vec<&str> {
    let matches = answer["matches"].as_array().unwrap().iter();
    matches
        .map(|found| found["name"].as_str().unwrap())
        .collect()
}

/// The keys of the rows that were found.
fn ids(answer: &Value) -> Vec<i64> {
    let rows = answer["rows"].as_array().unwrap().iter();
    rows.map(|row| row["pks"]["id"].as_i64().unwrap()).collect()
}

#[test]
fn a_schema_comes_in_three_forms_at_three_levels() {
    let server = library();
    let author = "CREATE TABLE author(id integer primary key, name text)";
    assert_eq!(
        server.json("/data/author/-/schema.json"),
        json!({"ok": true, "database": "data", "table": "author", "schema": author})
    );
    let markdown = server.get("/data/author/-/schema.md").ok();
    assert_eq!(
        markdown.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    let expected = format!("# Schema for data.author\n\n```sql\n{author}\n```\n");
    assert_eq!(markdown.text(), expected);

    let database = server.json("/data/-/schema.json");
    let schema = database["schema"].as_str().unwrap();
    assert!(
        schema.starts_with(&format!("{author};\nCREATE TABLE book(")),
        "{schema}"
    );
    assert!(schema.contains("CREATE INDEX book_author") && schema.ends_with("from book"));
    assert!(
        !schema.contains("book_fts_data"),
        "the inside of an index is left out"
    );
    assert_eq!(
        server.json("/-/schema.json"),
        json!({"ok": true, "schemas": [{"database": "data", "schema": schema}]})
    );
    for page in ["/-/schema", "/data/-/schema", "/data/titles/-/schema"] {
        let html = server.text(page);
        assert!(html.contains("CREATE VIEW titles"), "{page}");
    }
}

#[test]
fn what_is_not_there_has_no_schema_in_any_form() {
    let server = library();
    for path in ["/data/nope/-/schema", "/nope/-/schema", "/nope/t/-/schema"] {
        assert_eq!(server.get(path).status, 404, "{path}");
        let json = server.get(&format!("{path}.json"));
        assert_eq!(
            (json.status, &json.json()["ok"]),
            (404, &json!(false)),
            "{path}"
        );
        let text = server.get(&format!("{path}.md"));
        assert_eq!(
            text.header("content-type"),
            Some("text/plain; charset=utf-8")
        );
    }
    assert_eq!(server.get("/data/author/-/schema.csv").status, 404);
}

#[test]
fn a_new_table_is_in_the_schema_at_once() {
    let server = library();
    let first = server.get("/data/-/schema.json").ok();
    let etag = first.header("etag").unwrap().to_owned();
    let again = server.get_with("/data/-/schema.json", &[("if-none-match", &etag)]);
    assert_eq!(again.status, 304);
    assert!(names(&server.json("/-/jump.json?q=fresh")).is_empty());
    server
        .open("data.db")
        .execute_batch("create table fresh(x)")
        .unwrap();
    let changed = server
        .get_with("/data/-/schema.json", &[("if-none-match", &etag)])
        .ok();
    assert!(changed.text().contains("CREATE TABLE fresh(x)"));
    assert_eq!(names(&server.json("/-/jump.json?q=fresh")), ["data: fresh"]);
}

#[test]
fn one_jumps_to_what_a_part_of_its_name_finds() {
    let server = Site::of(LIBRARY).setting("base_url", "/pre/").start();
    let found = server.json("/pre/-/jump.json?q=BOOK");
    assert_eq!(
        found["matches"][0],
        json!({"name": "data: book", "url": "/pre/data/book", "type": "table", "description": null})
    );
    assert_eq!(found["truncated"], false);
    assert_eq!(
        names(&server.json("/pre/-/jump?q=data+tit")),
        ["data: titles"]
    );
    assert_eq!(names(&server.json("/pre/-/jump"))[0], "data");
    assert!(names(&server.json("/pre/-/jump?q=settings")).is_empty());
}

#[test]
fn who_may_look_inside_jumps_to_the_pages_about_the_server() {
    let config = json!({"permissions": {"permissions-debug": {"id": "root"}}});
    let server = Site::of(LIBRARY).config(&config).start();
    let found = server
        .get_with("/-/jump.json?q=settings", &[("cookie", ROOT)])
        .ok();
    let url = &found.json()["matches"][0]["url"];
    assert_eq!(*url, "/-/settings");
    assert_eq!(server.get(url.as_str().unwrap()).status, 200);
    let actions = server
        .get_with("/-/actions.json", &[("cookie", ROOT)])
        .ok()
        .json();
    let first = &actions["actions"][0];
    assert_eq!(
        (&first["name"], &first["also_requires"]),
        (&json!("execute-sql"), &json!("view-database"))
    );
    assert_eq!(server.get("/-/actions.json").status, 403);
}

#[test]
fn an_allow_block_can_be_tried() {
    let server = library();
    let tried = |actor: &str, allow: &str| {
        let encode = |text: &str| -> String {
            text.bytes()
                .map(|byte| format!("%{byte:02X}"))
                .collect::<Vec<_>>()
                .concat()
        };
        server.text(&format!(
            "/-/allow-debug?actor={}&allow={}",
            encode(actor),
            encode(allow)
        ))
    };
    assert!(tried(r#"{"id": "ann"}"#, r#"{"id": ["ann", "bob"]}"#).contains("is let in"));
    assert!(tried(r#"{"id": "eve"}"#, r#"{"id": ["ann", "bob"]}"#).contains("is kept out"));
    assert!(tried("", r#"{"unauthenticated": true}"#).contains("is let in"));
    assert!(tried("null", "false").contains("is kept out"));
    let wrong = tried("[1]", "{\"id\": <b>");
    assert!(wrong.contains("The actor is an object") && wrong.contains("The block is not JSON"));
    assert!(wrong.contains("&lt;b&gt;"), "{wrong}");
    let empty = server.text("/-/allow-debug");
    assert!(!empty.contains("is let in") && !empty.contains("message-error"));
}

#[test]
fn everybody_can_ask_what_they_may_do() {
    let config = json!({"databases": {"data": {"tables": {"book": {"allow": {"id": "root"}}}}}});
    let server = Site::of(LIBRARY).config(&config).start();
    let path = "/-/allowed.json?action=view-table";
    let found = server.json(path);
    assert_eq!(
        (&found["total"], &found["actor_id"]),
        (&json!(2), &json!(null))
    );
    let author = json!({"parent": "data", "child": "author", "resource": "/data/author"});
    assert_eq!(found["items"][0], author);
    let root = server.get_with(path, &[("cookie", ROOT)]).ok().json();
    assert_eq!(
        (&root["total"], &root["actor_id"]),
        (&json!(4), &json!("root"))
    );
    let first = server.json(&format!("{path}&_size=1"));
    let second = server.json(first["next_url"].as_str().unwrap());
    assert_eq!(second["items"][0]["child"], "titles");
    assert!(second["next_url"].is_null() && second["previous_url"].is_string());
    assert_eq!(
        server.json(&format!("{path}&parent=data&child=book"))["total"],
        0
    );
    assert_eq!(
        server.json("/-/allowed.json?action=view-database")["items"][0]["child"],
        json!(null)
    );
    for (query, status) in [
        ("", 400),
        ("?action=nope", 404),
        ("?action=view-table&_size=x", 400),
        ("?action=view-table&_size=201", 400),
        ("?action=view-table&child=book", 400),
    ] {
        assert_eq!(
            server.get(&format!("/-/allowed.json{query}")).status,
            status,
            "{query}"
        );
    }
    assert!(server.text("/-/allowed").contains("data: titles"));
}

#[test]
fn rows_of_a_view_have_no_pages() {
    let server = library();
    let answer = server.get("/data/titles/1.json");
    assert_eq!((answer.status, &answer.json()["ok"]), (404, &json!(false)));
    assert_eq!(server.get("/data/titles/1").status, 404);
}

#[test]
fn rows_are_completed_by_label_and_by_key() {
    let server = library();
    let complete = |query: &str| server.json(&format!("/data/author/-/autocomplete?{query}"));
    assert_eq!(
        complete("q=FOX"),
        json!({"ok": true, "rows": [
            {"pks": {"id": 1}, "label": "Ann Fox"}, {"pks": {"id": 3}, "label": "100% Fox"}]})
    );
    assert_eq!(ids(&complete("q=1")), [1, 3, 12]);
    assert_eq!(ids(&complete("q=%25")), [3], "it is no wildcard");
    assert!(ids(&complete("q=_")).is_empty());
    assert!(ids(&complete("q=")).is_empty());
    assert_eq!(ids(&complete("_initial=1")), [12, 3, 2, 1]);
}

#[test]
fn what_cannot_be_completed_says_so_in_json() {
    let server = library();
    let long = "x".repeat(600);
    for (path, status) in [
        ("/data/titles/-/autocomplete?q=a", 400),
        ("/data/nope/-/autocomplete?q=a", 404),
        ("/nope/t/-/autocomplete?q=a", 404),
        ("/data/author/-/autocomplete?_initial=maybe", 400),
        (&format!("/data/author/-/autocomplete?q={long}"), 400),
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, &answer.json()["ok"]),
            (status, &json!(false)),
            "{path}"
        );
    }
}

#[test]
fn a_table_that_is_too_large_gives_what_was_found_in_time() {
    let sql = "create table t(id integer primary key, name text);
        insert into t with recursive c(x) as (select 1 union all select x + 1 from c where x < 400000)
            select x, 'name ' || x from c;";
    let server = Site::of(sql).setting("sql_time_limit_ms", "1").start();
    let found = server.json("/data/t/-/autocomplete?q=399999");
    assert_eq!(
        found["rows"],
        json!([{"pks": {"id": 399_999}, "label": "name 399999"}])
    );
    assert_eq!(found["truncated"], true);
}

#[test]
fn a_search_of_the_database_finds_rows_of_each_table() {
    let server = library();
    let found = server.json("/data/-/search.json?q=fox");
    let table = &found["tables"][0];
    assert_eq!(
        (&table["table"], &table["count"]),
        (&json!("book"), &json!(2))
    );
    assert_eq!(table["url"], "/data/book?_search=fox");
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["pks"]["id"] == 1).unwrap();
    assert_eq!(
        (&row["label"], &row["url"]),
        (&json!("One"), &json!("/data/book/1"))
    );
    assert_eq!(row["snippet"], "the quick <b>fox</b>");
    let html = server.text("/data/-/search?q=fox");
    assert!(
        html.contains("the quick &lt;b&gt;<mark>fox</mark>&lt;/b&gt;"),
        "{html}"
    );
    assert!(html.contains("href=\"/data/book?_search=fox\""));
    let nothing = server.text("/data/-/search?q=wolf");
    assert!(nothing.contains("Nothing was found"), "{nothing}");
}

#[test]
fn a_search_box_is_where_there_is_something_to_search() {
    let server = Site::of(LIBRARY)
        .database("plain", "create table t(x)")
        .start();
    assert!(server.text("/data").contains("action=\"/data/-/search\""));
    assert!(!server.text("/plain").contains("/-/search"));
    let page = server.text("/plain/-/search?q=x");
    assert!(
        page.contains("No table of this database has a full-text index"),
        "{page}"
    );
    assert_eq!(server.json("/plain/-/search.json?q=x")["tables"], json!([]));
    assert_eq!(server.get("/nope/-/search?q=x").status, 404);
    assert_eq!(server.get("/data/-/search.csv?q=x").status, 404);
    assert_eq!(server.get("/data/-/search?q=%22").status, 200);
}

#[test]
fn nothing_tells_of_a_table_that_may_not_be_seen() {
    let config = json!({"databases": {"data": {"tables": {"book": {"allow": {"id": "root"}}}}}});
    let server = Site::of(LIBRARY).config(&config).start();
    for path in [
        "/-/schema",
        "/-/schema.json",
        "/-/schema.md",
        "/data/-/schema.json",
        "/-/jump.json?q=book",
        "/data/-/search?q=fox",
        "/data/-/search.json?q=fox",
        "/data",
    ] {
        let text = server.text(path);
        let seen =
            text.contains("book_fts") || text.contains("TABLE book") || text.contains("/data/book");
        assert!(!seen, "{path}: {text}");
    }
    for path in ["/data/book/-/schema.json", "/data/book/-/autocomplete?q=o"] {
        assert_eq!(server.get(path).status, 403, "{path}");
        let root = server.get_with(path, &[("cookie", ROOT)]);
        assert_eq!(root.status, 200, "{path}");
    }
    let root = server
        .get_with("/data/-/search.json?q=fox", &[("cookie", ROOT)])
        .ok();
    assert_eq!(root.json()["tables"][0]["table"], "book");
}

#[test]
fn a_closed_database_is_closed_to_these_pages_too() {
    let config = json!({"databases": {"data": {"allow": false}}});
    let server = Site::of(LIBRARY).config(&config).start();
    for path in [
        "/data/-/schema",
        "/data/-/schema.md",
        "/data/-/search?q=x",
        "/data/-/search.json?q=x",
        "/data/author/-/schema.json",
        "/data/author/-/autocomplete?q=a",
    ] {
        assert_eq!(server.get(path).status, 403, "{path}");
    }
    assert_eq!(server.json("/-/schema.json")["schemas"], json!([]));
    assert!(names(&server.json("/-/jump.json")).is_empty());
}

#[test]
fn heads_of_these_pages_have_no_body() {
    let server = library();
    for path in [
        "/-/schema",
        "/data/-/schema.json",
        "/data/author/-/schema.md",
        "/-/jump.json",
        "/data/-/search?q=fox",
        "/data/author/-/autocomplete?q=a",
    ] {
        let head = server.head(path);
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(
            head.header("etag"),
            server.get(path).header("etag"),
            "{path}"
        );
    }
}

/// The part of the file that an answer has, from its first byte on.
fn assert_part(answer: &Answer, file: &[u8], first: usize, last: usize) {
    assert_eq!(answer.status, 206);
    let range = format!("bytes {first}-{last}/{}", file.len());
    assert_eq!(answer.header("content-range"), Some(range.as_str()));
    assert_eq!(answer.body, file[first..=last]);
}

#[test]
fn a_download_can_be_resumed() {
    let server = Site::new().immutable("data", LIBRARY).start();
    let whole = server.get("/data.db").ok();
    let file = std::fs::read(server.path("data.db")).unwrap();
    assert_eq!(whole.body, file);
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(
        whole.header("content-length"),
        Some(file.len().to_string().as_str())
    );
    let etag = whole.header("etag").unwrap();
    let part = |range: &str| server.get_with("/data.db", &[("range", range)]);
    let end = file.len() - 1;
    assert_part(&part("bytes=0-99"), &file, 0, 99);
    assert_part(&part("bytes=4000-"), &file, 4000, end);
    assert_part(&part("bytes=-10"), &file, end - 9, end);
    let resumed = [("range", "bytes=100-"), ("if-range", etag)];
    assert_part(&server.get_with("/data.db", &resumed), &file, 100, end);
    let other = [("range", "bytes=100-"), ("if-range", "\"other\"")];
    assert_eq!(server.get_with("/data.db", &other).status, 200);
    assert_eq!(
        part("bytes=0-1,4-5").ok().body,
        file,
        "several parts are the whole"
    );
    let beyond = part("bytes=999999999-");
    assert_eq!(beyond.status, 416);
    let range = format!("bytes */{}", file.len());
    assert_eq!(beyond.header("content-range"), Some(range.as_str()));
    let head = server.head_with("/data.db", &[("range", "bytes=0-9")]);
    assert_eq!(head.status, 200);
}
