//! Functions and filters that templates have besides Tera's own. Where
//! Datasette has a function of the kind, the name says which: `urls.table(…)` is `url_table(…)`.

use std::collections::HashMap;

use tera::{Error, Kwargs, State, Tera, TeraResult, Value};

use crate::http::pages::said;
use crate::text::{css, human, number, query, tilde};

/// Adds them. `base` is the `base_url`; `statics` has the URL of each file of the program.
pub fn register(tera: &mut Tera, base: &str, statics: HashMap<String, String>) {
    urls(tera, base, statics);
    filters(tera);
    tera.register_function("append_querystring", |given: Kwargs, _: &State<'_>| {
        let url: &str = given.must_get("url")?;
        let more: &str = given.must_get("querystring")?;
        let separator = if url.contains('?') { '&' } else { '?' };
        TeraResult::Ok(format!("{url}{separator}{more}"))
    });
    tera.register_function("custom_status", |given: Kwargs, _: &State<'_>| {
        said::status(given.must_get::<u64>("status")?).map(|()| "")
    });
    tera.register_function("custom_header", |given: Kwargs, _: &State<'_>| {
        said::header(given.must_get("name")?, given.must_get("value")?).map(|()| "")
    });
    tera.register_function("custom_redirect", |given: Kwargs, _: &State<'_>| {
        let status = given.get::<u64>("status")?.unwrap_or(302);
        said::redirect(given.must_get("location")?, status).map(|()| "")
    });
    tera.register_function(
        "raise_404",
        |given: Kwargs, _: &State<'_>| -> TeraResult<String> {
            Err(said::not_found(given.get("message")?.unwrap_or_default()))
        },
    );
}

/// Adds the functions that make URLs, all with the `base_url`.
fn urls(tera: &mut Tera, base: &str, statics: HashMap<String, String>) {
    let base = base.to_owned();
    let encode = |name: &str| tilde::encode(name.as_bytes());
    let of = {
        let base = base.clone();
        move |given: &Kwargs, parts: &[&str]| -> TeraResult<String> {
            let mut path = base.clone();
            for (n, part) in parts.iter().enumerate() {
                if n > 0 {
                    path.push('/');
                }
                path.push_str(&encode(given.must_get(part)?));
            }
            with_format(path, given)
        }
    };
    for (name, parts) in [
        ("url_database", &["database"] as &[&str]),
        ("url_table", &["database", "table"]),
        ("url_query", &["database", "query"]),
    ] {
        let of = of.clone();
        tera.register_function(name, move |given: Kwargs, _: &State<'_>| of(&given, parts));
    }
    tera.register_function("url_row", move |given: Kwargs, _: &State<'_>| {
        // The last part is encoded already: commas separate the values of a key.
        let table = of(&without_format(&given)?, &["database", "table"])?;
        let row_path: &str = given.must_get("row_path")?;
        with_format(format!("{table}/{row_path}"), &given)
    });
    let path = {
        let base = base.clone();
        move |path: &str| {
            let path = path.trim_start_matches('/');
            // What has the prefix already keeps it once.
            if path.starts_with(base.trim_start_matches('/')) && base != "/" {
                format!("/{path}")
            } else {
                format!("{base}{path}")
            }
        }
    };
    let below = path.clone();
    tera.register_function("url_path", move |given: Kwargs, _: &State<'_>| {
        TeraResult::Ok(below(given.must_get("path")?))
    });
    tera.register_function("url_instance", move |given: Kwargs, _: &State<'_>| {
        with_format(base.clone(), &given)
    });
    let below = path.clone();
    tera.register_function("url_logout", move |_: Kwargs, _: &State<'_>| {
        below("-/logout")
    });
    tera.register_function("url_static", move |given: Kwargs, _: &State<'_>| {
        let name: &str = given.must_get("path")?;
        TeraResult::Ok(match statics.get(name) {
            Some(url) => url.clone(),
            None => path(&format!("-/static/{name}")),
        })
    });
}

