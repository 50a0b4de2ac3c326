//! What a plan gives when run: everything that a table page shows.

use std::sync::Arc;

use super::extras::FacetRequest;
use super::extras::facets::FacetValues;
use super::extras::labels::{Labels, label_of};
use super::extras::suggest::SuggestedFacet;
use super::key::Key;
use super::plan::Plan;
use super::rows::Rows;
use crate::db::schema::Schema;
use crate::db::{BorrowedValue, Value};

/// The content of a table page, before it takes a form.
pub struct TablePage {
    /// The schema in the state that the page read.
    pub schema: Arc<Schema>,
    /// The plan that was run.
    pub plan: Plan,
    /// The rows of this page, with a column of the hidden row number, if there is one, at the end.
    pub rows: Rows,
    /// Labels of foreign keys, by the position of the column among the rows'.
    pub labels: Vec<Option<Labels>>,
    /// The token of the page after this one.
    pub next: Option<String>,
    /// Rows that match, up to a cap; `None` if not counted.
    pub count: Option<i64>,
    /// Facets that were counted.
    pub facets: Vec<Facet>,
    /// Columns whose facets ran out of time.
    pub facets_timed_out: Vec<String>,
    /// Facets that would help.
    pub suggested: Arc<Vec<SuggestedFacet>>,
    /// Whether the page stays the same as long as the database does.
    pub lasts: bool,
}

/// A counted facet.
pub struct Facet {
    /// What was asked for.
    pub request: FacetRequest,
    /// Its values.
    pub counted: Arc<FacetValues>,
}

impl Facet {
    /// The label of one of its values: the value itself where there is no other.
    pub fn label<'f>(&'f self, value: &'f Value) -> &'f Value {
        self.counted
            .labels
            .as_ref()
            .and_then(|labels| labels.get(value.borrowed()))
            .unwrap_or(value)
    }
}

impl TablePage {
    /// The columns that are shown.
    pub fn columns(&self) -> &[String] {
        let hidden = usize::from(self.plan.key == Key::HiddenRowid);
        &self.rows.columns[..self.rows.columns.len() - hidden]
    }

    /// The label of a value in a column of the rows.
    pub fn label(&self, column: usize, value: BorrowedValue<'_>) -> Option<&Value> {
        label_of(&self.labels, column, value)
    }

    /// The positions of the key's columns in a row.
    pub fn key_positions(&self) -> Vec<usize> {
        self.plan
            .key_columns
            .iter()
            .filter_map(|name| self.rows.position(name))
            .collect()
    }

    /// The facets in the order of the page for people: those of the
    /// configuration first, then by the number of values, the most first.
    pub fn sorted_facets(&self) -> Vec<usize> {
        use super::extras::FacetSource;
        let mut order: Vec<usize> = (0..self.facets.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.facets[a], &self.facets[b]);
            let by_config = |facet: &Facet| facet.request.source != FacetSource::Config;
            by_config(a).cmp(&by_config(b)).then_with(|| {
                if by_config(a) {
                    let size = |facet: &Facet| facet.counted.values.len();
                    size(b)
                        .cmp(&size(a))
                        .then_with(|| b.request.column.cmp(&a.request.column))
                } else {
                    std::cmp::Ordering::Equal
                }
            })
        });
        order
    }
}

/// Whether a count stopped at its cap.
pub fn is_capped(count: Option<i64>) -> bool {
    count == Some(super::extras::count::CAP + 1)
}
