//! Text in and out: the encodings of URLs and pages, and how numbers and names are written.
//!
//! Everything here is a pure function of its arguments. Where a rule is Datasette's, the result is the same, byte for byte, so that
//! links, class names and JSON from either server can stand in for each other.

pub mod assets;
pub mod css;
pub mod html;
pub mod human;
pub mod identifier;
pub mod json;
pub mod number;
pub mod python_bytes;
pub mod query;
pub mod tilde;

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from(LOWER_HEX[usize::from(digit)]));
        }
    }
    out
}

/// Whether Python calls the character white space, which is what Datasette's rules mean by it.
///
/// Unicode's `White_Space` property lacks the four information separators.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// The value of an ASCII hexadecimal digit.
fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// The byte that two hexadecimal digits stand for, if `text` begins with two.
fn hex_byte(text: &[u8]) -> Option<u8> {
    let (high, low) = (text.first()?, text.get(1)?);
    Some(hex_value(*high)? << 4 | hex_value(*low)?)
}

const UPPER_HEX: [u8; 16] = *b"0123456789ABCDEF";
const LOWER_HEX: [u8; 16] = *b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_separators_are_spaces() {
        let spaces: Vec<u32> = (0..0xd800)
            .filter(|&point| char::from_u32(point).is_some_and(is_space))
            .collect();
        assert_eq!(
            spaces,
            [
                9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002,
                0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029,
                0x202f, 0x205f, 0x3000
            ]
        );
    }

    #[test]
    fn two_digits_of_either_case_make_a_byte() {
        assert_eq!(hex_byte(b"fF0"), Some(255));
        assert_eq!(hex_byte(b"0a"), Some(10));
        assert_eq!(hex_byte(b"1"), None);
        assert_eq!(hex_byte(b"g0"), None);
    }
}