fn with_format(mut path: String, given: &Kwargs) -> TeraResult<String> {
    if let Some(format) = given.get::<&str>("format")? {
        path.push('.');
        path.push_str(format);
    }
    Ok(path)
}

fn without_format(given: &Kwargs) -> TeraResult<Kwargs> {
    let parts = ["database", "table"].iter().map(|&part| {
        let value: Value = given.must_get(part)?;
        TeraResult::Ok((part.into(), value))
    });
    Ok(Kwargs::new(std::sync::Arc::new(
        parts.collect::<TeraResult<_>>()?,
    )))
}

fn filters(tera: &mut Tera) {
    tera.register_filter("tojson", |value: &Value, _: Kwargs, _: &State<'_>| {
        let json = serde_json::to_string(value)
            .map_err(|error| Error::message(format!("tojson: {error}")))?;
        // Safe in the text of a page, in an attribute with single quotes and in a script.
        let mut out = String::with_capacity(json.len());
        for character in json.chars() {
            match character {
                '<' => out.push_str("\\u003c"),
                '>' => out.push_str("\\u003e"),
                '&' => out.push_str("\\u0026"),
                '\'' => out.push_str("\\u0027"),
                other => out.push(other),
            }
        }
        TeraResult::Ok(Value::safe_string(&out))
    });
    for name in ["urlencode", "quote_plus"] {
        tera.register_filter(name, |text: &str, _: Kwargs, _: &State<'_>| {
            let mut out = String::new();
            query::encode_into(&mut out, text);
            out
        });
    }
    tera.register_filter("tilde_encode", |text: &str, _: Kwargs, _: &State<'_>| {
        tilde::encode(text.as_bytes())
    });
    tera.register_filter("tilde_decode", |text: &str, _: Kwargs, _: &State<'_>| {
        tilde::decode(text)
    });
    tera.register_filter("to_css_class", |text: &str, _: Kwargs, _: &State<'_>| {
        css::class(text)
    });
    tera.register_filter("format_bytes", |count: u64, _: Kwargs, _: &State<'_>| {
        human::bytes(count)
    });
    tera.register_filter("thousands", |count: i64, _: Kwargs, _: &State<'_>| {
        let sign = if count < 0 { "-" } else { "" };
        format!("{sign}{}", number::thousands(count.unsigned_abs()))
    });
    for (name, part) in [("display", "value"), ("raw", "raw")] {
        tera.register_filter(
            name,
            move |row: &[Value], given: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                let column: &str = given.must_get("column")?;
                let cell = row
                    .iter()
                    .find(|cell| member(cell, "column").as_str() == Some(column));
                Ok(cell.map_or_else(Value::none, |cell| member(cell, part)))
            },
        );
    }
}

