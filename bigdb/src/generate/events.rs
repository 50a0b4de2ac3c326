//! The wide table: one event a row.

use anyhow::Result;
use rusqlite::Connection;

use super::calendar::Calendar;
use super::skew::{Draws, Skew};
use super::states::STATES;
use super::words::{self, Category};

/// How many rows lie between two calls of a progress function.
const PROGRESS_STEP: u64 = 10_000;

/// What the rows of `events` point to and are drawn from.
pub(super) struct Events<'a> {
    /// How many to write, with the ids 1 to `rows`.
    pub rows: u64,
    /// Ids in `categories`, the most common first.
    pub category_ids: &'a [u32],
    /// The index in [`STATES`] of each venue, in the order of their ids.
    pub venue_states: &'a [usize],
    /// The dates.
    pub calendar: &'a Calendar,
}

/// Writes all rows, calling `progress` with the number written so far.
pub(super) fn write_events(
    db: &Connection,
    events: &Events,
    draws: &mut Draws,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let mut insert = db.prepare(
        "insert into events (id, name, category_id, venue_id, state, status, score, amount,
                             created, tags, note, is_free)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    let kinds: Vec<&Category> = words::GROUPS
        .iter()
        .flat_map(|group| &group.categories)
        .collect();
    let categories = Skew::zipf(events.category_ids.len(), 2);
    let venues = Skew::zipf(events.venue_states.len(), 25);
    let statuses = Skew::new(words::STATUSES.iter().map(|(_, weight)| *weight));
    let tags = TagLists::new();
    // Text is built in buffers that live as long as the table.
    let mut name = String::new();
    let mut created = String::new();
    let mut tag_list = String::new();
    let mut note = String::new();
    for id in 1..=events.rows {
        let category = categories.draw(draws);
        write_name(kinds[category], draws, &mut name);
        let venue = venues.draw(draws);
        let (state, ..) = STATES[events.venue_states[venue]];
        let (status, _) = words::STATUSES[statuses.draw(draws)];
        let is_free = draws.chance(180);
        events
            .calendar
            .write_instant(id, events.rows, draws, &mut created);
        tags.write(draws, &mut tag_list);
        let has_note = write_note(draws, &mut note);
        // Bound one by one: a third faster than through a slice of trait objects.
        insert.raw_bind_parameter(1, id.cast_signed())?;
        insert.raw_bind_parameter(2, name.as_str())?;
        insert.raw_bind_parameter(3, events.category_ids[category])?;
        insert.raw_bind_parameter(4, u32::try_from(venue)? + 1)?;
        insert.raw_bind_parameter(5, (!draws.chance(8)).then_some(state))?;
        insert.raw_bind_parameter(6, status)?;
        insert.raw_bind_parameter(7, score(draws))?;
        insert.raw_bind_parameter(8, amount(is_free, draws))?;
        insert.raw_bind_parameter(9, created.as_str())?;
        insert.raw_bind_parameter(10, (!draws.chance(20)).then_some(tag_list.as_str()))?;
        insert.raw_bind_parameter(11, has_note.then_some(note.as_str()))?;
        insert.raw_bind_parameter(12, is_free)?;
        insert.raw_execute()?;
        if id % PROGRESS_STEP == 0 {
            progress(id);
        }
    }
    Ok(())
}

/// Such as "Harbour Jazz Night".
fn write_name(category: &Category, draws: &mut Draws, name: &mut String) {
    name.clear();
    name.push_str(draws.pick(&words::PLACES));
    name.push(' ');
    name.push_str(draws.pick(&category.themes));
    name.push(' ');
    name.push_str(draws.pick(&category.forms));
}

/// True if the event has a note, which is then in `note`.
fn write_note(draws: &mut Draws, note: &mut String) -> bool {
    if !draws.chance(150) {
        return false;
    }
    note.clear();
    note.push_str(draws.pick(&words::NOTE_STARTS));
    note.push_str(draws.pick(&words::NOTE_ENDS));
    true
}

/// From 0 to 100 with most near the middle; None is an event without a score.
fn score(draws: &mut Draws) -> Option<u32> {
    let score = draws.below(51) + draws.below(51);
    (!draws.chance(50)).then_some(score)
}

/// The price of a ticket in dollars, 0 for a free event, None if unknown.
fn amount(is_free: bool, draws: &mut Draws) -> Option<f64> {
    if is_free {
        return Some(0.0);
    }
    // The smaller of two even draws: few tickets are dear. Prices end in a
    // quarter of a dollar or, one in four, in an odd number of cents.
    let cents = 400 + draws.below(16_000).min(draws.below(16_000));
    let cents = if draws.chance(750) {
        cents / 25 * 25
    } else {
        cents
    };
    (!draws.chance(30)).then_some(f64::from(cents) / 100.0)
}

/// Draws JSON arrays of distinct tags.
struct TagLists {
    quoted: Vec<String>,
    first: Skew,
    count: Skew,
}

impl TagLists {
    fn new() -> Self {
        TagLists {
            // No tag holds a character that JSON escapes; a test says so.
            quoted: words::TAGS.iter().map(|tag| format!("\"{tag}\"")).collect(),
            first: Skew::zipf(words::TAGS.len(), 2),
            count: Skew::new([15, 30, 30, 17, 8]),
        }
    }

    fn write(&self, draws: &mut Draws, text: &mut String) {
        text.clear();
        text.push('[');
        let mut used = 0u32;
        for _ in 0..self.count.draw(draws) {
            let tag = self.first.draw(draws);
            if used & (1 << tag) != 0 {
                continue;
            }
            if used != 0 {
                text.push_str(", ");
            }
            used |= 1 << tag;
            text.push_str(&self.quoted[tag]);
        }
        text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_json_arrays_of_distinct_strings() {
        let lists = TagLists::new();
        let mut draws = Draws::new(9);
        let mut text = String::new();
        for _ in 0..2_000 {
            lists.write(&mut draws, &mut text);
            let mut tags: Vec<String> = serde_json::from_str(&text).unwrap();
            let count = tags.len();
            tags.sort();
            tags.dedup();
            assert_eq!(tags.len(), count, "{text}");
        }
    }

    #[test]
    fn a_free_event_costs_nothing() {
        let mut draws = Draws::new(9);
        assert_eq!(amount(true, &mut draws), Some(0.0));
        assert!(
            (0..1_000)
                .filter_map(|_| amount(false, &mut draws))
                .all(|price| price >= 4.0)
        );
    }
}
