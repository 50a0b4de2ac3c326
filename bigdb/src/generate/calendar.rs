//! Dates from 2015 to 2024 in ISO 8601, without a time zone.

use super::skew::{Draws, Skew};

const FIRST_YEAR: u32 = 2015;
const YEARS: u32 = 10;
/// A row is dated at most this many days after its place in the table says.
const JITTER_DAYS: u32 = 30;

/// All days as text, and how common each hour is.
pub(super) struct Calendar {
    days: Vec<String>,
    hours: Skew,
}

impl Calendar {
    pub(super) fn new() -> Self {
        let days = (FIRST_YEAR..FIRST_YEAR + YEARS)
            .flat_map(|year| (1..=12).map(move |month| (year, month)))
            .flat_map(|(year, month)| {
                (1..=month_length(year, month))
                    .map(move |day| format!("{year}-{month:02}-{day:02}"))
            })
            .collect();
        // Rows are entered by day, most of them late in the morning.
        let hours = Skew::new([
            1, 1, 1, 1, 1, 2, 5, 12, 40, 70, 90, 80, 40, 60, 70, 60, 50, 40, 30, 25, 20, 12, 6, 3,
        ]);
        Calendar { days, hours }
    }

    /// The day of row `row` of `rows`: later rows have later days, give or take
    /// a month, and the last years have the most rows.
    pub(super) fn day(&self, row: u64, rows: u64, draws: &mut Draws) -> &str {
        // With t from 0 to 1 in units of 2^-20, the place is (3t - t²) / 2: it
        // advances 1.5 times as fast as t at the start and half as fast at the end.
        let unit = 1u64 << 20;
        let t = (row << 20) / rows.max(1);
        let place = (3 * t - ((t * t) >> 20)) / 2;
        let last = self.days.len() as u64 - 1;
        let day = ((place.min(unit) * (last - u64::from(JITTER_DAYS))) >> 20)
            + u64::from(draws.below(JITTER_DAYS + 1));
        &self.days[usize::try_from(day.min(last)).unwrap_or_default()]
    }

    /// Writes day and time of row `row` of `rows` into `text`, such as
    /// `2019-05-04T19:30:00`.
    pub(super) fn write_instant(&self, row: u64, rows: u64, draws: &mut Draws, text: &mut String) {
        text.clear();
        text.push_str(self.day(row, rows, draws));
        text.push('T');
        let hour = u32::try_from(self.hours.draw(draws)).unwrap_or_default();
        push_two_digits(text, hour);
        text.push(':');
        push_two_digits(text, draws.below(60));
        text.push(':');
        push_two_digits(text, draws.below(60));
    }
}

fn month_length(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) => 29, // no year of the range is a century
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// `format!` takes longer than the rest of a row.
fn push_two_digits(text: &mut String, number: u32) {
    for digit in [number / 10 % 10, number % 10] {
        text.push(char::from_digit(digit, 10).unwrap_or('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_there_once() {
        let calendar = Calendar::new();
        assert_eq!(calendar.days.len(), 3_653);
        assert!(calendar.days.is_sorted());
        assert!(calendar.days.contains(&"2024-02-29".to_owned()));
        assert!(!calendar.days.contains(&"2023-02-29".to_owned()));
    }

    #[test]
    fn days_advance_with_the_rows() {
        let calendar = Calendar::new();
        let mut draws = Draws::new(3);
        let mut day = |row| calendar.day(row, 1_000, &mut draws);
        assert!(day(1) < "2015-03");
        assert!(day(1_000) >= "2024-11-30");
        assert!(day(500) > "2020");
    }

    #[test]
    fn an_instant_is_iso_8601() {
        let mut text = String::new();
        Calendar::new().write_instant(5, 10, &mut Draws::new(1), &mut text);
        assert_eq!(text.len(), "2019-05-04T19:30:00".len());
        assert_eq!(&text[10..11], "T");
    }
}
