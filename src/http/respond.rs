//! The last step: a [`Response`] becomes actix-web's, with the headers that
//! every answer carries.

use std::borrow::Cow;

use actix_http::encoding::Encoder;
use actix_web::HttpResponse;
use actix_web::body::{self, BodyStream, BoxBody, SizedStream};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use bytes::Bytes;

use super::access_log::{Counted, Line};
use super::incoming::Terms;
use super::response::{self, Body, Response};

/// What `--cors` adds, as Datasette does.
const CORS: [(&str, &str); 5] = [
    ("access-control-allow-origin", "*"),
    (
        "access-control-allow-headers",
        "Authorization, Content-Type",
    ),
    ("access-control-expose-headers", "Link"),
    ("access-control-allow-methods", "GET, POST, HEAD, OPTIONS"),
    ("access-control-max-age", "3600"),
];

/// Request headers that may change the answer.
const VARIES: [&str; 3] = ["Cookie", "Authorization", "Accept-Encoding"];

/// What is added to an answer.
#[derive(Debug, Clone, Copy)]
pub struct Additions<'a> {
    /// `--cors`
    pub cors: bool,
    /// A file of the program: the same for everybody.
    pub is_static: bool,
    /// The `Content-Security-Policy` of pages.
    pub policy: Option<&'a HeaderValue>,
}

/// Makes the answer that is sent.
pub fn finish(
    terms: &Terms<'_>,
    response: Response,
    additions: Additions<'_>,
    line: Option<Line>,
) -> HttpResponse {
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut http = with_body(terms, status, response.body, line);
    if let Some(encoding) = response.stream_encoding {
        http = http.map_body(|head, body| {
            BoxBody::new(Encoder::response(encoding.of_stream(), head, body))
        });
    }
    let headers = http.headers_mut();
    for (name, value) in response.headers {
        append(headers, name, value);
    }
    for (name, value) in response.own_headers {
        append_own(headers, &name, &value);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if additions.is_static {
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    } else {
        if additions.cors {
            for (name, value) in CORS {
                append(headers, name, Cow::Borrowed(value));
            }
        }
        vary(headers);
        protect(headers, additions.policy);
        if terms.personal {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        }
    }
    http
}

fn with_body(
    terms: &Terms<'_>,
    status: StatusCode,
    body: Body,
    line: Option<Line>,
) -> HttpResponse {
    match body {
        Body::Whole(bytes) => {
            if let Some(line) = line {
                let sent = if terms.head { 0 } else { bytes.len() as u64 };
                line.write(status.as_u16(), sent);
            }
            if status == StatusCode::NOT_MODIFIED {
                return HttpResponse::with_body(status, body::None::new()).map_into_boxed_body();
            }
            // For HEAD actix-web sends the length and keeps the bytes.
            HttpResponse::with_body(status, bytes).map_into_boxed_body()
        }
        Body::Stream(_) if terms.head => {
            if let Some(line) = line {
                line.write(status.as_u16(), 0);
            }
            HttpResponse::with_body(status, body::None::new()).map_into_boxed_body()
        }
        Body::Stream(stream) => {
            let stream = counted(stream, status, line);
            HttpResponse::with_body(status, BodyStream::new(stream)).map_into_boxed_body()
        }
        // For HEAD too: the length is sent, and there are no pieces.
        Body::Sized { length, pieces } => {
            let pieces = counted(pieces, status, line);
            HttpResponse::with_body(status, SizedStream::new(length, pieces)).map_into_boxed_body()
        }
    }
}

/// The stream, which writes its line in the access log when it ends.
fn counted(
    stream: response::BodyStream,
    status: StatusCode,
    line: Option<Line>,
) -> response::BodyStream {
    match line {
        None => stream,
        Some(line) => Box::pin(Counted::new(stream, status.as_u16(), line)),
    }
}

/// Appends a header; one that HTTP cannot carry is dropped rather than the answer.
fn append(headers: &mut HeaderMap, name: &'static str, value: Cow<'static, str>) {
    let value = match value {
        Cow::Borrowed(text) => HeaderValue::from_bytes(text.as_bytes()),
        Cow::Owned(text) => HeaderValue::from_maybe_shared(Bytes::from(text)),
    };
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
        headers.append(name, value);
    } else {
        tracing::warn!("a header that cannot be sent was left out");
    }
}

