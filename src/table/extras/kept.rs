//! Extras that are kept while the database stays the same, and shared by pages
//! that need them at the same time.

use std::sync::Arc;

use super::FacetRequest;
use super::facets::Counted;
use super::suggest::SuggestedFacet;
use crate::db::{Value, Version};
use crate::engine::Flights;
use crate::engine::flights::Weight;
use crate::table::Plan;
use crate::table::request::TableRequest;

/// What an entry takes besides its texts, about.
const OVERHEAD: usize = 256;

/// The extras of all tables.
pub type KeptExtras = Flights<ExtraKey, ExtraValue>;

/// One extra in one state of its database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExtraKey {
    version: Version,
    /// The rows that it is about, and what it is.
    what: Arc<str>,
}

/// What an extra is of.
#[derive(Debug, Clone, Copy)]
pub enum What<'w> {
    /// The count.
    Count,
    /// The values of a facet.
    Facet(&'w FacetRequest),
    /// Suggested facets.
    Suggestions,
}

/// The result of an extra.
#[derive(Debug, Clone)]
pub enum ExtraValue {
    /// The count, none if there was no time.
    Count(Option<i64>),
    /// A facet.
    Facet(Counted),
    /// Suggested facets, none if there was no time.
    Suggestions(Option<Arc<Vec<SuggestedFacet>>>),
}

/// Writes the keys of one page.
pub struct Keys {
    version: Version,
    /// The rows that the extras of the page are about.
    rows: String,
    facet_size: usize,
    /// The facets that the page has already: they are not suggested.
    has: String,
}

impl Keys {
    /// For the rows that `plan` is about.
    pub fn new(version: Version, database: &str, plan: &Plan, request: &TableRequest) -> Self {
        Self {
            version,
            rows: format!("{database}\0{}\0{:?}", plan.from_sql, plan.from_params),
            facet_size: request.facet_size,
            has: format!("{:?}", request.facets),
        }
    }

    /// The key of one extra.
    pub fn key(&self, what: What<'_>) -> ExtraKey {
        let Self { rows, .. } = self;
        let what = match what {
            What::Count => format!("{rows}\0count"),
            What::Facet(facet) => {
                let (kind, column) = (facet.kind.name(), &facet.column);
                format!("{rows}\0{kind}\0{column}\0{}", self.facet_size)
            }
            What::Suggestions => format!("{rows}\0suggest\0{}\0{}", self.facet_size, self.has),
        };
        ExtraKey {
            version: self.version,
            what: what.into(),
        }
    }
}

impl ExtraValue {
    /// Whether it is all there is, and so stays right as long as the database stays the same.
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Count(count) => count.is_some(),
            Self::Facet(Some(facet)) => !facet.is_partial(),
            Self::Facet(None) => false,
            Self::Suggestions(suggestions) => suggestions.is_some(),
        }
    }
}

impl Weight for ExtraKey {
    fn weight(&self) -> usize {
        self.what.len() + OVERHEAD
    }
}

impl Weight for ExtraValue {
    fn weight(&self) -> usize {
        match self {
            Self::Facet(Some(facet)) => {
                let label = |value: &Value| facet.labels.as_ref()?.get(value.borrowed());
                let values = facet.values.iter();
                values
                    .map(|(value, _)| {
                        value_weight(value) + label(value).map_or(0, |l| OVERHEAD + value_weight(l))
                    })
                    .sum()
            }
            Self::Suggestions(Some(suggested)) => {
                suggested.iter().map(|s| s.column.len() + 32).sum()
            }
            _ => 0,
        }
    }
}

fn value_weight(value: &Value) -> usize {
    let bytes = match value {
        Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
        _ => 0,
    };
    size_of::<(Value, u64)>() + bytes
}
