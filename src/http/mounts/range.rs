//! `Range: bytes=…`: which part of a file is wanted (RFC 9110, 14.2).

/// What is wanted of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All of it: no range, one that is not understood, or several at once.
    All,
    /// From the first to the last byte, both included.
    Part(u64, u64),
    /// What the file does not have.
    Nothing,
}

/// The part that a header names of a file of `length` bytes.
pub fn of(header: Option<&str>, length: u64) -> Wanted {
    let range = header.and_then(|header| header.trim().strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.trim().split_once('-')) else {
        return Wanted::All;
    };
    let number = |digits: &str| -> Option<u64> {
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => part(first, last, length),
        (Some(first), None) if last.is_empty() => part(first, u64::MAX, length),
        (None, Some(0)) if first.is_empty() => Wanted::Nothing,
        (None, Some(count)) if first.is_empty() => {
            part(length.saturating_sub(count), u64::MAX, length)
        }
        _ => Wanted::All,
    }
}

fn part(first: u64, last: u64, length: u64) -> Wanted {
    if first >= length {
        return Wanted::Nothing;
    }
    Wanted::Part(first, last.min(length - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_a_part_of_the_file_or_nothing() {
        for (header, wanted) in [
            ("bytes=0-1", Wanted::Part(0, 1)),
            ("bytes=2-", Wanted::Part(2, 9)),
            ("bytes=-3", Wanted::Part(7, 9)),
            ("bytes=-30", Wanted::Part(0, 9)),
            ("bytes=5-99999999999999999999999", Wanted::Part(5, 9)),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
            ("bytes=3-2", Wanted::All),
            ("bytes=0-1,3-4", Wanted::All),
            ("bytes=x-y", Wanted::All),
            ("bytes=-", Wanted::All),
            ("rows=0-1", Wanted::All),
        ] {
            assert_eq!(of(Some(header), 10), wanted, "{header}");
        }
        assert_eq!(of(None, 10), Wanted::All);
        assert_eq!(of(Some("bytes=0-"), 0), Wanted::Nothing);
    }
}
