//! Templates of the site's own: which page gets which, what is in their context, and
//! what is said of one that is wrong.

use serde_json::json;

use crate::server::{Server, Site};

const SQL: &str = "
    create table kind (id integer primary key, name text);
    insert into kind values (1, 'first & best');
    create table t (id integer primary key, name text, kind integer references kind(id), bytes blob);
    insert into t values (1, '<b>one</b>', 1, x'0102'), (2, 'https://e.com/', null, null);
    create table two (a text, b text, primary key (a, b));
    insert into two values ('x/y', 'z');
    create view v as select name from t;
    create table [a.b/c] (x)";

/// A site with templates.
fn site(templates: &[(&str, &str)]) -> Site {
    let site = Site::of(SQL);
    std::fs::create_dir_all(site.path("templates/pages")).unwrap();
    for (name, source) in templates {
        site.write(&format!("templates/{name}"), source);
    }
    site.args(&["--template-dir", "templates"])
}

fn served(templates: &[(&str, &str)]) -> Server {
    site(templates).start()
}

#[test]
fn the_page_tells_which_templates_were_considered() {
    let server = served(&[("table-data-t.html", "{% extends \"table.html\" %}")]);
    for (path, names) in [
        ("/", "*index.html"),
        ("/data", "database-data.html, *database.html"),
        ("/data/t", "*table-data-t.html, table.html"),
        ("/data/two", "table-data-two.html, *table.html"),
        ("/data/t/1", "row-data-t.html, *row.html"),
        ("/data/a~2Eb~2Fc", "table-data-abc-d8c60f.html, *table.html"),
        ("/data/-/query", "query-data.html, *query.html"),
        ("/-/versions", "*show_json.html"),
    ] {
        let comment = format!("<!-- Templates considered: {names} -->");
        let page = server.text(path);
        assert!(page.contains(&comment), "{path}: {page}");
    }
    let page = server.get("/nothing").with_status(404).text();
    assert!(page.contains("404.html, *error.html"), "{page}");
}

#[test]
fn the_program_tells_its_own_templates_too() {
    let server = Site::of(SQL).start();
    let page = server.text("/data/t");
    assert!(page.contains("<!-- Templates considered: table-data-t.html, *table.html -->"));
}

#[test]
fn one_table_has_a_page_of_its_own_and_the_others_keep_theirs() {
    let server = served(&[
        ("table-data-t.html", "{{ table }} of {{ database }}"),
        (
            "row-data-t.html",
            "row {{ primary_key_values | join(sep=\",\") }}",
        ),
        ("table-data-abc-d8c60f.html", "odd name"),
    ]);
    assert_eq!(server.text("/data/t"), "t of data");
    assert_eq!(server.text("/data/t/2"), "row 2");
    assert_eq!(server.text("/data/a~2Eb~2Fc"), "odd name");
    assert!(server.text("/data/two").contains("<!DOCTYPE html>"));
    assert!(server.json("/data/t.json")["rows"].is_array());
}

#[test]
fn blocks_of_the_built_in_pages_can_be_replaced() {
    let server = served(&[
        (
            "base.html",
            "{% extends \"default:base.html\" %}{% block footer %}<p>our footer</p>{% endblock footer %}",
        ),
        (
            "table.html",
            "{% extends \"default:table.html\" %}
            {% block title %}our title{% endblock title %}
            {% block extra_head %}<meta name=\"ours\">{{ super() }}{% endblock extra_head %}
            {% block body_class %}{{ super() }} ours{% endblock body_class %}
            {% block crumbs %}our crumbs{% endblock crumbs %}
            {% block content %}before{{ super() }}after{% endblock content %}",
        ),
        ("_footer.html", "an include of ours"),
        (
            "error.html",
            "{% extends \"default:error.html\" %}{% block nav %}our nav{% endblock nav %}",
        ),
    ]);
    let page = server.text("/data/t");
    for part in [
        "<title>our title</title>",
        "<meta name=\"ours\"><script src=\"/-/static/table.js",
        "class=\"table db-data table-t ours\"",
        "our crumbs</header>",
        "before\n<h1",
        "after",
        "<p>our footer</p>",
        "<table class=\"rows-and-columns\">",
    ] {
        assert!(
            page.replace(">\n</header>", "></header>")
                .replace("\n</header>", "</header>")
                .contains(part),
            "{part}: {page}"
        );
    }
    assert!(server.text("/").contains("<p>our footer</p>"));
    let error = server.get("/data/none").with_status(404).text();
    assert!(
        error.contains("our nav") && error.contains("our footer"),
        "{error}"
    );
}

