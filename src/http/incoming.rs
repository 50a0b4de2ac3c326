//! Reads a request once: what pages want to know of it ([`Request`]) and what
//! its answer must look like ([`Terms`]).

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName,
    IF_NONE_MATCH, IF_RANGE, ORIGIN, RANGE,
};

use super::csrf::Initiator;
use super::request::Request;
use crate::auth::Identity;
use crate::config::Settings;
use crate::text::query::QueryString;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Addresses that answer in JSON without saying so.
const SPEAK_JSON: [&str; 2] = ["/-/jump", "/-/autocomplete"];

/// In which form an error is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorForm {
    /// A page for people.
    Html,
    /// An object, for paths that end in `.json` or `.ndjson`.
    Json,
    /// A line of text, for paths that end in `.csv` or `.md`.
    Text,
}

impl ErrorForm {
    fn of(path: &str) -> Self {
        match path.rsplit_once('.') {
            Some((_, "json" | "ndjson")) => Self::Json,
            Some((_, "csv" | "md")) => Self::Text,
            _ if SPEAK_JSON.iter().any(|end| path.ends_with(end)) => Self::Json,
            _ => Self::Html,
        }
    }
}

/// How sure it is that a program asks, which reads JSON better than a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpeaksJson {
    /// Nothing says so.
    No,
    /// It accepts JSON.
    Accepts,
    /// It sent JSON.
    Sends,
}

/// What the answer depends on besides the page.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'h> {
    /// The path as it was sent, `base_url` and all.
    pub path: &'h str,
    /// The query as it was sent.
    pub query: &'h str,
    /// Whether only the headers are wanted.
    pub head: bool,
    /// How errors are told.
    pub error_form: ErrorForm,
    /// Whether the client is a program that speaks JSON, whatever the path.
    pub json: SpeaksJson,
    /// Whether the answer may depend on who asks, and no shared cache may keep it.
    pub personal: bool,
    /// What it says of its sender.
    pub identity: Identity<'h>,
    /// The page that sent it, as a browser tells: `Origin` and `Sec-Fetch-Site`.
    pub initiator: Initiator<'h>,
    /// The `Accept-Encoding` header.
    pub accept_encoding: Option<&'h str>,
    /// The `If-None-Match` header.
    pub if_none_match: Option<&'h str>,
    /// The `Range` header.
    pub range: Option<&'h str>,
    /// The `If-Range` header.
    pub if_range: Option<&'h str>,
    /// All headers, for what only one page asks.
    pub headers: &'h HeaderMap,
}

impl Terms<'_> {
    /// What is known of the request here, for the page of an error: not the host.
    pub(super) fn request(&self, settings: &Settings) -> Request {
        Request {
            method: Cow::Borrowed(if self.head { "HEAD" } else { "GET" }),
            path: below_base(self.path, &settings.base_url).to_owned(),
            query: QueryString::parse(self.query),
            scheme: "http",
            host: String::new(),
            base_url: settings.base_url.clone(),
            actor: None,
        }
    }
}

/// Takes a request of actix-web apart.
pub fn read<'h>(http: &'h HttpRequest, settings: &Settings) -> (Request, Terms<'h>) {
    let uri = http.uri();
    let path = uri.path();
    let query = uri.query().unwrap_or_default();
    let header = |name: HeaderName| http.headers().get(name)?.to_str().ok();
    let json = if header(CONTENT_TYPE) == Some("application/json") {
        SpeaksJson::Sends
    } else if header(ACCEPT).is_some_and(|value| value.contains("application/json")) {
        SpeaksJson::Accepts
    } else {
        SpeaksJson::No
    };
    let terms = Terms {
        path,
        query,
        head: http.method() == Method::HEAD,
        error_form: ErrorForm::of(path),
        json,
        personal: http.headers().contains_key(COOKIE) || http.headers().contains_key(AUTHORIZATION),
        identity: Identity {
            cookie: header(COOKIE),
            authorization: header(AUTHORIZATION),
        },
        initiator: Initiator {
            origin: header(ORIGIN),
            site: header(SEC_FETCH_SITE),
            host: header(HOST),
        },
        accept_encoding: header(ACCEPT_ENCODING),
        if_none_match: header(IF_NONE_MATCH),
        range: header(RANGE),
        if_range: header(IF_RANGE),
        headers: http.headers(),
    };
    let host = header(HOST)
        .or(uri.host())
        .filter(|host| is_host(host))
        .unwrap_or("localhost")
        .to_owned();
    let scheme = if settings.force_https_urls || behind_https(http) {
        "https"
    } else {
        "http"
    };
    let request = Request {
        method: match *http.method() {
            Method::GET => Cow::Borrowed("GET"),
            Method::HEAD => Cow::Borrowed("HEAD"),
            ref other => Cow::Owned(other.as_str().to_owned()),
        },
        path: below_base(path, &settings.base_url).to_owned(),
        query: QueryString::parse(query),
        scheme,
        host,
        base_url: settings.base_url.clone(),
        actor: None,
    };
    (request, terms)
}

