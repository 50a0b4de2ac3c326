//! Datasette's tilde encoding: percent encoding with `~` for `%`, because proxies decode and re-encode percent signs in paths.
//!
//! Letters, digits, `_` and `-` stand for themselves, a space is `+`, any other byte of the UTF-8 text is `~` and two upper-case
//! hexadecimal digits.

use super::{UPPER_HEX, hex_byte};

/// Encodes `text` for use as one part of a path.
pub fn encode(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    encode_into(&mut out, text);
    out
}

/// Appends the encoding of `text` to `out`.
pub fn encode_into(out: &mut String, text: &[u8]) {
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => {
                out.push('~');
                out.push(char::from(UPPER_HEX[usize::from(byte >> 4)]));
                out.push(char::from(UPPER_HEX[usize::from(byte & 15)]));
            }
        }
    }
}

/// Decodes `text`; bytes that are not UTF-8 become U+FFFD, as in Datasette.
///
/// A `~` without two hexadecimal digits stays. A percent sign is only ever itself: the encoding never writes one, and what looks like
/// percent encoding at this point was part of the name.
pub fn decode(text: &str) -> String {
    match String::from_utf8(decode_bytes(text)) {
        Ok(decoded) => decoded,
        Err(invalid) => String::from_utf8_lossy(invalid.as_bytes()).into_owned(),
    }
}

/// Decodes `text` to the bytes that were encoded.
pub fn decode_bytes(text: &str) -> Vec<u8> {
    let text = text.as_bytes();
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'+' => out.push(b' '),
            b'~' => match hex_byte(&text[at..]) {
                Some(decoded) => {
                    out.push(decoded);
                    at += 2;
                }
                None => out.push(b'~'),
            },
            _ => out.push(byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_encode_as_datasette_encodes_them() {
        for (name, encoded) in [
            ("", ""),
            ("plain_name-9", "plain_name-9"),
            ("/foo/bar", "~2Ffoo~2Fbar"),
            ("--/db-/table", "--~2Fdb-~2Ftable"),
            ("a b.c~d%e+f", "a+b~2Ec~7Ed~25e~2Bf"),
            ("ünï🎉", "~C3~BCn~C3~AF~F0~9F~8E~89"),
            ("it's \"x\"\n", "it~27s+~22x~22~0A"),
        ] {
            assert_eq!(encode(name.as_bytes()), encoded);
            assert_eq!(decode(encoded), name);
        }
    }

    #[test]
    fn lower_case_digits_decode_too() {
        assert_eq!(decode("~2f~c3~bc"), "/ü");
    }

    #[test]
    fn a_percent_sign_is_never_decoded() {
        assert_eq!(decode("%2F"), "%2F");
        assert_eq!(decode("~2%46"), "~2%46");
        assert_eq!(decode("~%46"), "~%46");
        assert_eq!(decode("~252F"), "%2F");
    }

    #[test]
    fn a_tilde_without_two_digits_stays() {
        assert_eq!(decode("~"), "~");
        assert_eq!(decode("a~2"), "a~2");
        assert_eq!(decode("a~zz+b"), "a~zz b");
        assert_eq!(decode("~~41"), "~A");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(decode("a~FFb"), "a\u{fffd}b");
        assert_eq!(decode("~C3é"), "\u{fffd}é");
        assert_eq!(decode("~E2~82x"), "\u{fffd}x");
        assert_eq!(decode_bytes("~FF~00"), [255, 0]);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode_bytes(&encode(&bytes)), bytes);
        }

        #[test]
        fn any_text_comes_back(text: String) {
            prop_assert_eq!(decode(&encode(text.as_bytes())), text);
        }

        #[test]
        fn no_text_breaks_the_decoder(text: String) {
            decode(&text);
        }
    }
}
