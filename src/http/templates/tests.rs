//! Which template a page gets, and what is in its context.

use serde_json::{Map, Value, json};

use super::*;

fn config(value: &Value) -> Config {
    let value = value.as_object().expect("an object").clone();
    Config::new(Map::new(), value).expect("valid")
}

const BUILT_IN: [(&str, &str); 3] = [
    ("base.html", "[{% block content %}{% endblock content %}]"),
    (
        "table.html",
        "{% extends \"base.html\" %}{% block content %}ours {% include \"_table.html\" %}{% endblock content %}",
    ),
    ("_table.html", "rows"),
];

fn templates(files: &[(&str, &str)]) -> Result<Templates, String> {
    let file = |(name, source): &(&str, &str)| File {
        name: (*name).to_owned(),
        path: Path::new("site").join(name),
        source: (*source).to_owned(),
    };
    let files: Vec<File> = files.iter().map(file).collect();
    Templates::of(&BUILT_IN, &files, &Config::default(), &Statics::built_in())
}

/// The page of table `t` in `d`.
fn page(files: &[(&str, &str)]) -> String {
    let templates = templates(files).expect("they compile");
    let choice = templates.choose(&Subject::Table("d", "t"));
    choice.render(&Context::new()).expect("it renders")
}

#[test]
fn the_built_in_templates_compile_and_want_nothing_more() {
    let templates =
        Templates::built_in(&Config::default(), &Statics::built_in()).expect("they compile");
    for subject in [
        Subject::Index,
        Subject::Database("d"),
        Subject::Table("d", "t"),
        Subject::Row("d", "t"),
        Subject::Query("d", Some("q")),
        Subject::Error(404),
        Subject::Other("show_json.html"),
    ] {
        let choice = templates.choose(&subject);
        assert!(choice.wanted().is_empty(), "{subject:?}");
        assert!(
            templates.main.tera.contains_template(&choice.name),
            "{subject:?}"
        );
    }
}

#[test]
fn the_blocks_of_the_built_in_pages_are_those_of_their_frame() {
    // Tera says nothing of a block that the parent does not have: the page would be empty.
    let blocks = |source: &str| -> Vec<String> {
        let parts = source.split("{% block ").skip(1);
        let parts = parts.chain(source.split("{%- block ").skip(1));
        parts
            .filter_map(|part| part.split_whitespace().next().map(str::to_owned))
            .collect()
    };
    let (_, base) = TEMPLATE_FILES
        .iter()
        .find(|(name, _)| *name == "base.html")
        .expect("the frame");
    let known = blocks(base);
    assert!(known.contains(&"content".to_owned()));
    for (name, source) in TEMPLATE_FILES {
        for block in blocks(source) {
            assert!(known.contains(&block), "{name} has a block {block}");
        }
    }
}

#[test]
fn the_built_in_pages_have_no_script_and_no_style_in_them() {
    for (name, source) in TEMPLATE_FILES {
        // The page of a query is the last that has one.
        let has_style = source.contains(" style=\"") && *name != "query.html";
        assert!(!has_style && !source.contains("<style"), "{name}");
        for script in source.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap_or_default();
            assert!(tag.contains("src="), "{name}: {tag}");
        }
        for event in [
            " onclick=",
            " onload=",
            " onsubmit=",
            " onchange=",
            "javascript:",
        ] {
            assert!(!source.contains(event), "{name}: {event}");
        }
    }
}

#[test]
fn html_is_escaped_and_the_shared_context_is_there() {
    let files = [(
        "page.html",
        "{{ base_url }} {{ version }} {{ metadata.title }}|{{ body_class }}|{{ value }}|{% for crumb in crumbs %}{{ crumb.label }}{% endfor %}",
    )];
    let config = config(&json!({"settings": {"base_url": "/data/"}}));
    let templates = Templates::of(&files, &[], &config, &Statics::built_in()).expect("compiles");
    let crumbs = [Crumb {
        href: "/data/".into(),
        label: "home".into(),
    }];
    let mut context = templates.context(&Frame {
        body_class: "index",
        crumbs: &crumbs,
        ..Frame::default()
    });
    context.insert("value", "<script>");
    let html = templates.render("page.html", &context).expect("renders");
    assert_eq!(
        html,
        format!(
            "/data/ {} |index|&lt;script&gt;|home",
            env!("CARGO_PKG_VERSION")
        )
    );
}

