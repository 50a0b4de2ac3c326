//! Extras that pages share: those that are kept, those that another page is
//! computing, and those that this page computes for others too.

use std::sync::Arc;

use super::execute::Context;
use super::extras::kept::{ExtraKey, ExtraValue, KeptExtras, Keys, What};
use super::page::TablePage;
use super::plan::Plan;
use super::results::Results;
use super::wanted::Wanted;
use crate::db::schema::Schema;
use crate::engine::{Claim, Flight, Waiting};

/// A page that lacks extras which are on their way. It holds no connection.
pub struct Unfinished {
    pub(super) schema: Arc<Schema>,
    pub(super) plan: Plan,
    pub(super) results: Results,
    pub(super) with_partial_facets: bool,
    pub(super) lasts: bool,
    pub(super) waiting: Vec<(Place, Waiting<ExtraValue>)>,
}

impl Unfinished {
    /// Waits for what is on its way. `None` if another page gave up: then
    /// this one has to be executed again, without what is kept.
    pub async fn finish(mut self) -> Option<TablePage> {
        for (place, waiting) in std::mem::take(&mut self.waiting) {
            let value = waiting.result().await?;
            self.lasts &= value.is_complete();
            self.results.put(place, value);
        }
        Some(self.page())
    }

    pub(super) fn page(self) -> TablePage {
        let Self { schema, plan, .. } = self;
        self.results
            .into_page(schema, plan, self.with_partial_facets, self.lasts)
    }
}

/// Where an extra stands on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Count,
    /// By the place in the plan.
    Facet(usize),
    Suggestions,
}

/// An extra that this page computes; others may be waiting for it.
pub(super) type Mine = Option<Flight<ExtraKey, ExtraValue>>;

impl Results {
    pub(super) fn put(&self, place: Place, value: ExtraValue) {
        match (place, value) {
            (Place::Facet(n), ExtraValue::Facet(counted)) => self.facets.lock().push((n, counted)),
            (_, ExtraValue::Count(counted)) => *self.count.lock() = counted,
            (_, ExtraValue::Suggestions(suggested)) => *self.suggested.lock() = suggested,
            (_, ExtraValue::Facet(_)) => {}
        }
    }

    /// Puts an extra that this page computed in its place, and gives it to those who wait.
    /// It is kept if it is all there is and `lasts`.
    pub(super) fn land(&self, place: Place, value: ExtraValue, flight: Mine, lasts: bool) {
        if let Some(flight) = flight {
            let keep = lasts && value.is_complete();
            flight.land(value.clone(), keep);
        }
        self.put(place, value);
    }
}

/// Looks which extras are there already, or on their way; those that are left this
/// page computes itself.
pub(super) fn claim(
    context: &Context<'_>,
    kept: Option<&KeptExtras>,
    wanted: Wanted,
    results: &Results,
    waiting: &mut Vec<(Place, Waiting<ExtraValue>)>,
) -> Vec<(Place, Mine)> {
    let facets = &context.plan.facets;
    let facets = facets.iter().enumerate().filter(|_| wanted.facets);
    let mut places: Vec<_> = facets
        .map(|(n, facet)| (Place::Facet(n), What::Facet(facet)))
        .collect();
    if wanted.count {
        places.push((Place::Count, What::Count));
    }
    if wanted.suggested {
        places.push((Place::Suggestions, What::Suggestions));
    }
    let keys = kept
        .filter(|kept| kept.is_on())
        .zip(context.snapshot.version());
    let Some((kept, version)) = keys else {
        return places.into_iter().map(|(place, _)| (place, None)).collect();
    };
    let keys = Keys::new(
        version,
        &context.database.name,
        context.plan,
        context.request,
    );
    let mut mine = Vec::with_capacity(places.len());
    for (place, what) in places {
        match kept.claim(keys.key(what)) {
            Some(Claim::Kept(value)) => results.put(place, value),
            Some(Claim::Waiting(wait)) => waiting.push((place, wait)),
            Some(Claim::Mine(flight)) => mine.push((place, Some(flight))),
            None => mine.push((place, None)),
        }
    }
    mine
}
