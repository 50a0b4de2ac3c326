//! A site below a prefix, behind a proxy that keeps the prefix and behind one that takes
//! it off: every link of every page leads to a page of the site.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::server::{Answer, Server, Site};

const PREFIX: &str = "/pre~fix/a&b/";

const SQL: &str = "
    create table kind (id integer primary key, name text);
    insert into kind values (1, 'first'), (2, 'second');
    create table t (id integer primary key, name text, kind integer references kind(id),
        tags text, day text, bytes blob);
    insert into t values (1, 'one', 1, '[\"a\",\"b\"]', '2024-01-02', x'0102'),
        (2, 'two', 2, '[\"b\"]', '2024-01-03', null), (3, 'three', 1, '[]', '2024-01-02', x'ff'),
        (4, 'four', null, '[\"a\"]', '2024-01-04', null);
    create virtual table search using fts5(name, content='t', content_rowid='id');
    create table [odd /name.x] (a text, b text, primary key (a, b));
    insert into [odd /name.x] values ('x/y', 'z.z'), ('&', '\"');
    create view v as select * from t";

/// What stands between the visitor and the server.
#[derive(Debug, Clone, Copy)]
enum Proxy {
    Keeps,
    Strips,
}

/// A visitor who follows every link.
struct Visitor<'s> {
    server: &'s Server,
    proxy: Proxy,
    /// Paths that are to be visited, each with the page that led there.
    ahead: VecDeque<(String, String)>,
    /// How often a page of a kind was visited: arguments multiply links without end.
    kinds: BTreeMap<String, usize>,
    visited: usize,
}

/// Pages of one path that are visited with different arguments.
const OF_A_KIND: usize = 12;

impl<'s> Visitor<'s> {
    fn new(server: &'s Server, proxy: Proxy) -> Self {
        Self {
            server,
            proxy,
            ahead: VecDeque::from([(PREFIX.to_owned(), "nowhere".to_owned())]),
            kinds: BTreeMap::new(),
            visited: 0,
        }
    }

    fn get(&self, path: &str) -> Answer {
        match self.proxy {
            Proxy::Keeps => self.server.get(path),
            Proxy::Strips => self.server.get(&format!("/{}", &path[PREFIX.len()..])),
        }
    }

    /// Takes note of a link, which must stay on the site.
    fn link(&mut self, link: &str, from: &str) {
        let address = format!("http://{}", self.server.address());
        let link = link.split('#').next().unwrap();
        let path = match link.strip_prefix(&address) {
            Some(path) => path,
            None if link.contains("://") || link.is_empty() => return,
            None if link.starts_with('?') => return,
            None => link,
        };
        assert!(
            path.starts_with(PREFIX),
            "{:?}: {from} links to {link}",
            self.proxy
        );
        let kind = path.split('?').next().unwrap().to_owned();
        let count = self.kinds.entry(kind).or_default();
        *count += 1;
        if *count <= OF_A_KIND {
            self.ahead.push_back((path.to_owned(), from.to_owned()));
        }
    }

    fn visit_all(&mut self) {
        let mut seen = std::collections::BTreeSet::new();
        while let Some((path, from)) = self.ahead.pop_front() {
            if !seen.insert(path.clone()) {
                continue;
            }
            self.visited += 1;
            let answer = self.get(&path);
            // The form for SQL names its JSON, which needs SQL.
            let is_form = answer.status == 400 && path.ends_with("/-/query.json");
            let is_fine = matches!(answer.status, 200 | 301 | 302) || is_form;
            assert!(
                is_fine,
                "{:?}: {from} links to {path}: {}",
                self.proxy, answer.status
            );
            if let Some(location) = answer.header("location") {
                self.link(location, &path);
            }
            for (name, value) in &answer.headers {
                if name == "link" {
                    let target = value.split(['<', '>']).nth(1).unwrap();
                    self.link(target, &path);
                }
                if name == "set-cookie" {
                    assert!(value.contains(&format!("Path={PREFIX}")), "{path}: {value}");
                }
            }
            let kind = answer.header("content-type").unwrap_or_default();
            if kind.starts_with("text/html") {
                for link in links(&answer.text()) {
                    self.link(&link, &path);
                }
            } else if kind.starts_with("application/json")
                && let Ok(json) = serde_json::from_slice(&answer.body)
            {
                self.json(&json, &path);
            }
        }
    }

