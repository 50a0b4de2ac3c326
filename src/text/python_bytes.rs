//! Bytes as Python shows them, which is how Datasette puts a blob into an address.

use std::fmt::Write;

/// `bytes` as Python's `repr` writes them: `b'…'`, or `b"…"` around a `'`.
pub fn literal(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::with_capacity(bytes.len() + 3);
    out.push('b');
    out.push(quote);
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            0x20..0x7f if char::from(byte) == quote => {
                out.push('\\');
                out.push(quote);
            }
            0x20..0x7f => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
    out
}

/// Reads what [`literal`] writes; `None` for any other text.
pub fn parse(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix('b')?.as_bytes();
    let (quote, text) = text.split_first()?;
    let (last, text) = text.split_last()?;
    if last != quote || !matches!(quote, b'\'' | b'"') {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        out.push(match escape {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            other => other,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read_back() {
        let all: Vec<u8> = (0..=255).collect();
        for bytes in [b"".as_slice(), b"it's", b"\"'\\", &all] {
            let shown = literal(bytes);
            assert_eq!(parse(&shown).as_deref(), Some(bytes), "{shown}");
        }
        for text in ["", "b", "b'", "b'a\"", "b'\\'", "b'\\x4'", "a'x'"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn bytes_are_shown_as_python_writes_them() {
        assert_eq!(literal(b"a'\x00\xff\n"), r#"b"a'\x00\xff\n""#);
    }
}
