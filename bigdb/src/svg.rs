//! What all charts share.

use std::fmt::{self, Write};

/// Colours that people who do not tell red from green tell apart (Okabe and Ito).
pub const COLOURS: [&str; 3] = ["#0072b2", "#e69f00", "#009e73"];

/// Begins a document of `size` pixels, width and height, on white, with its title in sight.
pub fn open(svg: &mut String, size: [f64; 2], title: &str) -> fmt::Result {
    let [width, height] = size;
    writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="13" fill="#222222">"##
    )?;
    writeln!(svg, "<title>{}</title>", escaped(title))?;
    writeln!(
        svg,
        r##"<rect width="100%" height="100%" fill="#ffffff"/>"##
    )?;
    text(
        svg,
        [24.0, 36.0],
        r#"font-size="22" font-weight="600""#,
        title,
    )
}

/// `content` with its left end, or what `attributes` anchor, at `at`.
pub fn text(svg: &mut String, at: [f64; 2], attributes: &str, content: &str) -> fmt::Result {
    writeln!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" {attributes}>{}</text>"#,
        at[0],
        at[1],
        escaped(content)
    )
}

fn escaped(content: &str) -> String {
    content.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Enough of an XML reader for what is drawn here: every tag is closed in
    /// order and every attribute is quoted.
    pub fn check_well_formed(xml: &str) {
        let mut open = Vec::new();
        for part in xml.split('<').skip(1) {
            let (tag, _) = part.split_once('>').expect("a tag ends");
            assert!(tag.matches('"').count() % 2 == 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "{tag}");
            } else if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().unwrap());
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn text_is_escaped() {
        let mut svg = String::new();
        open(&mut svg, [10.0, 10.0], "a < b & c").unwrap();
        svg.push_str("</svg>");
        check_well_formed(&svg);
        assert_eq!(svg.matches("a &lt; b &amp; c").count(), 2, "{svg}");
    }
}
