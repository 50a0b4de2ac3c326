//! Entity tags of answers that are made for each request: a tag stands for the bytes
//! of its body. It saves sending them again. Pages of databases have tags that
//! save making them too ([`super::answers`]), and keep those.

use sha2::{Digest as _, Sha256};

use super::response::{Body, Response};
use super::statics::names_etag;
use crate::text::hex;

/// Bytes of the hash that a tag tells.
const LENGTH: usize = 16;

/// The tag of a body.
pub fn of_content(bytes: &[u8]) -> String {
    format!("\"{}\"", hex(&Sha256::digest(bytes)[..LENGTH]))
}

/// The answer with a tag, if it is a whole one that has none; a 304 for a client that has it.
pub fn by_content(response: Response, if_none_match: Option<&str>) -> Response {
    if response.status != 200 {
        return response;
    }
    let tag = response.headers.iter().find(|(name, _)| *name == "etag");
    let response = match (tag, &response.body) {
        (None, Body::Whole(bytes)) => {
            let tag = of_content(bytes);
            response.header("etag", tag)
        }
        _ => response,
    };
    let mut headers = response.headers.iter();
    let is_known = headers.any(|(name, tag)| {
        *name == "etag" && if_none_match.is_some_and(|header| names_etag(header, tag))
    });
    if is_known {
        response.not_modified()
    } else {
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::response::TEXT;

    fn page(body: &'static str) -> Response {
        Response::whole(200, TEXT, body)
    }

    fn tags(response: &Response) -> Vec<&str> {
        let headers = response.headers.iter();
        headers
            .filter(|(name, _)| *name == "etag")
            .map(|(_, tag)| &**tag)
            .collect()
    }

    #[test]
    fn equal_bodies_have_equal_tags() {
        let first = by_content(page("a"), None);
        assert_eq!(tags(&first), tags(&by_content(page("a"), None)));
        assert_ne!(tags(&first), tags(&by_content(page("b"), None)));
    }

    #[test]
    fn who_has_the_body_is_not_sent_it_again() {
        let tag = of_content(b"a");
        for sent in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let answer = by_content(page("a"), Some(&sent));
            assert_eq!((answer.status, tags(&answer)), (304, vec![&*tag]), "{sent}");
        }
        assert_eq!(by_content(page("b"), Some(&tag)).status, 200);
    }

    #[test]
    fn a_tag_that_is_there_stays_and_errors_get_none() {
        let tagged = by_content(page("a").header("etag", "\"own\""), Some("\"own\""));
        assert_eq!((tagged.status, tags(&tagged)), (304, vec!["\"own\""]));
        let error = by_content(Response::whole(404, TEXT, "a"), Some("*"));
        assert_eq!((error.status, tags(&error).len()), (404, 0));
    }
}
