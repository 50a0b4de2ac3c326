//! The HTML templates, built into the program, and the part of their context
//! that all pages share.

use serde::Serialize;
use serde_json::Value;
use tera::{Context, Tera};

use super::embedded::TEMPLATE_FILES;
use super::statics::Statics;
use crate::auth::Actor;
use crate::config::{Config, Metadata};
use crate::error::{Error, Result};

/// A step of the way from the front page to this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Crumb {
    /// Where it leads.
    pub href: String,
    /// What it says.
    pub label: String,
}

/// What the frame of a page needs to know of the page.
#[derive(Debug, Clone, Default)]
pub struct Frame<'a> {
    /// Classes of `<body>`.
    pub body_class: &'a str,
    /// The way here, from the front page.
    pub crumbs: &'a [Crumb],
    /// The same page as JSON, an absolute URL; `""` when there is none.
    pub alternate_json: &'a str,
    /// Title, source and so on of what the page shows.
    pub metadata: Option<&'a Metadata>,
    /// Who is reading it.
    pub actor: Option<&'a Actor>,
}

/// The templates by name, compiled.
pub struct Templates {
    tera: Tera,
    /// The part of the context that is the same for all pages of all requests.
    shared: Context,
}

impl Templates {
    /// The templates that were there when the program was built.
    ///
    /// # Errors
    /// A template that does not compile; a test keeps that out of a release.
    pub fn built_in(config: &Config, statics: &Statics) -> Result<Self, String> {
        Self::of(TEMPLATE_FILES, config, statics)
    }

    fn of(
        files: &[(&'static str, &'static str)],
        config: &Config,
        statics: &Statics,
    ) -> Result<Self, String> {
        let mut tera = Tera::new();
        tera.add_raw_templates(files.iter().copied())
            .map_err(|error| format!("a template does not compile: {error}"))?;
        let base = config.settings.base_url.as_str();
        let mut shared = Context::new();
        shared.insert("base", base);
        shared.insert("app_css_url", &statics.url(base, "app.css"));
        shared.insert("table_js_url", &statics.url(base, "table.js"));
        shared.insert("jump_js_url", &statics.url(base, "jump.js"));
        shared.insert("version", env!("CARGO_PKG_VERSION"));
        for key in ["extra_css_urls", "extra_js_urls"] {
            shared.insert(key, &extra_urls(config, key));
        }
        Ok(Self { tera, shared })
    }

    /// The context that a page adds its own values to.
    pub fn context(&self, frame: &Frame<'_>) -> Context {
        let mut context = self.shared.clone();
        context.insert("body_class", frame.body_class);
        context.insert("crumbs", frame.crumbs);
        context.insert("alternate_json", frame.alternate_json);
        if let Some(actor) = frame.actor {
            context.insert("actor", actor.facts());
            context.insert("actor_name", &actor.name());
        }
        match frame.metadata {
            Some(metadata) => context.insert("metadata", metadata),
            None => context.insert("metadata", &Metadata::default()),
        }
        context
    }

    /// Renders a template.
    ///
    /// # Errors
    /// [`Error::Internal`] on a template that does not exist or asks for what the context lacks.
    pub fn render(&self, name: &str, context: &Context) -> Result<String> {
        self.tera
            .render(name, context)
            .map_err(|error| Error::Internal(format!("template {name}: {error}")))
    }
}

/// `extra_css_urls` and `extra_js_urls`: an address or `{url, sri, module}`; an
/// address that begins with a slash is one of this server.
fn extra_urls(config: &Config, key: &str) -> Vec<Value> {
    let base = config.settings.base_url.trim_end_matches('/');
    let listed = config.raw().get(key).and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let url = entry.as_str().or_else(|| entry.get("url")?.as_str())?;
            let url = if url.starts_with('/') {
                format!("{base}{url}")
            } else {
                url.to_owned()
            };
            let sri = entry.get("sri").and_then(Value::as_str).unwrap_or_default();
            let module = entry
                .get("module")
                .and_then(Value::as_bool)
                .unwrap_or_default();
            Some(serde_json::json!({"url": url, "sri": sri, "module": module}))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_built_in_templates_compile() {
        Templates::built_in(&Config::default(), &Statics::built_in()).expect("they compile");
    }

    #[test]
    fn html_is_escaped_and_the_shared_context_is_there() {
        let files = [(
            "page.html",
            "{{ base }} {{ version }} {{ metadata.title }}|{{ body_class }}|{{ value }}|{% for crumb in crumbs %}{{ crumb.label }}{% endfor %}",
        )];
        let config = json!({"settings": {"base_url": "/data/"}});
        let config = Config::new(
            serde_json::Map::new(),
            config.as_object().expect("object").clone(),
        )
        .expect("valid");
        let templates = Templates::of(&files, &config, &Statics::built_in()).expect("compiles");
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
        let templates =
            Templates::of(&[], &Config::default(), &Statics::built_in()).expect("empty");
        let error = templates
            .render("nope.html", &Context::new())
            .expect_err("missing");
        assert_eq!(error.status(), 500);
    }

    #[test]
    fn extra_urls_of_this_server_get_its_base() {
        let config = json!({
            "settings": {"base_url": "/d/"},
            "extra_css_urls": ["/x.css", {"url": "https://e.com/y.css", "sri": "sha"}]
        });
        let config = Config::new(
            serde_json::Map::new(),
            config.as_object().expect("object").clone(),
        )
        .expect("valid");
        assert_eq!(
            extra_urls(&config, "extra_css_urls"),
            [
                json!({"url": "/d/x.css", "sri": "", "module": false}),
                json!({"url": "https://e.com/y.css", "sri": "sha", "module": false}),
            ]
        );
    }
}
