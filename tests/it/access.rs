//! Who may see what: rules of the configuration, cookies, tokens, logging in and out.

use serde_json::{Value, json};
use turntable::auth::{Actor, Signer, signed_cookie};

use crate::server::{Answer, ROOT, Server, Site};

const SHOP: &str = "create table cat(id integer primary key, name text);
    insert into cat values (1, 'crimson'), (2, 'blue');
    create table item(id integer primary key, cat integer references cat(id), title text);
    insert into item values (1, 1, 'one'), (2, 2, 'two');
    create virtual table cat_fts using fts5(name, content='cat', content_rowid='id');
    insert into cat_fts(cat_fts) values ('rebuild');
    create view names as select name from cat;";

/// The cookie of an actor with this id.
fn cookie(id: &str) -> String {
    let signer = Signer::new("case-secret".to_owned());
    let set = signed_cookie(&signer, &Actor::with_id(id), false, "/");
    set.split(';').next().unwrap().to_owned()
}

fn get_as(server: &Server, id: &str, path: &str) -> Answer {
    server.get_with(path, &[("cookie", &cookie(id))])
}

fn names(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn a_cookie_says_who_asks_and_a_false_one_says_nothing() {
    let server = Site::of(SHOP).start();
    assert_eq!(
        server.json("/-/actor.json"),
        json!({"ok": true, "actor": null})
    );
    let root = server.get_with("/-/actor.json", &[("cookie", ROOT)]).ok();
    assert_eq!(root.json(), json!({"ok": true, "actor": {"id": "root"}}));
    assert_eq!(root.header("cache-control"), Some("private, no-store"));
    for wrong in ["ds_actor=x.y; other=%%%", "ds_actor=", "ds_actor"] {
        let answer = server.get_with("/-/actor.json", &[("cookie", wrong)]).ok();
        assert_eq!(answer.json()["actor"], json!(null), "{wrong}");
    }
}

#[test]
fn a_token_that_is_not_valid_is_refused_in_json() {
    let server = Site::of(SHOP).start();
    let headers = [("authorization", "Bearer dstok_notvalid")];
    let answer = server.get_with("/data/item", &headers);
    assert_eq!(answer.status, 401);
    assert!(
        answer
            .header("www-authenticate")
            .unwrap()
            .starts_with("Bearer")
    );
    assert_eq!(answer.json()["ok"], false);
}

#[test]
fn a_closed_site_is_closed_in_every_form_and_open_to_those_it_names() {
    let config = json!({"allow": {"id": "ann"}});
    let server = Site::of(SHOP).config(&config).start();
    let pages = [
        "/",
        "/.json",
        "/data",
        "/data.json",
        "/data/item",
        "/data/item.json",
        "/data/item.csv",
        "/data/item/1",
        "/data/item/1.json",
        "/data/-/query?sql=select+1",
        "/data/-/query.json?sql=select+1",
        "/-/versions.json",
        "/-/databases.json",
        "/data/nope",
        "/nope/nope.json",
    ];
    for path in pages {
        assert_eq!(server.get(path).status, 403, "{path}");
        assert_eq!(get_as(&server, "bob", path).status, 403, "{path}");
    }
    for path in &pages[..pages.len() - 2] {
        assert_eq!(get_as(&server, "ann", path).status, 200, "{path}");
    }
    assert_eq!(server.get("/-/static/app.css").status, 200);
    assert_eq!(server.get("/data/item.json").json()["status"], 403);
    assert_eq!(get_as(&server, "ann", "/data/nope").status, 404);
}

#[test]
fn a_private_table_is_nowhere() {
    let config = json!({"databases": {"data": {"tables": {"cat": {"allow": {"id": "ann"}}}}}});
    let server = Site::of(SHOP).config(&config).start();
    for path in [
        "/data/cat",
        "/data/cat.json",
        "/data/cat/1",
        "/data/cat.csv?_stream=on",
    ] {
        assert_eq!(server.get(path).status, 403, "{path}");
        assert_eq!(get_as(&server, "ann", path).status, 200, "{path}");
    }
    let listed = server.json("/data.json");
    assert_eq!(names(&listed["tables"]), ["item"]);
    assert_eq!(listed["tables"][0]["foreign_keys"]["outgoing"], json!([]));
    assert!(!listed["table_columns"].to_string().contains("cat_fts"));
    assert_eq!(
        names(&server.json("/.json")["databases"][0]["tables_and_views_truncated"]),
        ["item", "names"]
    );
    for path in [
        "/data",
        "/",
        "/data/item",
        "/data/item.json?_labels=on",
        "/data/item.json?_facet=cat",
        "/data/item/1",
        "/data/item/1.json?_extra=foreign_key_tables",
        "/data/item.csv?_labels=on",
        "/data/item.json?_extra=expandable_columns,suggested_facets",
    ] {
        let text = server.text(path);
        assert!(
            !text.contains("crimson") && !text.contains("/data/cat"),
            "{path}: {text}"
        );
    }
    let through =
        "/data/item.json?_through={\"table\":\"cat\",\"column\":\"name\",\"value\":\"crimson\"}";
    assert_eq!(server.get(&through.replace('"', "%22")).status, 400);
    assert_ne!(server.get("/data/cat_fts").status, 200);
    assert_ne!(
        server
            .get("/data/item.json?_search=crimson&_fts_table=cat_fts")
            .status,
        200
    );
}

#[test]
fn what_one_may_see_is_not_kept_for_another() {
    let config = json!({"databases": {"data": {"tables": {"cat": {"allow": {"id": "ann"}}}}}});
    let server = Site::of(SHOP).config(&config).start();
    for path in [
        "/data/item",
        "/data/item.json?_labels=on",
        "/data/item.json?_facet=cat",
        "/data",
        "/data/item/1",
    ] {
        for _ in 0..2 {
            let ann = get_as(&server, "ann", path).ok();
            assert!(ann.text().contains("crimson") || path == "/data", "{path}");
            assert!(ann.header("vary").unwrap().contains("Cookie"));
            assert_eq!(ann.header("cache-control"), Some("private, no-store"));
            let tag = ann.header("etag").unwrap();
            let other = server.get_with(path, &[("if-none-match", tag)]);
            assert_eq!(other.status, 200, "{path}");
            assert!(!other.text().contains("crimson"), "{path}");
        }
    }
}

#[test]
fn those_who_see_more_see_that_it_is_private() {
    let config = json!({"databases": {"data": {"tables": {"cat": {"allow": {"id": "ann"}}}}}});
    let server = Site::of(SHOP).config(&config).start();
    let ann = get_as(&server, "ann", "/data.json").ok().json();
    let private = |name: &str| {
        let tables = ann["tables"].as_array().unwrap();
        tables.iter().find(|table| table["name"] == name).unwrap()["private"].clone()
    };
    assert_eq!(
        (private("cat"), private("item")),
        (json!(true), json!(false))
    );
    assert!(
        get_as(&server, "ann", "/data/cat")
            .text()
            .contains(">private<")
    );
    assert!(
        !get_as(&server, "ann", "/data/item")
            .text()
            .contains(">private<")
    );
    assert!(get_as(&server, "ann", "/data").text().contains("/-/logout"));
}

#[test]
fn sql_is_for_those_who_may() {
    let config = json!({"databases": {"data": {"allow_sql": {"id": "ann"}}}});
    let server = Site::of(SHOP).config(&config).start();
    for path in [
        "/data/-/query.json?sql=select+1",
        "/data/item.json?_where=id%3E1",
        "/data/-/query/parameters?sql=select+1",
    ] {
        assert_eq!(server.get(path).status, 403, "{path}");
        assert_eq!(get_as(&server, "ann", path).status, 200, "{path}");
    }
    assert!(!server.text("/data").contains("<textarea"));
    assert!(!server.text("/data/item").contains("/-/query"));
    let listed = server.json("/data.json");
    assert_eq!(
        (&listed["allow_execute_sql"], &listed["table_columns"]),
        (&json!(false), &json!({}))
    );
}

#[test]
fn a_table_can_be_open_in_a_closed_database() {
    let config =
        json!({"databases": {"data": {"allow": false, "tables": {"item": {"allow": true}}}}});
    let server = Site::of(SHOP)
        .database("other", "create table o(x)")
        .config(&config)
        .start();
    assert_eq!(server.ids("/data/item.json"), [1, 2]);
    assert_eq!(server.get("/data").status, 403);
    assert_eq!(server.get("/data/-/query?sql=select+1").status, 403);
    assert_eq!(names(&server.json("/.json")["databases"]), ["other"]);
    assert_eq!(
        names(&server.json("/-/databases.json")["databases"]),
        ["other"]
    );
}

#[test]
fn the_configuration_names_only_what_one_may_see() {
    let config = json!({"databases": {
        "data": {"tables": {"cat": {"allow": {"id": "ann"}}, "item": {"size": 5}},
                 "queries": {"secret": {"sql": "select 1", "allow": false}}},
        "other": {"allow": {"id": "ann"}}}});
    let server = Site::of(SHOP).config(&config).start();
    let shown = server.json("/-/config.json").to_string();
    assert!(
        shown.contains("item") && shown.contains("\"size\":5"),
        "{shown}"
    );
    for private in ["cat", "secret", "other"] {
        assert!(!shown.contains(private), "{private}: {shown}");
    }
    let shown = get_as(&server, "ann", "/-/config.json").text();
    assert!(shown.contains("cat") && shown.contains("other") && !shown.contains("secret"));
}

#[test]
fn root_gets_in_once_and_out_again() {
    let server = Site::of(SHOP).start();
    assert_eq!(server.get("/-/threads.json").status, 403);
    assert_eq!(server.get("/-/auth-token").status, 403);
    assert_eq!(server.get("/-/auth-token?token=guess").status, 403);
    let path = server.root_path();
    let answer = server.get(&path);
    assert_eq!(answer.status, 302);
    let cookie = answer
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap();
    assert_eq!(cookie, ROOT);
    assert_eq!(server.get(&path).status, 403, "a second time");
    assert_eq!(
        server.get_with("/-/logout", &[("cookie", ROOT)]).status,
        200
    );
    assert_eq!(server.get("/-/logout").status, 302);
    let out = server.post("/-/logout", "");
    assert_eq!(out.status, 302);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
}

#[test]
fn a_page_of_another_site_changes_nothing() {
    let server = Site::of(SHOP).start();
    for header in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "http://evil.example"),
    ] {
        let answer = server.post_with("/-/logout", "", &[header]);
        assert_eq!(answer.status, 403, "{header:?}");
        assert_eq!(answer.header("set-cookie"), None);
    }
    assert_eq!(
        server
            .post_with("/-/logout", "", &[("sec-fetch-site", "same-origin")])
            .status,
        302
    );
}
