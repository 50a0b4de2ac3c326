//! Pages that a site adds: templates in `pages/`.

use crate::server::{Server, Site};

fn served(pages: &[(&str, &str)]) -> Server {
    let site = Site::of("create table t (id integer primary key); insert into t values (1)");
    for (name, source) in pages {
        let path = format!("templates/pages/{name}");
        std::fs::create_dir_all(site.path(&path).parent().unwrap()).unwrap();
        site.write(&path, source);
    }
    site.args(&["--template-dir", "templates"]).start()
}

#[test]
fn a_template_in_pages_is_a_page() {
    let server = served(&[
        (
            "about.html",
            "{% extends \"base.html\" %}{% block title %}About{% endblock title %}{% block content %}<p>us</p>{% endblock content %}",
        ),
        (
            "deep/er/page.html",
            "deep {{ request.path }} {{ request.args.a[0] }} {{ request.host }}",
        ),
        ("data.html", "never seen"),
        ("data/extra.html", "beside the tables"),
    ]);
    let page = server.get("/about").ok();
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(page.text().contains("<p>us</p>") && page.text().contains("app.css"));
    let deep = server.text("/deep/er/page?a=5");
    assert!(
        deep.starts_with("deep /deep/er/page 5 127.0.0.1:"),
        "{deep}"
    );
    assert!(
        server.text("/data").contains("<!DOCTYPE html>"),
        "a page that there is goes first"
    );
    assert_eq!(server.text("/data/extra"), "beside the tables");
    let moved = server.get("/about/").with_status(302);
    assert_eq!(moved.header("location"), Some("/about"));
    for path in ["/deep/er", "/deep/er/none", "/pages/about", "/about.html"] {
        server.get(path).with_status(404);
    }
    let head = server.head("/about").ok();
    assert!(head.body.is_empty());
    server.post("/about", "a=b").with_status(405);
    assert_eq!(
        server.get("/about.json").error(404),
        "Database not found: about"
    );
}

#[test]
fn a_page_may_have_variables_in_its_address() {
    let server = served(&[
        (
            "topic/{name}.html",
            "topic {{ name }} {{ name | tilde_decode }}",
        ),
        ("topic/index.html", "all topics"),
        ("{a}-{b}.html", "{{ a }} and {{ b }}"),
    ]);
    assert_eq!(server.text("/topic/x~20y?q=1"), "topic x~20y x y");
    assert_eq!(server.text("/topic/index"), "all topics");
    assert_eq!(server.text("/one-two"), "one and two");
    let nasty = server.get("/topic/%3Cscript%3E").with_status(302);
    assert!(
        nasty.header("location").is_some_and(|to| !to.contains('<')),
        "{nasty:?}"
    );
    server.get("/topic/a/b").with_status(404);
}

#[test]
fn a_page_says_status_headers_redirects_and_404() {
    let server = served(&[
        (
            "tea.html",
            "short {{ custom_status(status=418) }}{{ custom_header(name=\"X-Kind\", value=\"pot\") }}and stout",
        ),
        (
            "robots.txt.html",
            "{{ custom_header(name=\"content-type\", value=\"text/plain; charset=utf-8\") }}User-agent: *",
        ),
        ("old.html", "{{ custom_redirect(location=\"/new?a=1\") }}"),
        (
            "older.html",
            "{{ custom_redirect(location=\"https://e.com/\", status=301) }}",
        ),
        (
            "topic/{name}.html",
            "{% if name != \"known\" %}{{ raise_404(message=\"No such topic\") }}{% endif %}here",
        ),
        ("gone.html", "{{ raise_404() }}"),
    ]);
    let tea = server.get("/tea").with_status(418);
    assert_eq!(
        (tea.text().as_str(), tea.header("x-kind")),
        ("short and stout", Some("pot"))
    );
    let robots = server.get("/robots.txt").ok();
    assert_eq!(
        robots.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    assert_eq!(robots.text(), "User-agent: *");
    let old = server.get("/old").with_status(302);
    assert_eq!(old.header("location"), Some("/new?a=1"));
    let older = server.get("/older").with_status(301);
    assert_eq!(older.header("location"), Some("https://e.com/"));
    assert_eq!(server.text("/topic/known"), "here");
    let page = server.get("/topic/other").with_status(404).text();
    assert!(page.contains("No such topic"), "{page}");
    server.get("/gone").with_status(404);
}

#[test]
fn a_page_that_fails_is_a_500_and_the_next_request_is_not_hurt() {
    let server = served(&[
        (
            "bad.html",
            "{{ custom_status(status=418) }}{{ nobody_knows }}",
        ),
        ("good.html", "good"),
        ("table.html", "x"),
    ]);
    server.expect_log("nobody_knows");
    server.get("/bad").with_status(500);
    assert_eq!(server.text("/good"), "good");
    server.get("/data/t").ok();
}
