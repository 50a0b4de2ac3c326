//! Queries of the configuration: their pages, their parameters, their lists.

use serde_json::{Value, json};
use turntable::auth::{Actor, Signer, signed_cookie};

use crate::server::{Server, Site};

const S: &str = "create table s(id integer primary key, name text);
    insert into s values (1, 'ann'), (2, 'bob'), (3, 'bob');
    create table both(x); insert into both values ('table');";

fn site(queries: &Value) -> Server {
    Site::of(S)
        .config(&json!({"databases": {"data": {"queries": queries}}}))
        .start()
}

fn cookie(actor: Value) -> String {
    let signer = Signer::new("case-secret".to_owned());
    let Value::Object(facts) = actor else {
        panic!("an actor is an object");
    };
    let set = signed_cookie(&signer, &Actor::new(facts), false, "/");
    set.split(';').next().unwrap().to_owned()
}

#[test]
fn a_stored_query_has_a_page_json_and_csv() {
    let server = site(&json!({
        "by_name": {"sql": "select id, name from s where name = :name", "title": "By <name>",
                    "description_html": "<i>All of one name</i>"},
        "one": "select 1 as one",
    }));
    assert_eq!(server.ids("/data/by_name.json?name=bob"), [2, 3]);
    assert_eq!(
        server.json("/data/one.json?_shape=array"),
        json!([{"one": 1}])
    );
    assert_eq!(
        server.text("/data/by_name.csv?name=ann"),
        "id,name\r\n1,ann\r\n"
    );
    let file = server.get("/data/one.csv?_dl=on").ok();
    let disposition = file.header("content-disposition").unwrap().to_owned();
    assert!(disposition.contains("one.csv"), "{disposition}");
    let html = server.text("/data/by_name?name=bob");
    for part in [
        "<h1 class=\"titled\"",
        "By &lt;name&gt;",
        "<i>All of one name</i>",
        "name=\"name\" value=\"bob\"",
        "query-by_name",
        "<pre>select id, name from s where name = :name</pre>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(server.get("/data/one.xyz").status, 404);
    assert_eq!(server.get("/data/nope.json").status, 404);
}

#[test]
fn a_table_of_the_same_name_comes_first() {
    let server = site(&json!({"both": "select 'query' as x", "s2": "select 1"}));
    assert_eq!(server.column("/data/both.json", "x"), ["table"]);
    // Until there is a table, the query is there.
    assert_eq!(server.get("/data/s2.json").status, 200);
    server
        .open("data.db")
        .execute_batch("create table s2(id integer primary key); insert into s2 values (7)")
        .unwrap();
    assert_eq!(server.ids("/data/s2.json"), [7]);
}

#[test]
fn the_sql_is_hidden_where_the_configuration_hides_it() {
    let server = site(&json!({"q": {"sql": "select 1 as one", "hide_sql": true}, "p": "select 2"}));
    let is_open = |path: &str| server.text(path).contains("<details class=\"sql\" open>");
    assert!(!is_open("/data/q") && is_open("/data/q?_show_sql=1"));
    assert!(is_open("/data/p") && !is_open("/data/p?_hide_sql=1"));
    assert!(
        server
            .text("/data/q?_show_sql=1")
            .contains("name=\"_show_sql\" value=\"1\"")
    );
}

#[test]
fn parameters_may_be_named_in_their_order() {
    let server = site(&json!({"q": {"sql": "select :a || :b as v", "params": ["b", "a"]}}));
    let html = server.text("/data/q?a=1");
    let place = |part: &str| html.find(part).unwrap_or_else(|| panic!("{part}: {html}"));
    assert!(place("name=\"b\" value=\"\"") < place("name=\"a\" value=\"1\""));
    assert_eq!(server.column("/data/q.json?b=2&a=1", "v"), ["12"]);
    let query = server.json("/data/q.json?a=1&_extra=query,metadata");
    assert_eq!(query["query"]["params"], json!({"b": "", "a": "1"}));
    assert_eq!(query["metadata"]["parameters"], json!(["b", "a"]));
}

#[test]
fn magic_parameters_tell_of_the_request() {
    let server = site(&json!({
        "who": "select :_actor_id as id, :_actor_age as age, :_header_user_agent as agent, :_cookie_c as c",
        "now": "select :_now_epoch as e, :_now_date_utc as d, :_now_datetime_utc as t, \
                strftime('%s', :_now_datetime_utc) - :_now_epoch as difference",
        "chance": "select :_random_chars_12 as r",
    }));
    let nobody = server.get_with("/data/who.json?_shape=array", &[("user-agent", "test")]);
    assert_eq!(
        nobody.ok().json(),
        json!([{"id": null, "age": null, "agent": "test", "c": ""}])
    );
    let cookies = format!("c=5; {}", cookie(json!({"id": "ann", "age": 7})));
    let headers = [("user-agent", "test"), ("cookie", cookies.as_str())];
    let ann = server.get_with("/data/who.json?_shape=array&_actor_id=eve", &headers);
    assert_eq!(
        ann.ok().json(),
        json!([{"id": "ann", "age": 7, "agent": "test", "c": "5"}])
    );
    let now = &server.json("/data/now.json?_shape=array")[0];
    assert_eq!(now["difference"], 0);
    assert!(
        now["t"]
            .as_str()
            .unwrap()
            .starts_with(now["d"].as_str().unwrap())
    );
    let chance = || server.column("/data/chance.json", "r");
    assert_eq!(chance()[0].as_str().unwrap().len(), 12);
    assert_ne!(chance(), chance());
    let html = server.text("/data/who");
    assert!(!html.contains("name=\"_actor_id\""), "no field for it");
}

#[test]
fn visitors_sql_has_no_magic() {
    let server = site(&json!({}));
    for name in ["_header_host", "_now_epoch", "_cookie_ds_actor"] {
        let answer = server.get(&format!("/data/-/query.json?sql=select+:{name}"));
        assert_eq!(answer.status, 400, "{name}");
    }
}

#[test]
fn a_query_that_writes_is_shown_and_never_run() {
    let server = site(&json!({
        "add": {"sql": "insert into s(name) values (:name)", "write": true},
        "sly": "insert into s(name) values ('x')",
    }));
    let html = server.text("/data/add?name=zed");
    assert!(
        html.contains("<form") && html.contains("name=\"name\" value=\"zed\""),
        "{html}"
    );
    assert_eq!(server.json("/data/add.json?name=zed")["rows"], json!([]));
    assert_eq!(server.get("/data/add.csv").status, 400);
    let posted = server.post("/data/add", "name=zed");
    assert_eq!(posted.status, 403);
    assert!(posted.text().contains("only reads"), "{}", posted.text());
    assert_eq!(server.post("/data/sly", "").status, 405);
    assert_eq!(server.get("/data/sly.json").status, 400);
    assert_eq!(server.ids("/data/s.json"), [1, 2, 3]);
}

#[test]
fn queries_are_listed_on_the_page_of_their_database() {
    let queries: serde_json::Map<String, Value> = (1..=7)
        .map(|n| (format!("q{n}"), json!({"sql": "select 1", "fragment": "f"})))
        .collect();
    let server = site(&queries.into());
    let json = server.json("/data.json");
    assert_eq!(json["queries_count"], 7);
    assert_eq!(json["queries_more"], true);
    assert_eq!(json["queries"].as_array().unwrap().len(), 5);
    assert_eq!(json["queries"][0]["sql"], "select 1");
    let html = server.text("/data");
    assert!(
        html.contains("href=\"/data/q5#f\"") && !html.contains("/data/q6"),
        "{html}"
    );
    assert!(html.contains("href=\"/data/-/queries\""), "{html}");
}

#[test]
fn all_queries_have_a_list_that_is_searched_and_paged() {
    let server = Site::of(S)
        .database("other", "create table t(x)")
        .config(&json!({"databases": {
            "data": {"queries": {"b": "select 1", "a": {"sql": "select 2", "title": "Zed"},
                                 "w": {"sql": "delete from s", "write": true}}},
            "other": {"queries": {"c": {"sql": "select 3", "description": "about <bob>"}}},
            "absent": {"queries": {"d": "select 4"}},
        }}))
        .start();
    let names = |path: &str| -> Vec<String> {
        let list = server.json(path)["queries"].take();
        let list = list.as_array().unwrap().iter();
        list.map(|query| query["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("/-/queries.json"), ["b", "w", "a", "c"]);
    assert_eq!(names("/data/-/queries.json"), ["b", "w", "a"]);
    assert_eq!(names("/-/queries.json?q=BOB"), ["c"]);
    assert_eq!(names("/-/queries.json?is_write=1"), ["w"]);
    let (mut met, mut url) = (Vec::new(), "/-/queries.json?_size=1".to_owned());
    loop {
        met.extend(names(&url));
        match server.json(&url)["next_url"].as_str() {
            Some(next) => url = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(met, ["b", "w", "a", "c"]);
    let html = server.text("/-/queries?q=bob");
    assert!(
        html.contains("about &lt;bob&gt;") && html.contains("/other/c"),
        "{html}"
    );
    assert!(server.text("/data/-/queries").contains("is_write=1"));
    assert_eq!(server.get("/nope/-/queries").status, 404);
    assert_eq!(server.get("/-/queries.json?is_write=x").status, 400);
}

#[test]
fn a_query_that_is_for_some_is_nowhere_for_others() {
    let server = site(&json!({
        "open": "select 1",
        "closed": {"sql": "select 2 as two", "allow": {"id": "ann"}},
    }));
    let ann = cookie(json!({"id": "ann"}));
    let ann = [("cookie", ann.as_str())];
    assert_eq!(server.get("/data/closed.json").status, 403);
    for path in ["/-/queries", "/data/-/queries.json", "/data.json", "/data"] {
        assert!(!server.text(path).contains("closed"), "{path}");
        assert!(
            server.get_with(path, &ann).ok().text().contains("closed"),
            "{path}"
        );
    }
    assert_eq!(server.json("/data.json")["queries_count"], 1);
    let list = server.get_with("/-/queries.json", &ann).ok().json();
    assert_eq!(list["queries"][0]["private"], true);
    let json = server.get_with("/data/closed.json?_extra=private", &ann);
    assert_eq!(json.ok().json()["private"], true);
}

#[test]
fn a_query_may_be_run_by_those_who_may_not_write_sql() {
    let server = Site::of(S)
        .config(&json!({"allow_sql": false, "databases": {"data": {"queries": {"q": "select name from s"}}}}))
        .start();
    assert_eq!(server.get("/data/-/query.json?sql=select+1").status, 403);
    let html = server.text("/data/q?_facet=name");
    assert!(html.contains("bob") && !html.contains("/-/query"), "{html}");
    let json = server.json("/data/q.json?_facet=name");
    let value = &json["facet_results"]["results"]["name"]["results"][0];
    assert_eq!(
        (&value["count"], &value["toggle_url"]),
        (&json!(2), &json!(null))
    );
}

#[test]
fn a_query_without_sql_is_told_at_the_start() {
    let ended = Site::of(S)
        .config(&json!({"databases": {"data": {"queries": {"q": {"title": "T"}}}}}))
        .run_to_end();
    assert_ne!(ended.code, Some(0));
    assert!(
        ended.stderr.contains("databases.data.queries.q"),
        "{}",
        ended.stderr
    );
}
