//! The list of stored queries: those that somebody may see, searched, filtered
//! and cut into pages.

use std::sync::Arc;

use crate::auth::{Action, Asker, Resource};
use crate::config::{Config, Settings, StoredQuery};
use crate::error::{Error, Result};
use crate::text::query::QueryString;
use crate::text::tilde;

/// Queries on a page when the request does not say.
const PAGE: usize = 50;
/// Where all queries come from.
const SOURCE: &str = "config";

/// A query in the list.
#[derive(Debug, Clone)]
pub struct Listed<'c> {
    /// The database that it is of.
    pub database: &'c str,
    /// The query.
    pub query: &'c Arc<StoredQuery>,
    /// Whether others may not see it.
    pub private: bool,
}

/// What a request asks of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// `q`: a text that names, titles, descriptions or SQL have in them.
    pub search: String,
    /// `is_write`
    pub is_write: Option<bool>,
    /// `is_private`
    pub is_private: Option<bool>,
    /// `source`
    pub source: String,
    /// `owner_id`
    pub owner_id: String,
    /// `_size`: queries on a page at the most.
    pub size: usize,
    /// `_next`: where the page begins, as a token of the page before.
    next: Option<Vec<String>>,
}

/// A page of the list.
#[derive(Debug)]
pub struct ListPage<'c> {
    /// The queries.
    pub queries: Vec<Listed<'c>>,
    /// The token of the next page.
    pub next: Option<String>,
    /// All that match and read.
    pub reading: usize,
    /// All that match and write.
    pub writing: usize,
}

/// The queries of `databases` (by name, in that order) that the asker may see.
pub fn seen<'c>(
    config: &'c Config,
    asker: Asker<'_>,
    databases: impl IntoIterator<Item = &'c str>,
) -> Vec<Listed<'c>> {
    let mut seen = Vec::new();
    for database in databases {
        for query in config.database(database).queries.iter() {
            let resource = Resource::Query(database, &query.name);
            if asker.may(Action::ViewQuery, resource) {
                seen.push(Listed {
                    database,
                    query,
                    private: asker.is_private(Action::ViewQuery, resource),
                });
            }
        }
    }
    seen
}

impl ListRequest {
    /// Reads the query string. `parts` is how many parts a token has: the database, if the list
    /// is of several, the title and the name.
    pub fn parse(query: &QueryString, settings: &Settings, parts: usize) -> Result<Self> {
        let text = |key: &str| query.get(key).unwrap_or_default().to_owned();
        let next = match query.get("_next") {
            None | Some("") => None,
            Some(token) => {
                let next: Vec<String> = token.split(',').map(tilde::decode).collect();
                if next.len() != parts {
                    return Err(Error::BadRequest(
                        "_next is no token of this list: leave it out to begin at the first query"
                            .into(),
                    ));
                }
                Some(next)
            }
        };
        Ok(Self {
            search: text("q"),
            is_write: switch(query, "is_write")?,
            is_private: switch(query, "is_private")?,
            source: text("source"),
            owner_id: text("owner_id"),
            size: size(query, settings)?,
            next,
        })
    }

    fn matches(&self, query: &StoredQuery) -> bool {
        self.is_write.is_none_or(|is| is == query.is_write)
            // Those that belong to one person are not in a configuration.
            && self.is_private != Some(true)
            && matches!(self.source.as_str(), "" | SOURCE)
            && self.owner_id.is_empty()
            && is_found(query, &self.search)
    }

    /// The page of `all`, which are in order.
    pub fn page<'c>(&self, all: Vec<Listed<'c>>, with_database: bool) -> ListPage<'c> {
        let matching: Vec<Listed<'c>> = all
            .into_iter()
            .filter(|listed| self.matches(listed.query))
            .collect();
        let writing = matching.iter().filter(|l| l.query.is_write).count();
        let reading = matching.len() - writing;
        let is_after = |listed: &Listed<'_>| match &self.next {
            None => true,
            Some(next) => position(listed, with_database) > *next,
        };
        let mut queries: Vec<Listed<'c>> = matching.into_iter().filter(is_after).collect();
        let has_more = queries.len() > self.size;
        queries.truncate(self.size);
        let last = queries.last().filter(|_| has_more);
        let next = last.map(|last| {
            let parts = position(last, with_database).into_iter();
            let parts: Vec<String> = parts.map(|part| tilde::encode(part.as_bytes())).collect();
            parts.join(",")
        });
        ListPage {
            queries,
            next,
            reading,
            writing,
        }
    }
}

