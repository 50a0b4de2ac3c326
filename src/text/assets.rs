//! Scripts and styles that a piece of HTML brings along.
//!
//! This is no parser of HTML: it finds elements as browsers do where the HTML is well
//! formed. What it misses, a browser is not told to allow.

/// What a piece of HTML brings along, as it stands there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Assets<'h> {
    /// The texts of scripts.
    pub scripts: Vec<&'h str>,
    /// The addresses of scripts.
    pub script_urls: Vec<&'h str>,
    /// The texts of styles.
    pub styles: Vec<&'h str>,
    /// The addresses of styles.
    pub style_urls: Vec<&'h str>,
}

impl<'h> Assets<'h> {
    /// Finds them.
    pub fn of(html: &'h str) -> Self {
        let mut assets = Self::default();
        let lower = html.to_ascii_lowercase();
        let mut at = 0;
        while let Some(before) = lower[at..].find('<') {
            at += before + 1;
            let rest = &lower[at..];
            if rest.starts_with("!--") {
                at = rest.find("-->").map_or(lower.len(), |end| at + end);
                continue;
            }
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let name = &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())];
            if !matches!(name, "script" | "style" | "link") {
                continue;
            }
            let Some(end) = end_of_tag(rest) else { break };
            let attributes = &html[at + name.len()..at + end];
            at += end + 1;
            if name == "link" {
                assets.style_urls.extend(attribute(attributes, "href"));
                continue;
            }
            let close = format!("</{name}");
            let end = lower[at..].find(&close).map_or(lower.len(), |end| at + end);
            let text = &html[at..end];
            at = end;
            match (name, attribute(attributes, "src")) {
                ("script", Some(url)) => assets.script_urls.push(url),
                ("script", None) => assets.scripts.push(text),
                _ => assets.styles.push(text),
            }
        }
        assets
    }
}

/// Where the `>` of a tag is; there may be others between quotes.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quote = None;
    tag.bytes().position(|byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None if byte == b'"' || byte == b'\'' => {
            quote = Some(byte);
            false
        }
        None => byte == b'>',
    })
}

/// The value of an attribute.
fn attribute<'h>(mut attributes: &'h str, name: &str) -> Option<&'h str> {
    let is_space = |c: char| c.is_ascii_whitespace() || c == '/';
    loop {
        attributes = attributes.trim_start_matches(is_space);
        if attributes.is_empty() {
            return None;
        }
        // A name may begin with `=`.
        let mut characters = attributes.char_indices().skip(1);
        let end = characters.find(|&(_, c)| c == '=' || is_space(c));
        let (key, rest) = attributes.split_at(end.map_or(attributes.len(), |(end, _)| end));
        let rest = rest.trim_start();
        let Some(rest) = rest.strip_prefix('=').map(str::trim_start) else {
            attributes = rest;
            continue;
        };
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, rest) = if let Some(quote) = quote {
            rest[1..].split_once(quote).unwrap_or((&rest[1..], ""))
        } else {
            let end = rest.find(|c: char| c.is_ascii_whitespace());
            rest.split_at(end.unwrap_or(rest.len()))
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        attributes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_styles_are_found_with_their_texts_or_addresses() {
        let html = "<p>1 < 2</p><SCRIPT>if (1 < 2) alert('</p>')</SCRIPT>\
            <script defer src = \"https://e.com/a.js?x='\" ></script><style>\na>b {}\n</style >\
            <link rel=stylesheet href=//f.com/b.css><script async src='c.js'></script>";
        assert_eq!(
            Assets::of(html),
            Assets {
                scripts: vec!["if (1 < 2) alert('</p>')"],
                script_urls: vec!["https://e.com/a.js?x='", "c.js"],
                styles: vec!["\na>b {}\n"],
                style_urls: vec!["//f.com/b.css"],
            }
        );
    }

    #[test]
    fn what_is_none_is_not_found() {
        for html in [
            "",
            "<!-- <script>x</script> -->",
            "<scripts>x</scripts><style-guide>y</style-guide>",
            "&lt;script>x&lt;/script>",
            "<p title=é>é</p><",
            "<script data-x=\"1",
        ] {
            assert_eq!(Assets::of(html), Assets::default(), "{html}");
        }
    }

    #[test]
    fn an_element_without_an_end_goes_to_the_end() {
        assert_eq!(Assets::of("<script>é").scripts, ["é"]);
        assert_eq!(
            Assets::of("<script é =2 ü=1 src>x</script").scripts,
            ["x"],
            "it has no address"
        );
        assert!(Assets::of("<link href=\"x>").style_urls.is_empty());
    }
}
