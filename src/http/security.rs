//! Headers that tell browsers what a page may do.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::Config;

/// The `Content-Security-Policy` of our pages: scripts and styles are files of this
/// server and those that the configuration names, and nothing else; a page can be
/// shown in a frame. Pictures and media may come from anywhere, since a configured
/// `description_html` may have them.
pub fn policy(config: &Config) -> String {
    let (scripts, styles) = (
        hosts(config, "extra_js_urls"),
        hosts(config, "extra_css_urls"),
    );
    [
        "default-src 'none'".to_owned(),
        format!("script-src 'self'{scripts}"),
        format!("style-src 'self'{styles}"),
        "img-src * data:".to_owned(),
        "media-src *".to_owned(),
        "font-src * data:".to_owned(),
        "frame-src *".to_owned(),
        "connect-src 'self'".to_owned(),
        "form-action 'self'".to_owned(),
        "base-uri 'none'".to_owned(),
    ]
    .join("; ")
}

/// The origins of the addresses under a key, wherever the configuration has it,
/// each after a space.
fn hosts(config: &Config, key: &str) -> String {
    let mut found = BTreeSet::new();
    collect(&Value::Object(config.raw().clone()), key, &mut found);
    found.iter().fold(String::new(), |mut list, origin| {
        list.push(' ');
        list.push_str(origin);
        list
    })
}

fn collect(value: &Value, key: &str, found: &mut BTreeSet<String>) {
    let Value::Object(map) = value else { return };
    for (name, value) in map {
        if name != key {
            collect(value, key, found);
            continue;
        }
        let entries = value.as_array().into_iter().flatten();
        let urls =
            entries.filter_map(|entry| entry.as_str().or_else(|| entry.get("url")?.as_str()));
        found.extend(urls.filter_map(origin));
    }
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
    use serde_json::{Map, json};

    #[test]
    fn the_configured_hosts_may_give_scripts_and_styles() {
        let config = json!({
            "extra_js_urls": ["https://cdn.example/a.js", {"url": "//x.example/b.js?c", "module": true}, "/local.js"],
            "databases": {"d": {"tables": {"t": {"extra_css_urls": ["http://css.example:8080/x.css", "https://a;b/x"]}}}},
        });
        let config = Config::new(Map::new(), config.as_object().unwrap().clone()).unwrap();
        let policy = policy(&config);
        assert!(
            policy.contains("script-src 'self' https://cdn.example https://x.example;"),
            "{policy}"
        );
        assert!(
            policy.contains("style-src 'self' http://css.example:8080;"),
            "{policy}"
        );
    }
}