/// Whether a text can be a host with its port. Links are made of it, so
/// nothing that means something in HTML or in a header may come in here.
fn is_host(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b".-_:[]%".contains(&b);
    !text.is_empty() && text.bytes().all(allowed)
}

/// Whether a proxy on this machine took the request in over HTTPS. Others may claim what they like.
fn behind_https(http: &HttpRequest) -> bool {
    // A Unix socket has no addresses.
    http.peer_addr().is_none_or(|peer| peer.ip().is_loopback())
        && http
            .headers()
            .get("x-forwarded-proto")
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("https"))
}

/// The path without `base_url`. A path that lacks the prefix is served all the
/// same: a proxy in front may have taken it off.
pub(super) fn below_base<'p>(path: &'p str, base: &str) -> &'p str {
    let prefix = base.trim_end_matches('/');
    match path.strip_prefix(prefix) {
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn a_host_that_is_none_is_not_repeated() {
        for host in ["data.example.org:8001", "[::1]:80", "127.0.0.1"] {
            assert!(is_host(host), "{host}");
        }
        for host in ["", "x y", "x\"><script>", "a/b", "a,b"] {
            assert!(!is_host(host), "{host}");
        }
    }

    fn settings(base_url: &str) -> Settings {
        Settings {
            base_url: base_url.to_owned(),
            ..Settings::default()
        }
    }

    #[test]
    fn a_path_is_served_with_and_without_its_base() {
        for (path, base, expected) in [
            ("/pre/db/t", "/pre/", "/db/t"),
            ("/db/t", "/pre/", "/db/t"),
            ("/pre/", "/pre/", "/"),
            ("/pre", "/pre/", "/pre"),
            ("/prefix", "/pre/", "/prefix"),
            ("/db", "/", "/db"),
            ("/", "/", "/"),
        ] {
            assert_eq!(below_base(path, base), expected, "{path} below {base}");
        }
    }

    #[test]
    fn the_form_of_an_error_follows_the_path() {
        for (path, form) in [
            ("/fx/t.json", ErrorForm::Json),
            ("/fx/t.ndjson", ErrorForm::Json),
            ("/no/such/page/at/all.json", ErrorForm::Json),
            ("/fx/t.csv", ErrorForm::Text),
            ("/fx/-/schema.md", ErrorForm::Text),
            ("/fx/t/-/autocomplete", ErrorForm::Json),
            ("/fx/t", ErrorForm::Html),
            ("/fx/t~2Ejson", ErrorForm::Html),
        ] {
            assert_eq!(ErrorForm::of(path), form, "{path}");
        }
    }

    #[test]
    fn a_request_is_read_once_and_whole() {
        let http = TestRequest::get()
            .uri("/pre/fx/t%20x?a=1&b=")
            .insert_header(("host", "example.com:81"))
            .insert_header(("cookie", "a=b"))
            .to_http_request();
        let (request, terms) = read(&http, &settings("/pre/"));
        assert_eq!(request.path, "/fx/t%20x");
        assert_eq!(request.origin(), "http://example.com:81");
        assert_eq!(request.query.raw(), "a=1&b=");
        assert_eq!(terms.path, "/pre/fx/t%20x");
        assert!(terms.personal && !terms.head && terms.json == SpeaksJson::No);
    }

    #[test]
    fn only_a_proxy_on_this_machine_is_believed() {
        let request = |peer: &str| {
            TestRequest::get()
                .peer_addr(peer.parse().expect("an address"))
                .insert_header(("x-forwarded-proto", "https"))
                .insert_header(("host", "h"))
                .to_http_request()
        };
        let origin = |http: &HttpRequest| read(http, &settings("/")).0.origin();
        assert_eq!(origin(&request("127.0.0.1:5")), "https://h");
        assert_eq!(origin(&request("10.0.0.1:5")), "http://h");
        let mut forced = settings("/");
        forced.force_https_urls = true;
        assert_eq!(
            read(&request("10.0.0.1:5"), &forced).0.origin(),
            "https://h"
        );
    }
}
