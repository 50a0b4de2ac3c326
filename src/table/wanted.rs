//! Which extras a request wants.

use super::extras::Extra;
use super::request::{self, TableRequest};
use crate::config::Config;

/// Which of the extras that need SQL a page wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The count.
    pub count: bool,
    /// The facets.
    pub facets: bool,
    /// Suggested facets.
    pub suggested: bool,
}

impl Wanted {
    /// What a request wants. A page for people shows all of it.
    pub fn by(request: &TableRequest, config: &Config, format: request::Format) -> Self {
        let settings = &config.settings;
        let html = format == request::Format::Html;
        let asked = |extras: &[Extra]| html || extras.iter().any(|&extra| request.wants(extra));
        let facets = [
            Extra::FacetResults,
            Extra::FacetsTimedOut,
            Extra::SortedFacetResults,
        ];
        let csv = format == request::Format::Csv;
        Self {
            count: !csv && !request.no_count && asked(&[Extra::Count, Extra::CountTruncated]),
            facets: !csv && !request.no_facet && asked(&facets),
            suggested: !csv
                && settings.suggest_facets
                && settings.allow_facet
                && request.next.is_none()
                && !request.no_facet
                && !request.no_suggest
                && asked(&[Extra::SuggestedFacets]),
        }
    }
}
