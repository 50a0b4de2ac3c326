//! Text in HTML.

/// Appends `text` with the five characters that mean something in HTML replaced, as `MarkupSafe` (and so Datasette) writes them.
pub fn escape_into(out: &mut String, text: &str) {
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let replacement = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&#34;",
            b'\'' => "&#39;",
            _ => continue,
        };
        out.push_str(&text[written..at]);
        out.push_str(replacement);
        written = at + 1;
    }
    out.push_str(&text[written..]);
}

/// `text` for HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    escape_into(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn five_characters_are_replaced() {
        assert_eq!(
            escape("<a href=\"x?y=1&z\">it's</a>"),
            "&lt;a href=&#34;x?y=1&amp;z&#34;&gt;it&#39;s&lt;/a&gt;"
        );
        assert_eq!(escape("ünï 🎉"), "ünï 🎉");
        assert_eq!(escape(""), "");
    }

    #[test]
    fn text_is_appended() {
        let mut out = "x".to_owned();
        escape_into(&mut out, "&");
        assert_eq!(out, "x&amp;");
    }

    proptest! {
        #[test]
        fn it_equals_five_replacements(text in "[a-c&<>\"'ü🎉]{0,40}") {
            let expected = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace('"', "&#34;")
                .replace('\'', "&#39;");
            prop_assert_eq!(escape(&text), expected);
        }
    }
}
