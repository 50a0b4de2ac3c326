//! Keeps pages of other sites from making a visitor's browser change something
//! here: a request that changes something must not come from another site.
//!
//! Browsers say where a request comes from: `Sec-Fetch-Site`, and older ones
//! `Origin`. Programs that are no browser send neither, and have no cookies of
//! anybody else. <https://words.filippo.io/csrf/>

use crate::error::{Error, Result};

/// Where a request comes from, as its headers tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Initiator<'h> {
    /// `Origin`
    pub origin: Option<&'h str>,
    /// `Sec-Fetch-Site`
    pub site: Option<&'h str>,
    /// `Host`
    pub host: Option<&'h str>,
}

impl Initiator<'_> {
    /// 403 if a page of another site made the browser send the request.
    pub fn check(self) -> Result<()> {
        let is_ours = match (self.site, self.origin) {
            (Some(site), _) => matches!(site, "same-origin" | "none"),
            (None, Some(origin)) => host_of(origin).is_some_and(|host| self.host == Some(host)),
            (None, None) => true,
        };
        if is_ours {
            return Ok(());
        }
        Err(Error::Forbidden(
            "This request comes from a page of another site, which may not change anything here"
                .to_owned(),
        ))
    }
}

fn host_of(origin: &str) -> Option<&str> {
    Some(origin.split_once("://")?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_let_in(site: Option<&str>, origin: Option<&str>) -> bool {
        let host = Some("data.example.org:8001");
        Initiator { origin, site, host }.check().is_ok()
    }

    #[test]
    fn a_request_of_this_site_or_of_no_page_is_let_in() {
        assert!(is_let_in(None, None));
        assert!(is_let_in(
            Some("same-origin"),
            Some("http://data.example.org:8001")
        ));
        assert!(is_let_in(Some("none"), None));
        assert!(is_let_in(None, Some("https://data.example.org:8001")));
    }

    #[test]
    fn a_request_of_another_page_is_not() {
        for site in ["cross-site", "same-site", ""] {
            assert!(!is_let_in(Some(site), None), "{site}");
        }
        for origin in ["http://evil.example", "null", "http://data.example.org"] {
            assert!(!is_let_in(None, Some(origin)), "{origin}");
        }
    }
}