/// What a query is sorted by.
fn position(listed: &Listed<'_>, with_database: bool) -> Vec<String> {
    let database = with_database.then(|| listed.database.to_owned());
    let own = [listed.query.sort_key(), listed.query.name.clone()];
    database.into_iter().chain(own).collect()
}

fn is_found(query: &StoredQuery, search: &str) -> bool {
    let search = search.trim().to_lowercase();
    let texts = [
        Some(&query.name),
        query.title.as_ref(),
        query.description.as_ref(),
        Some(&query.sql),
    ];
    let mut texts = texts.into_iter().flatten();
    search.is_empty() || texts.any(|text| text.to_lowercase().contains(&search))
}

fn switch(query: &QueryString, key: &str) -> Result<Option<bool>> {
    match query.get(key) {
        None | Some("") => Ok(None),
        Some("0") => Ok(Some(false)),
        Some("1") => Ok(Some(true)),
        Some(_) => Err(Error::BadRequest(format!("{key} must be 0 or 1"))),
    }
}

fn size(query: &QueryString, settings: &Settings) -> Result<usize> {
    let most = settings.max_returned_rows.max(1);
    match query.get("_size") {
        None | Some("") => Ok(PAGE.min(most)),
        Some("max") => Ok(most),
        Some(size) => match size.parse::<usize>() {
            Ok(size) if size > most => Err(Error::BadRequest(format!("_size must be <= {most}"))),
            Ok(size) => Ok(size.max(1)),
            Err(_) => Err(Error::BadRequest("_size must be a positive integer".into())),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config() -> Config {
        let config = json!({"databases": {
            "d": {"queries": {
                "beta": {"sql": "select 1", "title": "Zed, the last"},
                "alpha": {"sql": "insert into t values (1)", "write": true},
                "Gamma": {"sql": "select 3", "description": "Of NAMES"},
            }},
            "e": {"queries": {"one": "select 'one name'"}},
        }});
        Config::new(serde_json::Map::new(), config.as_object().unwrap().clone()).unwrap()
    }

    fn list(query: &str) -> Result<(Vec<String>, Option<String>)> {
        let config = config();
        let all = seen(&config, Asker::default(), ["d", "e"]);
        let request = ListRequest::parse(&QueryString::parse(query), &Settings::default(), 3)?;
        let page = request.page(all, true);
        let names = page.queries.iter().map(|listed| listed.query.name.clone());
        Ok((names.collect(), page.next))
    }

    fn names(query: &str) -> Vec<String> {
        list(query).unwrap().0
    }

    #[test]
    fn queries_come_by_database_and_title() {
        assert_eq!(names(""), ["alpha", "Gamma", "beta", "one"]);
    }

    #[test]
    fn pages_meet_every_query_once() {
        let (mut met, mut address) = (Vec::new(), "_size=1".to_owned());
        while let (names, Some(next)) = list(&address).unwrap() {
            met.extend(names);
            address = format!("_size=1&_next={next}");
        }
        met.extend(names(&address));
        assert_eq!(met, ["alpha", "Gamma", "beta", "one"]);
        assert!(list("_next=x").is_err());
    }

    #[test]
    fn a_search_looks_at_names_titles_descriptions_and_sql() {
        assert_eq!(names("q=LAST"), ["beta"]);
        assert_eq!(names("q=name"), ["Gamma", "one"]);
        assert_eq!(names("q=+"), names(""));
        assert_eq!(names("q=%25"), [""; 0], "a text, no pattern");
    }

    #[test]
    fn filters_are_switches() {
        assert_eq!(names("is_write=1"), ["alpha"]);
        assert_eq!(names("is_write=0&q=a"), ["Gamma", "beta", "one"]);
        assert_eq!(names("is_private=1"), [""; 0]);
        assert_eq!(names("source=user"), [""; 0]);
        assert_eq!(names("source=config").len(), 4);
        for wrong in ["is_write=x", "_size=x", "_size=5000"] {
            assert_eq!(list(wrong).unwrap_err().status(), 400, "{wrong}");
        }
    }
}
