//! JSON in ASCII alone, with spaces after `,` and `:`: what Python's `json.dumps` writes, and so Datasette.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;

use super::LOWER_HEX;
use super::number::FloatText;

/// Appends a tree.
///
/// # Errors
/// What [`Serialize`] refuses, such as keys that are no text.
pub fn push_tree(out: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(
        out,
        PythonStyle,
    ))
}

/// Appends `text` as a JSON string, with its quotes. Every character but those from space to `~` is written as an escape:
/// `\uXXXX`, two of them beyond the Basic Multilingual Plane.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut written = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // Most text is plain for long: many bytes are looked at in one step.
        if let Some(many) = bytes.get(at..at + MANY)
            && many
                .iter()
                .fold(true, |plain, &byte| plain & is_plain(byte))
        {
            at += MANY;
            continue;
        }
        if is_plain(byte) {
            at += 1;
            continue;
        }
        out.extend_from_slice(&bytes[written..at]);
        if byte.is_ascii() {
            push_ascii_escape(out, byte);
            at += 1;
        } else if let Some(character) = text[at..].chars().next() {
            for unit in character.encode_utf16(&mut [0; 2]) {
                push_unit(out, *unit);
            }
            at += character.len_utf8();
        }
        written = at;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// Bytes that are compared at once: what every processor of 64 bits has registers for.
const MANY: usize = 16;

/// Whether a JSON string holds a byte as it is. Comparisons alone, so that the
/// compiler can make one of many bytes.
const fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte < 0x7f && byte != b'"' && byte != b'\\'
}

fn push_ascii_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => return push_unit(out, u16::from(byte)),
    };
    out.extend_from_slice(&[b'\\', short]);
}

fn push_unit(out: &mut Vec<u8>, unit: u16) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(LOWER_HEX[usize::from(unit >> shift & 15)]);
    }
}

/// The separators and escapes of `json.dumps`.
struct PythonStyle;

impl Formatter for PythonStyle {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(FloatText::new(value).as_bytes())
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        text: &str,
    ) -> io::Result<()> {
        let mut escaped = Vec::with_capacity(text.len() + 2);
        push_string(&mut escaped, text);
        writer.write_all(&escaped[1..escaped.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json(text: &str) -> String {
        let mut out = Vec::new();
        push_string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_written_as_python_writes_them() {
        for (text, expected) in [
            ("", r#""""#),
            ("plain /text", r#""plain /text""#),
            ("say \"hi\" \\", r#""say \"hi\" \\""#),
            ("\n\r\t\u{8}\u{c}", r#""\n\r\t\b\f""#),
            ("\u{0}\u{1f}\u{7f}\u{80}", r#""\u0000\u001f\u007f\u0080""#),
            ("é日🎉x", r#""\u00e9\u65e5\ud83c\udf89x""#),
        ] {
            assert_eq!(json(text), expected);
        }
    }

    proptest! {
        #[test]
        fn a_string_is_ascii_and_reads_back(text: String) {
            let json = json(&text);
            prop_assert!(json.is_ascii());
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
