//! What is measured, from the lowest rung up.

use crate::servers::Site;

/// One page of one server.
pub struct Rung {
    pub name: &'static str,
    pub site: Site,
    pub path: &'static str,
    /// With which every request must be answered; for 304 the client sends the entity tag.
    pub status: u16,
    /// The rung from which this one differs in one thing, by its place in the list.
    pub over: usize,
}

const ACTOR: &str = "/-/actor.json";
const FEW: &str = "/data/few.json";
/// Ten arguments that leave the rows as they are.
const TEN: &str = "/data/few.json?_size=100&_shape=objects&_ttl=5&_nofacet=1&_nosuggest=1\
    &_nocount=1&_labels=off&_json_infinity=0&_timelimit=900&_searchmode=raw";
const JSON: &str = "/data/item.json";
const HTML: &str = "/data/item";

/// The ladder. Pages are answered from what is kept unless the name says otherwise.
pub fn all() -> Vec<Rung> {
    use Site::{BareHello, Databases, OurHello, Rows, Tables, Uncached};
    vec![
        rung("hello, actix-web by itself", BareHello, "/", 200, 0),
        rung("hello, actix-web as set up here", OurHello, "/", 200, 0),
        rung("actor.json, 1 table", Tables(1), ACTOR, 200, 1),
        rung("actor.json, 50 tables", Tables(50), ACTOR, 200, 2),
        rung("actor.json, 2,000 tables", Tables(2_000), ACTOR, 200, 2),
        rung("actor.json, 20 databases", Databases(20), ACTOR, 200, 2),
        rung("table of 5 rows, 1 table", Tables(1), FEW, 200, 2),
        rung("table of 5 rows, 50 tables", Tables(50), FEW, 200, 6),
        rung("table of 5 rows, 2,000 tables", Tables(2_000), FEW, 200, 6),
        rung("table of 5 rows, 20 databases", Databases(20), FEW, 200, 6),
        rung("table of 5 rows, 10 arguments", Tables(1), TEN, 200, 6),
        rung("table of 5 rows, not kept", Uncached, FEW, 200, 6),
        rung("the same, 10 arguments", Uncached, TEN, 200, 11),
        rung("one row", Tables(1), "/data/few/3.json", 200, 6),
        rung("100 rows, JSON", Rows, JSON, 200, 6),
        rung("100 rows, JSON, 304", Rows, JSON, 304, 14),
        rung("100 rows, HTML", Rows, HTML, 200, 14),
        rung("100 rows, HTML, 304", Rows, HTML, 304, 16),
        rung("redirect from /-", Tables(1), "/-", 301, 1),
        rung("versions.json", Tables(1), "/-/versions.json", 200, 2),
    ]
}

fn rung(name: &'static str, site: Site, path: &'static str, status: u16, over: usize) -> Rung {
    Rung {
        name,
        site,
        path,
        status,
        over,
    }
}
