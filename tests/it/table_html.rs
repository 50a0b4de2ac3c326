//! A table as a page for people.

use serde_json::json;

use crate::server::{Site, query, tilde};

const TREES: &str = "create table tree(id integer primary key, name text, kind text, leaf blob);
    insert into tree values (1, 'oak', 'broad', null), (2, 'fir', 'conifer', x'0102'), (3, 'elm', 'broad', null);";

#[test]
fn a_page_shows_its_rows_their_count_and_links_to_each() {
    let answer = Site::of(TREES).start().get("/data/tree").ok();
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let page = answer.text();
    for part in [
        "<title>data: tree: 3 rows</title>",
        "oak",
        "fir",
        "elm",
        "href=\"/data/tree/2\"",
        "<strong>3 rows</strong>",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_page_leads_to_its_other_formats() {
    let server = Site::of(TREES).start();
    let answer = server.get("/data/tree?kind=broad").ok();
    let page = answer.text();
    for part in [
        "href=\"/data/tree.json?kind=broad\"",
        "href=\"/data/tree.csv?kind=broad&amp;_size=max\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let link = answer.header("link").unwrap();
    let url = link.split(['<', '>']).nth(1).unwrap();
    assert_eq!(server.ids(url), [1, 3]);
}

#[test]
fn bytes_in_a_view_are_counted_without_a_link_that_leads_nowhere() {
    let sql = format!("{TREES} create view leafs as select leaf from tree where id = 2");
    let page = Site::of(&sql).start().text("/data/leafs");
    assert!(
        page.contains("<span class=\"blob\">&lt;Binary:&nbsp;2&nbsp;bytes&gt;</span>"),
        "{page}"
    );
    assert!(!page.contains(".blob"), "{page}");
}

#[test]
fn names_and_values_with_markup_are_shown_and_never_run() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=\"y\">'";
    let name = format!("t{evil}");
    let site = Site::new();
    let quoted = name.replace('"', "\"\"");
    let value = evil.replace('\'', "''");
    let server = site
        .database(
            "data",
            &format!(
                "create table \"{quoted}\"(id integer primary key, \"{quoted}\" text, k text);
                 insert into \"{quoted}\" values (1, '{value}', '{value}'), (2, '{value}', 'y'), (3, 'z', 'y');"
            ),
        )
        .start();
    let arguments = query(&[
        (&name, evil),
        ("_facet", "k"),
        ("_facet", &name),
        ("_sort", &name),
        ("_where", &format!("'{value}' = '{value}'")),
        ("_extra", evil),
    ]);
    let page = server.text(&format!("/data/{}?{arguments}", tilde(&name)));
    assert!(page.contains("&lt;img src=x"));
    for part in [
        "<script>alert",
        "<img src=x",
        "onerror=\"y\"",
        "</script><script",
    ] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn a_web_address_becomes_a_link_and_a_script_does_not() {
    let page = Site::of(
        "create table w(id integer primary key, u text);
         insert into w values (1, 'https://example.com/?a=1&b=\"2\"'), (2, 'javascript:alert(1)');",
    )
    .start()
    .text("/data/w");
    assert!(
        page.contains("<a href=\"https://example.com/?a=1&amp;b=&#34;2&#34;\">"),
        "{page}"
    );
    assert!(!page.contains("href=\"javascript:"));
}

#[test]
fn blobs_are_told_by_their_size_and_can_be_downloaded() {
    let page = Site::of(TREES).start().text("/data/tree");
    assert!(page.contains("href=\"/data/tree/2.blob?_blob_column=leaf\""));
    assert!(page.contains("Binary:&nbsp;2&nbsp;bytes"));
}

#[test]
fn a_table_without_rows_shows_its_columns() {
    let page = Site::of("create table empty(id integer primary key, given text, age integer)")
        .start()
        .text("/data/empty");
    for part in ["given", "age", "0 rows"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn large_numbers_are_shown_in_full() {
    let page = Site::of("create table n(id integer primary key, n integer); insert into n values (1, 9007199254740993)")
        .start()
        .text("/data/n");
    assert!(page.contains(">9007199254740993<"));
}

#[test]
fn long_cells_are_cut_where_the_setting_says() {
    let server = Site::of("create table l(id integer primary key, t text); insert into l values (1, 'abcdefghijklmnop')")
        .setting("truncate_cells_html", "5")
        .start();
    let page = server.text("/data/l");
    assert!(
        page.contains("abcd") && !page.contains("abcdefgh"),
        "{page}"
    );
    assert_eq!(server.column("/data/l.json", "t"), ["abcdefghijklmnop"]);
}

#[test]
fn foreign_keys_show_the_label_and_lead_to_the_row() {
    let page = Site::of(
        "create table kind(id integer primary key, name text); insert into kind values (1, 'red'), (2, '');
         create table bean(id integer primary key, kind integer references kind(id), gone integer references nowhere(id));
         insert into bean values (1, 1, 7), (2, 99, 7), (3, 2, null);",
    )
    .start()
    .text("/data/bean");
    assert!(page.contains("<a href=\"/data/kind/1\">red</a>"), "{page}");
    assert!(
        page.contains("<a href=\"/data/kind/2\">"),
        "an empty label still leads there"
    );
    assert!(
        !page.contains("/data/kind/99") && !page.contains("/data/nowhere"),
        "{page}"
    );
}

#[test]
fn keys_of_any_kind_are_encoded_in_the_link_to_the_row() {
    let page = Site::of(
        "create table two(a text, b text, primary key(a, b));
         insert into two values ('x,y', '1/2'), ('~', '%25'), ('', 'é.json');",
    )
    .start()
    .text("/data/two");
    for part in [
        "/data/two/x~2Cy,1~2F2\"",
        "/data/two/~7E,~2525\"",
        "/data/two/,~C3~A9~2Ejson\"",
    ] {
        assert!(page.contains(&format!("href=\"{part}")), "{part}: {page}");
    }
}

#[test]
fn the_form_repeats_filters_as_fields_and_nothing_twice() {
    let server = Site::of("create table u(id integer primary key, _item text, n integer); insert into u values (1, 'i', 2)").start();
    let page = server.text("/data/u?_item__exact=i&_sort_desc=n&_size=5&_facet=n");
    let page = page.split("</form>").next().unwrap();
    let hidden = |name: &str| page.contains(&format!("type=\"hidden\" name=\"{name}\""));
    assert!(hidden("_size") && hidden("_facet"));
    assert!(
        !hidden("_item__exact") && !hidden("_sort") && !hidden("_sort_desc") && !hidden("_next")
    );
    assert!(page.contains("_filter_column_1"));
}

#[test]
fn facets_show_values_counts_and_links() {
    let page = Site::of(TREES).start().text("/data/tree?_facet=kind");
    assert!(page.contains("conifer"));
    assert!(
        page.contains("kind=broad") && page.contains("kind=conifer"),
        "links to the values"
    );
}

#[test]
fn columns_worth_a_facet_are_suggested() {
    let page = Site::of(TREES).start().text("/data/tree");
    assert!(page.contains("_facet=kind"));
    assert!(!page.contains("_facet=name"), "each row has another name");
}

#[test]
fn a_wide_table_has_all_its_columns() {
    let columns: Vec<String> = (0..300).map(|n| format!("c{n} text")).collect();
    let values = vec!["'v'"; 300].join(", ");
    let server = Site::of(&format!(
        "create table wide(id integer primary key, {}); insert into wide values (1, {values}), (2, {values})",
        columns.join(", ")
    ))
    .start();
    let page = server.text("/data/wide");
    assert!(page.contains("c0") && page.contains("c299"));
}

#[test]
fn nothing_of_a_trace_is_shown_unless_allowed() {
    let page = Site::of(TREES)
        .start()
        .text("/data/tree?_trace=1&name=%3Cscript%3Ealert(9)%3C/script%3E");
    assert!(!page.contains("<script>alert(9)"));
}

#[test]
fn metadata_is_shown_whatever_else_is_nested_in_it() {
    let site = Site::of(TREES);
    let metadata = site.write(
        "metadata.json",
        json!({"title": "Wälder မြန်မာ", "more": {"a": [1, {"b": 2}]}, "databases": {"data": {"tables": {"tree": {
            "description": "All <trees>", "deep": {"x": {"y": 1}}, "columns": {"name": "What it is called"}}}}}})
        .to_string(),
    );
    let page = site.args(&["-m", &metadata]).start().text("/data/tree");
    for part in ["All &lt;trees&gt;", "What it is called"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn every_link_has_the_prefix_once_whether_the_proxy_takes_it_off_or_not() {
    let server = Site::of(TREES).setting("base_url", "/prefix/").start();
    for path in [
        "/data/tree?_size=2&_facet=kind",
        "/prefix/data/tree?_size=2&_facet=kind",
    ] {
        let page = server.text(path);
        for part in [
            "\"/prefix/data/tree.json?",
            "\"/prefix/data/tree.csv?",
            "\"/prefix/data/tree/1\"",
            "/prefix/-/static/",
        ] {
            assert!(page.contains(part), "{path}: {part}");
        }
        for part in [
            "/prefix/prefix",
            "href=\"/data/",
            "action=\"/data/",
            "src=\"/-/",
            "href=\"/-/",
        ] {
            assert!(!page.contains(part), "{path}: {part}");
        }
    }
    let url = |path: &str| {
        let answer = server.get_with(path, &[("host", "pub.example.org")]).ok();
        answer.json()["next_url"].as_str().unwrap().to_owned()
    };
    for path in ["/data/tree.json?_size=2", "/prefix/data/tree.json?_size=2"] {
        assert_eq!(
            url(path),
            "http://pub.example.org/prefix/data/tree.json?_size=2&_next=2"
        );
    }
}

#[test]
fn absolute_links_are_https_when_told_so_or_behind_a_proxy_that_says_so() {
    let path = "/data/tree.json?_size=1";
    let url = |server: &crate::server::Server, headers: &[(&str, &str)]| {
        let answer = server.get_with(path, headers).ok();
        answer.json()["next_url"].as_str().unwrap().to_owned()
    };
    let forced = Site::of(TREES).setting("force_https_urls", "on").start();
    let host = ("host", "pub.example.org");
    let https = "https://pub.example.org/data/tree.json?_size=1&_next=1";
    assert_eq!(url(&forced, &[host]), https);
    let usual = Site::of(TREES).start();
    assert_eq!(url(&usual, &[host, ("x-forwarded-proto", "https")]), https);
    assert_eq!(url(&usual, &[host]), https.replace("https", "http"));
}

#[test]
fn the_size_and_order_of_a_table_can_be_configured() {
    let tree = json!({"sort_desc": "name", "size": 2});
    let server = Site::of(TREES)
        .config(&json!({"databases": {"data": {"tables": {"tree": tree}}}}))
        .start();
    assert_eq!(server.ids("/data/tree.json"), [1, 2]);
    assert_eq!(server.ids("/data/tree.json?_sort=name&_size=3"), [3, 2, 1]);
}
