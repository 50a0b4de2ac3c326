//! Values for people to read: sizes, and text cut to a length.

use std::borrow::Cow;

use super::is_space;

/// A number of bytes in the unit that suits it, as Datasette's `format_bytes`: `512 bytes`, `1.5 KB`.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub fn bytes(count: u64) -> String {
    if count < 1024 {
        return format!("{count} bytes");
    }
    let mut size = count as f64 / 1024.0;
    let mut unit = "KB";
    for larger in ["MB", "GB", "TB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

/// Whether the whole of `text` is one web address: `http://` or `https://`, and no white space.
pub fn is_url(text: &str) -> bool {
    (text.starts_with("http://") || text.starts_with("https://")) && !text.contains(is_space)
}

/// A web address cut to `length` characters, keeping a short file extension; `0` is no limit. Datasette's `truncate_url`.
pub fn truncate_url(url: &str, length: usize) -> Cow<'_, str> {
    if cut(url, length).is_none() {
        return Cow::Borrowed(url);
    }
    if let Some((rest, extension)) = url.rsplit_once('.') {
        let characters = extension.chars().count();
        if (1..=4).contains(&characters) && !extension.contains('/') && characters < length {
            let rest = first_chars(rest, length - 1 - characters);
            return Cow::Owned(format!("{rest}….{extension}"));
        }
    }
    Cow::Owned(format!("{}…", first_chars(url, length - 1)))
}

/// The first `length` characters of `text` if there are more, `None` if that is all of it; `0` is no limit. Where Datasette cuts a
/// cell, with a `…` for the rest.
pub fn cut(text: &str, length: usize) -> Option<&str> {
    let end = char_offset(text, length)?;
    (length > 0 && end < text.len()).then(|| &text[..end])
}

fn first_chars(text: &str, count: usize) -> &str {
    char_offset(text, count).map_or(text, |end| &text[..end])
}

/// The byte at which the character number `count` begins; `None` if there are not that many before the end.
fn char_offset(text: &str, count: usize) -> Option<usize> {
    // A text of no more bytes than that has no more characters either.
    if text.len() < count {
        return None;
    }
    text.char_indices()
        .map(|(at, _)| at)
        .chain(std::iter::once(text.len()))
        .nth(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_take_the_unit_that_suits_them() {
        for (count, expected) in [
            (0, "0 bytes"),
            (1, "1 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KB"),
            (1280, "1.2 KB"),
            (1536, "1.5 KB"),
            (1792, "1.8 KB"),
            (1_048_575, "1024.0 KB"),
            (1_048_576, "1.0 MB"),
            (1 << 30, "1.0 GB"),
            (5 << 40, "5.0 TB"),
            ((1 << 50) - 1, "1024.0 TB"),
            (1 << 50, "1024.0 TB"),
        ] {
            assert_eq!(bytes(count), expected);
        }
    }

    #[test]
    fn an_address_is_one_address_and_nothing_else() {
        assert!(is_url("http://example.com/"));
        assert!(is_url("https://"));
        assert!(!is_url("HTTP://example.com/"));
        assert!(!is_url("see http://example.com/"));
        assert!(!is_url("http://example.com/ and more"));
        assert!(!is_url("http://example.com/\u{a0}"));
        assert!(!is_url("ftp://example.com/"));
    }

    #[test]
    fn long_addresses_keep_their_extension() {
        for (url, length, expected) in [
            ("https://example.com/", 5, "http…"),
            ("http://x/abcdefghij.jpg", 12, "http://x….jpg"),
            ("http://x/abcdefghij.jpeg", 12, "http://….jpeg"),
            ("http://x/abcdefghij.jpegs", 12, "http://x/ab…"),
            ("http://x.y/abcdefghij", 12, "http://x.y/…"),
            ("http://x/ü.jpg", 14, "http://x/ü.jpg"),
            ("http://x/ü.jpg", 13, "http://x/….jpg"),
            ("http://x/a.jpg", 4, "….jpg"),
            ("http://x/a.jpg", 0, "http://x/a.jpg"),
            ("http://x/a.", 6, "http:…"),
            ("http://x/a.üü", 9, "http:/….üü"),
        ] {
            assert_eq!(truncate_url(url, length), expected);
        }
    }

    #[test]
    fn an_extension_that_does_not_fit_is_cut_too() {
        assert_eq!(truncate_url("http://x/a.jpg", 3), "ht…");
        assert_eq!(truncate_url("http://x/a.jpg", 1), "…");
    }

    #[test]
    fn cells_are_cut_by_characters() {
        assert_eq!(cut("日本語", 2), Some("日本"));
        assert_eq!(cut("日本語", 3), None);
        assert_eq!(cut("日本語", 4), None);
        assert_eq!(cut("abc", 0), None);
        assert_eq!(cut("", 5), None);
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_it_may_be(text: String, length in 1_usize..20) {
            let cut = cut(&text, length);
            prop_assert!(cut.is_none_or(|cut| text.starts_with(cut) && cut.chars().count() == length));
            prop_assert!(cut.is_some() || text.chars().count() <= length);
            prop_assert!(truncate_url(&text, length).chars().count() <= length.max(text.chars().count().min(length)) + 1);
        }
    }
}
