//! Strings in JSON, in ASCII alone: what Python's `json.dumps` writes, and so Datasette.

use super::LOWER_HEX;

/// Appends `text` as a JSON string, with its quotes. Every character but those from space to `~` is written as an escape:
/// `\uXXXX`, two of them beyond the Basic Multilingual Plane.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut written = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if PLAIN[usize::from(byte)] {
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

/// The bytes that a JSON string holds as they are.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        plain[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    plain
};

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