/// Tells browsers what a page may do, and what they may tell other sites of its address.
fn protect(headers: &mut HeaderMap, policy: Option<&HeaderValue>) {
    let is_page = headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if !is_page {
        return;
    }
    if !headers.contains_key(REFERRER_POLICY) {
        headers.insert(
            REFERRER_POLICY,
            HeaderValue::from_static("strict-origin-when-cross-origin"),
        );
    }
    if let Some(policy) = policy
        && !headers.contains_key(CONTENT_SECURITY_POLICY)
    {
        headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
    }
}

/// Appends a header whose name is known only now.
fn append_own(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.append(name, value);
    }
}

/// Adds what every page varies with to what this one says of itself.
fn vary(headers: &mut HeaderMap) {
    let mut names: Vec<String> = headers
        .get_all(VARY)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        headers.insert(
            VARY,
            HeaderValue::from_static("Cookie, Authorization, Accept-Encoding"),
        );
        return;
    }
    if names.iter().any(|name| name == "*") {
        return;
    }
    for name in VARIES {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
        }
    }
    if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
        headers.insert(VARY, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::http::response::{HTML, TEXT};
    use actix_web::test::TestRequest;

    fn finished(
        request: TestRequest,
        response: Response,
        cors: bool,
        is_static: bool,
    ) -> HttpResponse {
        let http = request.to_http_request();
        let terms = super::super::incoming::read(&http, &Settings::default()).1;
        let additions = Additions {
            cors,
            is_static,
            policy: None,
        };
        finish(&terms, response, additions, None)
    }

    fn values(http: &HttpResponse, name: &str) -> Vec<String> {
        let values = http.headers().get_all(name);
        values
            .map(|value| value.to_str().expect("text").to_owned())
            .collect()
    }

    #[test]
    fn an_answer_to_somebody_in_particular_is_kept_by_no_cache() {
        let page = || Response::whole(200, HTML, "x").header("cache-control", "max-age=5");
        let anybody = finished(TestRequest::get(), page(), false, false);
        assert_eq!(values(&anybody, "cache-control"), ["max-age=5"]);
        assert_eq!(
            values(&anybody, "vary"),
            ["Cookie, Authorization, Accept-Encoding"]
        );
        for header in ["cookie", "authorization"] {
            let request = TestRequest::get().insert_header((header, "x"));
            let somebody = finished(request, page(), false, false);
            assert_eq!(
                values(&somebody, "cache-control"),
                ["private, no-store"],
                "{header}"
            );
        }
    }

    #[test]
    fn a_file_of_the_program_is_the_same_for_everybody() {
        let request = TestRequest::get().insert_header(("cookie", "x"));
        let file = Response::whole(200, TEXT, "x").header("cache-control", "max-age=5");
        let http = finished(request, file, true, true);
        assert_eq!(values(&http, "cache-control"), ["max-age=5"]);
        assert_eq!(values(&http, "vary"), ["Accept-Encoding"]);
        assert!(values(&http, "access-control-allow-origin").is_empty());
    }

    #[test]
    fn cors_headers_are_sent_once_each_when_asked_for() {
        let with = finished(
            TestRequest::get(),
            Response::whole(200, TEXT, "x"),
            true,
            false,
        );
        for (name, value) in CORS {
            assert_eq!(values(&with, name), [value]);
        }
        let without = finished(
            TestRequest::get(),
            Response::whole(200, TEXT, "x"),
            false,
            false,
        );
        assert!(values(&without, "access-control-allow-origin").is_empty());
    }

    #[test]
    fn a_body_of_known_length_tells_it_for_head_too() {
        use actix_web::body::{BodySize, MessageBody as _};
        for method in [actix_web::http::Method::GET, actix_web::http::Method::HEAD] {
            let mut file = Response::whole(200, TEXT, "");
            file.body = Body::Sized {
                length: 5,
                pieces: Box::pin(futures_util::stream::empty()),
            };
            let http = finished(TestRequest::default().method(method), file, false, false);
            assert_eq!(http.body().size(), BodySize::Sized(5));
        }
    }

    #[test]
    fn what_a_page_varies_with_is_kept() {
        let page = Response::whole(200, TEXT, "x").header("vary", "Accept, cookie");
        let http = finished(TestRequest::get(), page, false, false);
        assert_eq!(
            values(&http, "vary"),
            ["Accept, cookie, Authorization, Accept-Encoding"]
        );
    }

    #[test]
    fn a_header_that_http_cannot_carry_does_not_cost_the_answer() {
        let page = Response::whole(200, TEXT, "x").header("link", "a\nb");
        assert_eq!(
            finished(TestRequest::get(), page, false, false).status(),
            200
        );
    }
}
