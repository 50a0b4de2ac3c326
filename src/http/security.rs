//! Headers that tell browsers what a page may do.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::config::Config;
use crate::text::assets::Assets;

/// The `Content-Security-Policy` of our pages: scripts and styles are files of this
/// server and those that the configuration brings along, and nothing else; a page can be
/// shown in a frame. Pictures and media may come from anywhere, since a configured
/// `description_html` may have them. Scripts of the configuration may do what such
/// scripts do: load data from elsewhere, add styles and start workers.
pub fn policy(config: &Config) -> String {
    let sources = Sources::of(config);
    let scripts = joined(&sources.scripts);
    let (connections, styles) = if sources.scripts.is_empty() {
        ("'self'", joined(&sources.styles))
    } else {
        // A hash beside it would take it back.
        let hosts = sources.styles.iter().filter(|s| !s.starts_with('\''));
        ("*", format!(" 'unsafe-inline'{}", joined(hosts)))
    };
    [
        "default-src 'none'".to_owned(),
        format!("script-src 'self'{scripts}"),
        format!("style-src 'self'{styles}"),
        "img-src * data:".to_owned(),
        "media-src *".to_owned(),
        "font-src * data:".to_owned(),
        "frame-src *".to_owned(),
        format!("connect-src {connections}"),
        "worker-src 'self' blob:".to_owned(),
        "form-action 'self'".to_owned(),
        "base-uri 'none'".to_owned(),
    ]
    .join("; ")
}

/// Each after a space.
fn joined<'s>(sources: impl IntoIterator<Item = &'s String>) -> String {
    sources.into_iter().fold(String::new(), |mut list, source| {
        list.push(' ');
        list.push_str(source);
        list
    })
}

/// What the configuration brings along: origins, and hashes of what stands in `description_html`.
#[derive(Debug, Default)]
struct Sources {
    scripts: BTreeSet<String>,
    styles: BTreeSet<String>,
}

impl Sources {
    fn of(config: &Config) -> Self {
        let mut sources = Self::default();
        for (name, value) in config.raw() {
            sources.read(name, value);
        }
        for html in config.descriptions() {
            sources.read_html(html);
        }
        sources
    }

    /// Reads what stands under a key, wherever the configuration has it.
    fn read(&mut self, key: &str, value: &Value) {
        let urls = || {
            let entries = value.as_array().into_iter().flatten();
            entries.filter_map(|entry| entry.as_str().or_else(|| entry.get("url")?.as_str()))
        };
        match (key, value) {
            ("extra_js_urls", _) => self.scripts.extend(urls().filter_map(origin)),
            ("extra_css_urls", _) => self.styles.extend(urls().filter_map(origin)),
            ("description_html", Value::String(html)) => self.read_html(html),
            (_, Value::Object(map)) => {
                for (key, value) in map {
                    self.read(key, value);
                }
            }
            _ => {}
        }
    }

    fn read_html(&mut self, html: &str) {
        let assets = Assets::of(html);
        let origins = |urls: Vec<&str>| urls.into_iter().filter_map(origin).collect::<Vec<_>>();
        self.scripts.extend(assets.scripts.into_iter().map(hash));
        self.scripts.extend(origins(assets.script_urls));
        self.styles.extend(assets.styles.into_iter().map(hash));
        self.styles.extend(origins(assets.style_urls));
    }
}

/// How a policy names a text: by its hash, with lines ended as a browser's parser ends them.
fn hash(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// `https://host:port` of an absolute address, if a policy can hold it.
fn origin(url: &str) -> Option<String> {
    let url = url
        .strip_prefix("//")
        .map_or_else(|| url.to_owned(), |rest| format!("https://{rest}"));
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b".-:[]".contains(&b);
    (matches!(scheme, "http" | "https") && !host.is_empty() && host.bytes().all(is_plain))
        .then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy_of(metadata: &Value, config: &Value) -> String {
        let map = |value: &Value| value.as_object().cloned().unwrap_or_default();
        policy(&Config::new(map(metadata), map(config)).unwrap())
    }

    #[test]
    fn the_configured_hosts_may_give_scripts_and_styles() {
        let policy = policy_of(
            &json!({}),
            &json!({
                "extra_js_urls": ["https://cdn.example/a.js", {"url": "//x.example/b.js?c", "module": true}, "/local.js"],
                "databases": {"d": {"tables": {"t": {"extra_css_urls": ["http://css.example:8080/x.css", "https://a;b/x"]}}}},
            }),
        );
        for directive in [
            "script-src 'self' https://cdn.example https://x.example;",
            "style-src 'self' 'unsafe-inline' http://css.example:8080;",
            "connect-src *;",
        ] {
            assert!(policy.contains(directive), "{policy}");
        }
    }

    #[test]
    fn a_site_without_scripts_of_its_own_runs_ours_alone() {
        let policy = policy_of(&json!({}), &json!({}));
        for directive in [
            "script-src 'self';",
            "style-src 'self';",
            "connect-src 'self';",
        ] {
            assert!(policy.contains(directive), "{policy}");
        }
    }

    #[test]
    fn what_stands_in_a_description_is_allowed_by_its_hash() {
        let html = "<style>p {}\r\n</style><link rel=stylesheet href=https://css.example/x.css>";
        let style = hash("p {}\n");
        let query = json!({"databases": {"d": {"queries": {"q": {"sql": "select 1", "description_html": html}}}}});
        for (metadata, config) in [
            (json!({"description_html": html}), json!({})),
            (json!({}), query),
        ] {
            let policy = policy_of(&metadata, &config);
            let styles = format!("style-src 'self' {style} https://css.example;");
            assert!(policy.contains(&styles), "{policy}");
            assert!(policy.contains("script-src 'self';"), "{policy}");
        }
        let table = json!({"databases": {"d": {"tables": {"t": {"description_html": "<script>go()</script>"}}}}});
        let policy = policy_of(&table, &json!({}));
        let script = format!("script-src 'self' {};", hash("go()"));
        assert!(policy.contains(&script), "{policy}");
    }

    #[test]
    fn a_hash_is_that_of_the_standard() {
        // The example of CSP Level 3, 2.3.1.
        assert_eq!(
            hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }
}