#[test]
fn a_template_that_is_missing_is_an_internal_error() {
    let error = templates(&[])
        .expect("they compile")
        .render("nope.html", &Context::new())
        .expect_err("missing");
    assert_eq!(error.status(), 500);
}

#[test]
fn a_template_of_the_site_goes_before_ours_and_the_special_before_the_general() {
    assert_eq!(page(&[]), "[ours rows]");
    let general = ("table.html", "theirs");
    assert_eq!(page(&[general]), "theirs");
    assert_eq!(page(&[general, ("table-d-t.html", "special")]), "special");
    assert_eq!(page(&[("table-d-other.html", "special")]), "[ours rows]");
}

#[test]
fn templates_of_the_site_extend_ours_and_each_other() {
    let general = (
        "table.html",
        "{% extends \"default:table.html\" %}{% block content %}before {{ super() }}{% endblock content %}",
    );
    assert_eq!(page(&[general]), "[before ours rows]");
    let special = (
        "table-d-t.html",
        "{% extends \"table.html\" %}{% block content %}{{ super() }} after{% endblock content %}",
    );
    assert_eq!(page(&[special]), "[ours rows after]");
    assert_eq!(page(&[general, special]), "[before ours rows after]");
    let base = ("base.html", "<{% block content %}{% endblock content %}>");
    assert_eq!(page(&[base]), "<ours rows>");
}

#[test]
fn the_rows_of_one_table_have_a_template_of_their_own() {
    assert_eq!(page(&[("_table.html", "all")]), "[ours all]");
    assert_eq!(page(&[("_table-d-t.html", "of t")]), "[ours of t]");
    assert_eq!(page(&[("_table-table-d-t.html", "of t")]), "[ours of t]");
    assert_eq!(
        page(&[("_table-row-d-t.html", "of its rows")]),
        "[ours rows]"
    );
    assert_eq!(page(&[("_table-d-x.html", "of x")]), "[ours rows]");
    let wrapped = ("_table-d-t.html", "({% include \"default:_table.html\" %})");
    assert_eq!(page(&[wrapped]), "[ours (rows)]");
}

#[test]
fn rows_that_include_themselves_are_told_how_to_do_it() {
    let wrapped = ("_table-d-t.html", "({% include \"_table.html\" %})");
    let error = templates(&[wrapped]).err().expect("a circle");
    assert!(error.contains("default:_table.html"), "{error}");
}

#[test]
fn a_template_wants_what_it_its_parents_and_its_includes_mention() {
    let files = [
        (
            "table.html",
            "{% extends \"base.html\" %}{% block content %}{{ a }}{% include \"_x.html\" %}{% endblock content %}",
        ),
        ("_x.html", "{{ b }}"),
        (
            "base.html",
            "{{ c }}{% block content %}{% endblock content %}",
        ),
    ];
    let templates = templates(&files).expect("they compile");
    let choice = templates.choose(&Subject::Table("d", "t"));
    for (name, wanted) in [("a", true), ("b", true), ("c", true), ("d", false)] {
        assert_eq!(choice.wanted().has(name), wanted, "{name}");
    }
}

#[test]
fn the_templates_that_were_considered_are_told() {
    let templates = templates(&[(
        "table-d-t.html",
        "{{ select_templates | join(sep=\", \") }}",
    )])
    .expect("they compile");
    let choice = templates.choose(&Subject::Table("d", "t"));
    let context = choice.context(&Frame::default());
    assert_eq!(
        choice.render(&context).expect("it renders"),
        "*table-d-t.html, table.html"
    );
}

#[test]
fn custom_pages_are_templates_in_the_folder_pages() {
    let templates = templates(&[
        ("pages/a/{b}.html", "x"),
        ("pages/c.txt", "y"),
        ("d.html", "z"),
    ])
    .expect("they compile");
    let pages: Vec<&str> = templates.custom_pages().collect();
    assert_eq!(pages, ["a/{b}"]);
    let page = templates.custom_page("a/{b}");
    assert_eq!(page.render(&Context::new()).expect("it renders"), "x");
}
