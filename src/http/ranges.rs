//! Which part of a file a `Range` header asks for. RFC 9110, 14.

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it: the header asks for nothing that is served in parts.
    Whole,
    /// From one byte to another, both included.
    Range {
        /// The first byte, counted from 0.
        first: u64,
        /// The last byte.
        last: u64,
    },
    /// None of the bytes that it asks for is there.
    Unsatisfiable,
}

/// What `range` asks for of a file of `length` bytes. Several ranges at once, other
/// units than bytes and what is no range are not understood, which the standard
/// answers with the whole file; so does an `If-Range` that names another content.
pub fn part(range: &str, if_range: Option<&str>, etag: &str, length: u64) -> Part {
    // A date would have to be that of a `Last-Modified`, which is not sent.
    if if_range.is_some_and(|named| named.trim() != etag) {
        return Part::Whole;
    }
    let Some((first, last)) = range
        .trim()
        .strip_prefix("bytes=")
        .and_then(|spec| spec.trim().split_once('-'))
    else {
        return Part::Whole;
    };
    match (number(first), number(last)) {
        (Some(first), None) if last.is_empty() => from(first, u64::MAX, length),
        (Some(first), Some(last)) if first <= last => from(first, last, length),
        (None, Some(count)) if first.is_empty() => match count.min(length) {
            0 => Part::Unsatisfiable,
            count => from(length - count, u64::MAX, length),
        },
        _ => Part::Whole,
    }
}

fn from(first: u64, last: u64, length: u64) -> Part {
    if first >= length {
        return Part::Unsatisfiable;
    }
    Part::Range {
        first,
        last: last.min(length - 1),
    }
}

/// Digits and nothing else; a number that is too large is as good as the largest.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(range: &str, length: u64) -> Part {
        part(range, None, "\"e\"", length)
    }

    #[test]
    fn a_range_may_be_open_at_either_end() {
        let range = |first, last| Part::Range { first, last };
        assert_eq!(of("bytes=0-0", 10), range(0, 0));
        assert_eq!(of("bytes=2-5", 10), range(2, 5));
        assert_eq!(of("bytes=2-", 10), range(2, 9));
        assert_eq!(of("bytes=-3", 10), range(7, 9));
        assert_eq!(of("bytes=-99", 10), range(0, 9));
        assert_eq!(of("bytes=8-99999999999999999999999", 10), range(8, 9));
    }

    #[test]
    fn bytes_that_are_not_there_cannot_be_had() {
        for range in ["bytes=10-", "bytes=10-20", "bytes=-0"] {
            assert_eq!(of(range, 10), Part::Unsatisfiable, "{range}");
        }
        assert_eq!(of("bytes=0-", 0), Part::Unsatisfiable);
    }

    #[test]
    fn what_is_not_understood_gets_the_whole_file() {
        for range in [
            "bytes=0-1,3-4",
            "bytes=5-2",
            "lines=1-2",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=+1-2",
        ] {
            assert_eq!(of(range, 10), Part::Whole, "{range}");
        }
    }

    #[test]
    fn a_range_of_another_content_is_not_mixed_with_this_one() {
        let asked = |named| part("bytes=1-2", Some(named), "\"e\"", 10);
        assert_eq!(asked("\"e\""), Part::Range { first: 1, last: 2 });
        for other in ["\"f\"", "W/\"e\"", "Tue, 01 Dec 2026 00:00:00 GMT"] {
            assert_eq!(asked(other), Part::Whole, "{other}");
        }
    }
}
