//! Where the jobs of a table page leave what they found.

use std::sync::Arc;

use parking_lot::Mutex;

use super::extras::facets::Counted;
use super::extras::labels::Labels;
use super::extras::suggest::SuggestedFacet;
use super::page::{Facet, TablePage};
use super::plan::Plan;
use super::rows::Rows;
use crate::db::schema::Schema;
use crate::error::{Error, Result};

/// The places. Each has one writer; the locks are never waited for long.
#[derive(Default)]
pub(super) struct Results {
    pub rows: Mutex<Rows>,
    pub next: Mutex<Option<String>>,
    pub labels: Mutex<Vec<Option<Labels>>>,
    pub count: Mutex<Option<i64>>,
    /// Facets by their place in the plan.
    pub facets: Mutex<Vec<(usize, Counted)>>,
    pub suggested: Mutex<Option<Arc<Vec<SuggestedFacet>>>>,
    /// The error of the page, with the place in the order below of the job that failed.
    error: Mutex<Option<(Rank, Error)>>,
}

/// Whose error a page reports when several jobs fail: the first of these. So
/// the answer is the same whichever job ends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Rows,
    Labels,
    Facets,
    Facet(usize),
    Count,
    Suggestions,
}

impl Results {
    /// Does the work of a job, unless the page has failed at an earlier place already.
    pub fn step(&self, rank: Rank, work: impl FnOnce() -> Result<()>) {
        if self
            .error
            .lock()
            .as_ref()
            .is_some_and(|(failed, _)| *failed < rank)
        {
            return;
        }
        if let Err(error) = work() {
            let mut first = self.error.lock();
            if first.as_ref().is_none_or(|(failed, _)| rank < *failed) {
                *first = Some((rank, error));
            }
        }
    }

    /// The error of the page, if it has one.
    pub fn error(&self) -> Option<Error> {
        self.error.lock().take().map(|(_, error)| error)
    }

    /// Puts the page together. Facets of which only a part was counted are left
    /// out unless `with_partial_facets`.
    pub fn into_page(
        self,
        schema: Arc<Schema>,
        plan: Plan,
        with_partial_facets: bool,
        lasts: bool,
    ) -> TablePage {
        let mut counted = self.facets.into_inner();
        counted.sort_by_key(|(n, _)| *n);
        let mut facets = Vec::new();
        let mut facets_timed_out = Vec::new();
        for (n, counted) in counted {
            let request = plan.facets[n].clone();
            match counted.filter(|counted| with_partial_facets || !counted.is_partial()) {
                Some(counted) => facets.push(Facet { request, counted }),
                None => facets_timed_out.push(request.column),
            }
        }
        TablePage {
            schema,
            plan,
            rows: self.rows.into_inner(),
            labels: self.labels.into_inner(),
            next: self.next.into_inner(),
            count: self.count.into_inner(),
            facets,
            facets_timed_out,
            suggested: self.suggested.into_inner().unwrap_or_default(),
            lasts,
        }
    }
}