/// A member of an object.
fn member(value: &Value, name: &str) -> Value {
    value
        .get_from_path(name)
        .cloned()
        .unwrap_or_else(Value::none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tera::Context;

    fn rendered(template: &str) -> String {
        let mut tera = Tera::new();
        let statics = HashMap::from([("app.css".to_owned(), "/p/-/static/app.css?_hash=1".into())]);
        register(&mut tera, "/p/", statics);
        tera.add_raw_template("x.html", template).expect("compiles");
        let mut context = Context::new();
        context.insert("nasty", "</script>'&");
        context.insert(
            "row",
            &json!([{"column": "a", "value": "<b>", "raw": 5}, {"column": "b", "value": "", "raw": null}]),
        );
        tera.render("x.html", &context).expect("renders")
    }

    #[test]
    fn urls_have_the_prefix_once() {
        for (call, url) in [
            ("url_instance()", "/p/"),
            ("url_instance(format='json')", "/p/.json"),
            ("url_path(path='/x')", "/p/x"),
            ("url_path(path='/p/x')", "/p/x"),
            ("url_database(database='a b')", "/p/a+b"),
            (
                "url_table(database='d', table='x/y', format='csv')",
                "/p/d/x~2Fy.csv",
            ),
            (
                "url_row(database='d', table='t', row_path='1,~2D', format='json')",
                "/p/d/t/1,~2D.json",
            ),
            ("url_query(database='d', query='q')", "/p/d/q"),
            ("url_static(path='app.css')", "/p/-/static/app.css?_hash=1"),
            ("url_static(path='else.css')", "/p/-/static/else.css"),
            ("url_logout()", "/p/-/logout"),
            (
                "append_querystring(url='/x?a=1', querystring='b')",
                "/x?a=1&amp;b",
            ),
        ] {
            assert_eq!(rendered(&format!("{{{{ {call} }}}}")), url, "{call}");
        }
    }

    #[test]
    fn filters_do_what_those_of_datasette_do() {
        for (expression, text) in [
            ("nasty | tojson", r#""\u003c/script\u003e\u0027\u0026""#),
            ("'a b/c' | urlencode", "a+b%2Fc"),
            ("'a b' | tilde_encode", "a+b"),
            ("'a~2Fb' | tilde_decode", "a/b"),
            ("'a b' | to_css_class", "a-b-0cc9cd"),
            ("2048 | format_bytes", "2.0 KB"),
            ("-1234567 | thousands", "-1,234,567"),
            ("row | display(column='a')", "&lt;b&gt;"),
            ("row | raw(column='a')", "5"),
            ("row | raw(column='none')", ""),
        ] {
            assert_eq!(
                rendered(&format!("{{{{ {expression} }}}}")),
                text,
                "{expression}"
            );
        }
    }

    #[test]
    fn functions_of_custom_pages_say_where_they_belong() {
        let mut tera = Tera::new();
        register(&mut tera, "/", HashMap::new());
        tera.add_raw_template("x.html", "{{ custom_status(status=418) }}")
            .expect("compiles");
        let error = tera.render("x.html", &Context::new()).expect_err("no page");
        assert!(error.to_string().contains("pages/"), "{error}");
    }

    /// The table "From Jinja to Tera" in `docs/templates.md`.
    #[test]
    fn what_the_documentation_says_of_tera_is_so() {
        for (template, text) in [
            ("{{ (row | raw(column=\"a\")) * 2 }}", "10"),
            ("{{ unknown or \"y\" }}", "y"),
            ("{{ unknown | default(value=\"y\") }}", "y"),
            ("{{ nasty.b?.c or \"none\" }}", "none"),
            ("{% set x = 1 %}{{ x }}", "1"),
            (
                "{% set x = 0 %}{% for cell in row %}{% set_global x = loop.index %}{% endfor %}{{ x }}",
                "2",
            ),
            (
                "{% for key, value in row[0] %}{{ key }} {% endfor %}",
                "column value raw ",
            ),
            (
                "{% for r in [[row[0]], [row[1]]] %}{% for cell in r %}{{ cell.column }}{% endfor %}{{ loop.index0 }}{% endfor %}",
                "a0b1",
            ),
            (
                "{% if \"abc\" is starting_with(pat=\"a\") %}yes{% endif %}",
                "yes",
            ),
            (
                "{% if unknown is defined %}x{% elif row[1].raw is none %}none{% endif %}",
                "none",
            ),
            ("{{ [1, 2] | join(sep=\", \") }}", "1, 2"),
            (
                "{{ \"abc\" | replace(from=\"b\", to=\"x\") | truncate(length=2) }}",
                "ax…",
            ),
            ("{{ row[0][\"column\"] }}", "a"),
            (
                "{% component name(argument) %}<{{ argument }}>{% endcomponent name %}{{ <name argument={5} /> }}",
                "<5>",
            ),
        ] {
            assert_eq!(rendered(template), text, "{template}");
        }
    }
}