    /// The members of JSON that are addresses.
    fn json(&mut self, json: &Value, from: &str) {
        match json {
            Value::Array(items) => items.iter().for_each(|item| self.json(item, from)),
            Value::Object(members) => {
                for (name, value) in members {
                    let is_address = matches!(
                        name.as_str(),
                        "path" | "href" | "url" | "next_url" | "toggle_url" | "link" | "full_path"
                    ) || name == "json";
                    match value {
                        // Rows are data, a database's path is that of its file, and that of a
                        // request is without its arguments.
                        _ if name == "rows"
                            || name == "request"
                            || from.contains("/-/databases") => {}
                        Value::String(text) if is_address && text.contains('/') => {
                            self.link(text, from);
                        }
                        other => self.json(other, from),
                    }
                }
            }
            _ => {}
        }
    }
}

/// The values of `href`, `src` and `action` in a page.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for attribute in [" href=\"", " src=\"", " action=\""] {
        for part in page.split(attribute).skip(1) {
            let value = part.split('"').next().unwrap();
            assert!(!value.contains('<'), "{value}");
            let unescaped = value
                .replace("&quot;", "\"")
                .replace("&#34;", "\"")
                .replace("&#39;", "'")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&");
            links.push(unescaped);
        }
    }
    links
}

#[test]
fn every_link_of_every_page_stays_below_the_prefix() {
    let site = Site::new()
        .immutable("data", SQL)
        .database("a b", "create table t (x); insert into t values (1)");
    std::fs::create_dir_all(site.path("files")).unwrap();
    std::fs::create_dir_all(site.path("templates/pages")).unwrap();
    site.write("files/x.css", "");
    site.write(
        "templates/pages/about.html",
        "{% extends \"base.html\" %}{% block content %}<a href=\"{{ url_table(database=\"data\", table=\"odd /name.x\") }}\">x</a> <a href=\"{{ url_row(database=\"data\", table=\"t\", row_path=\"1\", format=\"json\") }}\">x</a> <link href=\"{{ url_static(path=\"app.css\") }}\">{% endblock content %}",
    );
    site.write(
        "templates/pages/to.html",
        "{{ custom_redirect(location=url_path(path=\"/about\")) }}",
    );
    let config = json!({
        "extra_css_urls": ["/files/x.css"],
        "databases": {"data": {"tables": {"t": {"facets": ["kind", {"array": "tags"}, {"date": "day"}]}}}},
    });
    let server = site
        .config(&config)
        .args(&["--static", "files:files", "--template-dir", "templates"])
        .setting("base_url", PREFIX)
        .start();
    for proxy in [Proxy::Keeps, Proxy::Strips] {
        let mut visitor = Visitor::new(&server, proxy);
        for path in [
            "about",
            "to",
            "-/versions",
            "-/settings",
            "-/databases.json",
            ".json",
            "data.json",
            "data/t.json?_size=2&_extra=extras,renderers,request,facet_results,suggested_facets&_facet=name",
            "data/t/1.json?_extra=foreign_key_tables,request,extras",
            "data/t?_size=2&_search=one",
            "data/t?_filter_column=name&_filter_op=exact&_filter_value=one",
            "data/odd+~2Fname~2Ex?_next=a,b",
            "data/-/query?sql=select+x'00'+as+b",
            "data/-/query.json?sql=select+1&_extra=request,extras",
            "data?sql=select+1",
            "-",
            ":memory:",
            "-/versions/",
            "data/t/",
            "data/t%2Fx/",
        ] {
            let there = path != ":memory:" && path != "data/t%2Fx/";
            if there {
                visitor.link(&format!("{PREFIX}{path}"), "the test");
            } else {
                let answer = visitor.get(&format!("{PREFIX}{path}"));
                let location = answer.header("location").unwrap_or(PREFIX).to_owned();
                assert!(location.starts_with(PREFIX), "{proxy:?} {path}: {location}");
            }
        }
        visitor.visit_all();
        assert!(visitor.visited > 150, "only {} pages", visitor.visited);
    }
    let bare = server.get(PREFIX.trim_end_matches('/')).with_status(302);
    assert_eq!(bare.header("location"), Some(PREFIX));
}

#[test]
fn a_prefix_is_escaped_where_it_is_written_into_a_page() {
    let site = Site::of(SQL).setting("base_url", "/a\"><b>&/");
    let server = site.start();
    for path in [
        "/",
        "/data",
        "/data/t",
        "/data/t/1",
        "/data/-/query?sql=select+x'00'",
        "/nothing",
    ] {
        let page = server.get(path).text();
        assert!(!page.contains("><b>&"), "{path}: {page}");
    }
}