#[test]
fn rows_can_be_gone_through_cell_by_cell() {
    let rows = "{% for row in display_rows %}[{% for cell in row %}{{ cell.column }}:{{ cell.value_type }}={{ cell.value }};{% endfor %}]{% endfor %}";
    let server = served(&[("_table.html", rows)]);
    let page = server.text("/data/t?_labels=on");
    for part in [
        "[id:pk=<a href=\"/data/t/1\">1</a>;name:str=&lt;b&gt;one&lt;/b&gt;;kind:int=<a href=\"/data/kind/1\">first &amp; best</a>&nbsp;<em>1</em>;bytes:bytes=<a class=\"blob-download\" href=\"/data/t/1.blob?_blob_column=bytes\">",
        "name:str=<a href=\"https://e.com/\">https://e.com/</a>;kind:none=&nbsp;;bytes:none=&nbsp;;]",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = server.text("/data/two");
    assert!(
        page.contains("[Link:pk=<a href=\"/data/two/x~2Fy,z\">x/y,z</a>;a:str=x/y;b:str=z;]"),
        "{page}"
    );
    assert!(server.text("/data/v").contains("[name:str=&lt;b&gt;one"));
    let page = server.text("/data/t/1");
    assert!(page.contains("[id:int=1;name:str=&lt;b&gt;one"), "{page}");
}

#[test]
fn the_rows_of_one_table_or_of_its_row_page_have_a_template() {
    let server = served(&[
        (
            "_table-data-t.html",
            "both <ul>{% for row in rows %}<li>{{ row.name }}</li>{% endfor %}</ul>",
        ),
        ("_table-row-data-two.html", "one {{ row_paths[0] }}"),
    ]);
    let list = "both <ul><li>&lt;b&gt;one&lt;/b&gt;</li><li>https://e.com/</li></ul>";
    let page = server.text("/data/t");
    assert!(page.contains(list), "{page}");
    assert!(server.text("/data/t/2").contains("both <ul><li>"));
    assert!(
        server
            .text("/data/two")
            .contains("<table class=\"rows-and-columns\">")
    );
    assert!(server.text("/data/two/x~2Fy,z").contains("one x~2Fy,z"));
}

#[test]
fn the_extras_of_the_json_are_variables() {
    let template = "{{ count }}|{{ count_truncated }}|{{ columns | join(sep=\",\") }}|{{ primary_keys[0] }}|{{ query.sql }}|{{ human_description_en }}|{{ request.path }}|{{ request.args._sort[0] }}|{{ settings.default_page_size }}|{{ database_color }}|{{ next }}|{{ url_csv }}|{{ row | raw(column=\"name\") }}";
    let template = format!("{{% set row = display_rows[0] %}}{template}");
    let server = served(&[("table.html", &template)]);
    let page = server.text("/data/t?_sort=name&_size=1&_labels=on");
    let sql = "select id, name, kind, bytes from t order by name, id limit 2";
    for part in [
        "2|false|id,name,kind,bytes|id|",
        sql,
        "|sorted by name|/data/t|name|100|",
        "/data/t.csv?_sort=name&amp;_size=1&amp;_labels=on",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn other_pages_have_the_members_of_their_json() {
    let server = served(&[
        (
            "index.html",
            "{% for db in databases %}{{ db.name }} {{ db.tables_count }} {{ db.table_rows_sum }} {{ db.tables_and_views_truncated | length }}{% endfor %}",
        ),
        (
            "database.html",
            "{{ allow_execute_sql }} {{ size > 0 }} {% for t in tables %}{{ t.name }}({{ t.columns | join(sep=\" \") }}/{{ t.primary_keys | join(sep=\" \") }}/{{ t.count }}){% endfor %} {{ table_columns.kind | join(sep=\" \") }}",
        ),
        (
            "query-data.html",
            "{{ query.sql }} {{ named_parameter_values.p }} {% for row in display_rows %}{% for cell in row %}<{{ cell }}>{% endfor %}{% endfor %} {{ rows[0].a }}",
        ),
    ]);
    assert_eq!(server.text("/"), "data 4 4 5");
    let page = server.text("/data");
    for part in [
        "true true ",
        "kind(id name/id/1)",
        "two(a b/a b/1)",
        " id name",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = server.text("/data/-/query?sql=select+:p+as+a,+null&p=5");
    assert_eq!(page, "select :p as a, null 5 <5><&nbsp;> 5");
}

#[test]
fn a_page_prints_all_that_there_is() {
    let server = served(&[("table-data-t.html", "{{ __tera_context | safe }}")]);
    let page = server.text("/data/t");
    for name in [
        "display_rows",
        "rows",
        "count",
        "request",
        "facet_results",
        "metadata",
    ] {
        assert!(page.contains(name), "{name}: {page}");
    }
}

#[test]
fn templates_are_read_anew_when_they_change_with_reload() {
    let server = site(&[("table-data-t.html", "old")])
        .args(&["--reload"])
        .start();
    assert_eq!(server.text("/data/t"), "old");
    server.expect_log("not reloaded");
    std::fs::write(server.path("templates/table-data-t.html"), "{% if %}").unwrap();
    server.wait_until("the mistake is told", |server| {
        server.has_logged("table-data-t.html:1")
    });
    assert_eq!(server.text("/data/t"), "old");
    std::fs::write(server.path("templates/table-data-t.html"), "new and longer").unwrap();
    server.wait_until("the template is new", |server| {
        server.text("/data/t") == "new and longer"
    });
}

#[test]
fn the_context_is_shown_where_the_setting_allows_it() {
    let server = Site::of(SQL).setting("template_debug", "1").start();
    for (path, name) in [
        ("/data/t?_context=1", "display_rows"),
        ("/data/t/1?_context=1", "primary_key_values"),
        ("/data?_context=1", "table_columns"),
        ("/?_context=1", "databases"),
        ("/data/-/query?sql=select+'%3Cb%3E'&_context=1", "rows_html"),
    ] {
        let page = server.text(path);
        assert!(
            page.contains(name) && !page.contains("<h1"),
            "{path}: {page}"
        );
        assert!(!page.contains("<b>"), "{page}");
    }
    let server = Site::of(SQL).start();
    assert!(server.text("/data/t?_context=1").contains("<h1"));
}

#[test]
fn a_site_with_templates_says_itself_what_its_pages_may_do() {
    let policy = |server: &Server, path: &str| {
        let answer = server.get(path);
        answer.header("content-security-policy").map(str::to_owned)
    };
    let server = served(&[("pages/about.html", "<script>1</script>")]);
    assert!(policy(&server, "/data/t").is_some());
    assert_eq!(policy(&server, "/about"), None);
    let server = served(&[("_footer.html", "<script>1</script>")]);
    assert_eq!(policy(&server, "/data/t"), None);
}

#[test]
fn a_template_that_does_not_compile_is_told_with_file_and_line() {
    for (name, source, words) in [
        ("table.html", "one\n{% if %}", "table.html:2: "),
        (
            "_table-data-t.html",
            "{{ x | nothing }}",
            "_table-data-t.html:1: ",
        ),
        (
            "pages/about.html",
            "{% include \"gone.html\" %}",
            "pages/about.html:1: ",
        ),
        (
            "index.html",
            "{% extends \"index.html\" %}",
            "default:index.html",
        ),
        (
            "pages/{a b}.html",
            "x",
            "a variable in a name is written {name}",
        ),
    ] {
        let ended = site(&[(name, source)]).args(&["-p", "0"]).run_to_end();
        assert_eq!(ended.code, Some(1), "{name}: {}", ended.stderr);
        assert_eq!(
            ended.stderr.trim_end().lines().count(),
            1,
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[test]
fn a_template_that_fails_when_it_is_rendered_is_a_500_and_the_log_says_why() {
    let server = served(&[
        ("table-data-t.html", "{{ nobody_knows.this }}"),
        ("404.html", "{{ nobody_knows.that }}"),
    ]);
    server.expect_log("nobody_knows");
    server.expect_log("404.html");
    let page = server.get("/data/t").with_status(500).text();
    assert!(!page.contains("nobody_knows"), "{page}");
    let page = server.get("/data/none").with_status(404).text();
    assert!(
        page.contains("<h1>"),
        "the program's own page tells it: {page}"
    );
}

#[test]
fn errors_have_templates_by_status() {
    let server = served(&[
        ("404.html", "not here: {{ message }} {{ request.path }}"),
        ("error.html", "{{ status }}: {{ message }}"),
    ]);
    let page = server.get("/data/none").with_status(404).text();
    assert!(page.starts_with("not here: Table not found"), "{page}");
    let page = server.get("/data/t?_size=x").with_status(400).text();
    assert!(page.starts_with("400: "), "{page}");
}

#[test]
fn style_sheets_and_scripts_of_every_level_are_in_the_head() {
    let config = json!({
        "extra_css_urls": ["/all.css"],
        "extra_js_urls": [{"url": "https://e.com/m.js", "module": true, "sri": "sha256-x"}],
        "databases": {"data": {
            "extra_css_urls": ["/data.css"],
            "tables": {"t": {"extra_js_urls": ["/t.js\"><b>"]}},
        }},
    });
    let server = Site::of(SQL).config(&config).start();
    let all = "<link rel=\"stylesheet\" href=\"/all.css\">";
    let module = "<script type=\"module\" src=\"https://e.com/m.js\" integrity=\"sha256-x\" crossorigin=\"anonymous\"></script>";
    let data = "<link rel=\"stylesheet\" href=\"/data.css\">";
    let table = "<script src=\"/t.js&quot;&gt;&lt;b&gt;\"></script>";
    for (path, parts) in [
        ("/", [true, true, false, false]),
        ("/data", [true, true, true, false]),
        ("/data/two", [true, true, true, false]),
        ("/data/t", [true, true, true, true]),
        ("/data/t/1", [true, true, true, true]),
        ("/data/-/query?sql=select+1", [true, true, true, false]),
        ("/-/versions", [true, true, false, false]),
    ] {
        let page = server.text(path);
        for (part, expected) in [all, module, data, table].into_iter().zip(parts) {
            assert_eq!(page.contains(part), expected, "{path} {part}: {page}");
        }
    }
}

#[test]
fn what_the_publisher_says_is_on_the_pages_of_its_level() {
    let site = Site::of(SQL);
    let metadata = json!({
        "title": "Site <1>", "description": "about <all>",
        "source": "S", "source_url": "javascript:alert(1)",
        "license": "L", "license_url": "https://l.com/",
        "databases": {"data": {
            "description_html": "<em>of data</em>", "about": "A", "about_url": "https://a.com/",
            "tables": {"t": {"title": "T", "source_url": "https://s.com/"}},
        }},
    });
    let path = site.write("metadata.json", metadata.to_string());
    let server = site.args(&["--metadata", &path]).start();
    let text = |path: &str| server.text(path);
    let index = text("/");
    for part in [
        "<h1>Site &lt;1&gt;</h1>",
        "<p class=\"description\">about &lt;all&gt;</p>",
        "Data license: <a href=\"https://l.com/\">L</a>",
        "Data source: S<",
    ] {
        assert!(index.contains(part), "{part}: {index}");
    }
    assert!(!index.contains("javascript:"));
    let database = text("/data");
    assert!(database.contains("<div class=\"description\"><em>of data</em></div>"));
    assert!(database.contains("About: <a href=\"https://a.com/\">A</a>"));
    assert!(
        !database.contains("Data license"),
        "each level says its own"
    );
    assert!(text("/data/-/query?sql=select+1").contains("<em>of data</em>"));
    let table = text("/data/t");
    assert!(table.contains("Data source: <a href=\"https://s.com/\">https://s.com/</a>"));
    assert!(!text("/data/two").contains("Data source"));
}
