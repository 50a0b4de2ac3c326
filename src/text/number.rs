//! Numbers as text, written as Python writes them.

/// A float as Python's `repr` writes it, on the stack: the shortest digits that read back as the same number, with an exponent of at
/// least two digits below 1e-4 and from 1e16. Infinities are `inf` and `-inf`, which is not JSON: the caller decides what they become.
pub struct FloatText {
    bytes: [u8; FLOAT_BYTES],
    len: usize,
}

/// The longest is 24 bytes: sign, 17 digits with their point, `e-308`.
const FLOAT_BYTES: usize = 32;

impl FloatText {
    /// Writes `value`.
    pub fn new(value: f64) -> Self {
        let mut text = Self {
            bytes: [0; FLOAT_BYTES],
            len: 0,
        };
        if !value.is_finite() {
            text.push(match value {
                v if v.is_nan() => b"nan",
                v if v > 0.0 => b"inf",
                _ => b"-inf",
            });
            return text;
        }
        if value.is_sign_negative() {
            text.push(b"-");
        }
        let mut buffer = ryu::Buffer::new();
        let digits = Digits::of(buffer.format_finite(value.abs()));
        if (-3..=16).contains(&digits.point) {
            digits.push_plain(&mut text);
        } else {
            digits.push_scientific(&mut text);
        }
        text
    }

    /// The text, which is ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_zeros(&mut self, count: usize) {
        self.bytes[self.len..][..count].fill(b'0');
        self.len += count;
    }
}

/// Appends the [`FloatText`] of a float.
pub fn push_f64(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(FloatText::new(value).as_bytes());
}

/// Appends an integer.
pub fn push_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// An integer with a comma before every group of three digits: `1,234`.
pub fn thousands(value: u64) -> String {
    let mut out = String::with_capacity(26);
    thousands_into(&mut out, value);
    out
}

/// Appends [`thousands`].
pub fn thousands_into(out: &mut String, value: u64) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
}

/// A number as the significant digits `0.d₁d₂… × 10^point`: no zero at either end, except for zero itself.
struct Digits {
    bytes: [u8; 24],
    len: usize,
    point: i32,
}

impl Digits {
    /// Reads what ryu wrote, which is a plain or a scientific number by rules of its own.
    fn of(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let mut all = Self {
            bytes: [b'0'; 24],
            len: 0,
            point: exponent.parse().unwrap_or(0),
        };
        let mut before_point = true;
        for &byte in mantissa.as_bytes() {
            match byte {
                b'.' => before_point = false,
                b'0' if all.len == 0 => all.point -= i32::from(!before_point),
                _ => {
                    if let Some(place) = all.bytes.get_mut(all.len) {
                        *place = byte;
                        all.len += 1;
                    }
                    all.point += i32::from(before_point);
                }
            }
        }
        while all.len > 0 && all.bytes[all.len - 1] == b'0' {
            all.len -= 1;
        }
        if all.len == 0 {
            (all.len, all.point) = (1, 1);
        }
        all
    }

    fn digits(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push_plain(&self, out: &mut FloatText) {
        let digits = self.digits();
        match usize::try_from(self.point) {
            Ok(point) if point > 0 => {
                let whole = point.min(digits.len());
                out.push(&digits[..whole]);
                out.push_zeros(point - whole);
                out.push(b".");
                if whole == digits.len() {
                    out.push(b"0");
                } else {
                    out.push(&digits[whole..]);
                }
            }
            _ => {
                out.push(b"0.");
                out.push_zeros(self.point.unsigned_abs() as usize);
                out.push(digits);
            }
        }
    }

    fn push_scientific(&self, out: &mut FloatText) {
        let (first, rest) = self.digits().split_at(1);
        out.push(first);
        if !rest.is_empty() {
            out.push(b".");
            out.push(rest);
        }
        let exponent = self.point - 1;
        out.push(if exponent < 0 { b"e-" } else { b"e+" });
        if exponent.unsigned_abs() < 10 {
            out.push(b"0");
        }
        let mut buffer = itoa::Buffer::new();
        out.push(buffer.format(exponent.unsigned_abs()).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64) -> String {
        FloatText::new(value).as_str().to_owned()
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (value, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (0.1, "0.1"),
            (0.001_230_4, "0.0012304"),
            (0.0001, "0.0001"),
            (0.000_099_9, "9.99e-05"),
            (1e-7, "1e-07"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (1e15, "1000000000000000.0"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.5e16, "1.5e+16"),
            (1e100, "1e+100"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn integers_have_commas_for_people() {
        for (value, expected) in [
            (0, "0"),
            (999, "999"),
            (1_234, "1,234"),
            (100_000, "100,000"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(thousands(value), expected);
        }
        let mut out = Vec::new();
        push_i64(&mut out, i64::MIN);
        assert_eq!(out, b"-9223372036854775808");
    }

    proptest! {
        #[test]
        fn every_float_reads_back_as_itself(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let text = text(value);
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits, "{}", text);
        }

        #[test]
        fn a_float_always_looks_like_one(value in -1e18..1e18) {
            prop_assert!(text(value).contains(['.', 'e']));
        }
    }
}
