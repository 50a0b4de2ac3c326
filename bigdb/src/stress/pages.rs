//! The URLs of a stress run.

/// Table pages of small tables, of the large one and of an in-memory database.
#[rustfmt::skip]
const PAGES: [&str; 24] = [
    "/small/categories",
    "/small/categories.json?_labels=on&_extra=count",
    "/small/events?_size=20",
    "/small/events.json?_facet=state&_facet=status&_extra=count,facet_results,suggested_facets",
    "/small/venues.csv",
    "/small/venues?_sort_desc=capacity&_facet=state",
    "/small/reviews?_search=evening",
    "/small/events/17",
    "/big/events?_size=100",
    "/big/events?_facet=state&_facet=status",
    "/big/events.json?_size=100&_extra=count,suggested_facets",
    "/big/events.json?_facet_array=tags&_facet_date=created&_extra=count,facet_results&_size=5",
    "/big/events?_sort_desc=score&_size=50",
    "/big/events.json?state=CA&score__gte=50&_labels=on&_extra=count&_size=50",
    "/big/events.csv?_size=500&_labels=on",
    "/big/events.json?_facet=category_id&_labels=on&_extra=count,facet_results&_size=1",
    "/big/events?_next=4711&_size=25",
    "/big/reviews.json?_search=encore&_sort_desc=stars&_extra=count",
    "/mem/events?_facet=status",
    "/mem/events.json?_facet=state&_facet=is_free&_extra=count,facet_results,suggested_facets",
    "/mem/events?tags__arraycontains=family&_sort=amount&_size=30",
    "/mem/venues.json?_size=1000&_extra=count",
    "/mem/reviews?_search=balcony&_facet=stars",
    "/mem/events.csv?_size=100",
];

pub fn built_in() -> Vec<String> {
    PAGES.map(str::to_owned).into()
}
