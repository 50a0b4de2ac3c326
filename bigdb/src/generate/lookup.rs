//! The small tables: categories and venues that events point to, and reviews
//! that point to events.

use anyhow::Result;
use rusqlite::{Connection, params};

use super::calendar::Calendar;
use super::skew::{Draws, Skew};
use super::states::STATES;
use super::words;

/// The ids of the categories that have events, the most common first.
pub(super) fn write_categories(db: &Connection) -> Result<Vec<u32>> {
    let mut insert =
        db.prepare("insert into categories (id, name, parent_id) values (?1, ?2, ?3)")?;
    for (id, group) in (1u32..).zip(&words::GROUPS) {
        insert.execute(params![id, group.name, None::<u32>])?;
    }
    let mut ids = Vec::new();
    let parents = (1u32..).zip(&words::GROUPS);
    let children =
        parents.flat_map(|(parent, group)| group.categories.iter().map(move |c| (parent, c)));
    let first = u32::try_from(words::GROUPS.len())? + 1;
    for (id, (parent, category)) in (first..).zip(children) {
        insert.execute(params![id, category.name, parent])?;
        ids.push(id);
    }
    Ok(ids)
}

/// Writes `count` venues with the ids 1 to `count`; the index in [`STATES`] of
/// each, in the order of the ids.
pub(super) fn write_venues(db: &Connection, count: u32, draws: &mut Draws) -> Result<Vec<usize>> {
    let mut insert = db.prepare(
        "insert into venues (id, name, city, state, capacity) values (?1, ?2, ?3, ?4, ?5)",
    )?;
    let states = Skew::new(STATES.iter().map(|(_, weight, _)| *weight));
    let cities = Skew::zipf(3, 1);
    let kinds = Skew::zipf(words::VENUE_KINDS.len(), 6);
    let mut of_venue = Vec::new();
    for id in 1..=count {
        let state = states.draw(draws);
        let (code, _, names) = &STATES[state];
        let (kind, least, spread) = words::VENUE_KINDS[kinds.draw(draws)];
        let name = format!("{} {kind}", draws.pick(&words::VENUE_NAMES));
        let city = names[cities.draw(draws)];
        let capacity = least + draws.below(spread + 1) / 10 * 10;
        insert.execute(params![id, name, city, code, capacity])?;
        of_venue.push(state);
    }
    Ok(of_venue)
}

/// Writes `count` reviews of events with the ids 1 to `events`.
pub(super) fn write_reviews(
    db: &Connection,
    count: u32,
    events: u32,
    calendar: &Calendar,
    draws: &mut Draws,
) -> Result<()> {
    let mut insert = db.prepare(
        "insert into reviews (id, event_id, author, stars, body, created)
         values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    // From one star to five: most people who write were pleased or were not.
    let stars = Skew::new([12, 8, 15, 30, 35]);
    let (mut author, mut body) = (String::new(), String::new());
    for id in 1..=count {
        author.clear();
        author.push_str(draws.pick(&words::GIVEN_NAMES));
        author.push(' ');
        author.push_str(draws.pick(&words::FAMILY_NAMES));
        body.clear();
        body.push_str(draws.pick(&words::REVIEW_STARTS));
        body.push(' ');
        body.push_str(draws.pick(&words::REVIEW_MIDDLES));
        if draws.chance(600) {
            body.push(' ');
            body.push_str(draws.pick(&words::REVIEW_ENDS));
        }
        let event = 1 + draws.below(events);
        let created = calendar.day(u64::from(id), u64::from(count), draws);
        let stars = u32::try_from(stars.draw(draws))? + 1;
        insert.execute(params![id, event, author, stars, body, created])?;
    }
    Ok(())
}
