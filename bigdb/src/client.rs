//! Asks a server for pages, and finds where two answers differ.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use ureq::Agent;

/// An answer that takes longer is an error.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Bytes that are shown before and after a difference.
const CONTEXT: usize = 40;

/// What is compared of a response. Other header fields, such as `Date`, may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub body: Vec<u8>,
}

/// One client with connections that are kept open.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    base: String,
    authority: String,
}

impl Client {
    /// `base` is an URL such as `http://127.0.0.1:8001/`.
    pub fn new(base: &str) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections_per_host(64)
            .max_idle_connections(64)
            .timeout_global(Some(TIMEOUT))
            .build()
            .new_agent();
        let base = base.trim_end_matches('/').to_owned();
        let authority = authority(&base).to_owned();
        Client {
            agent,
            base,
            authority,
        }
    }

    /// The answer to a GET of `path`, which starts with a slash, whatever its status.
    pub fn get(&self, path: &str) -> Result<Answer> {
        let url = format!("{}{path}", self.base);
        let mut response = self
            .agent
            .get(&url)
            .call()
            .with_context(|| format!("GET {path}"))?;
        let status = response.status().as_u16();
        let content_type = response
            .headers()
            .get("content-type")
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .unwrap_or_default();
        let body = response
            .body_mut()
            .with_config()
            .limit(u64::MAX)
            .read_to_vec()
            .with_context(|| format!("body of GET {path}"))?;
        Ok(Answer {
            status,
            content_type,
            body,
        })
    }

    /// The answer with the server's own address replaced, which stands in
    /// `next_url` and the like and differs between servers on different ports.
    pub fn without_address(&self, answer: Answer) -> Answer {
        Answer {
            body: replaced(answer.body, self.authority.as_bytes(), b"SERVER"),
            ..answer
        }
    }

    /// Like [`Client::get`], but any status but 200 is an error.
    pub fn get_ok(&self, path: &str) -> Result<Answer> {
        let answer = self.get(path)?;
        if answer.status != 200 {
            bail!(
                "GET {path}: status {}, {:?}",
                answer.status,
                excerpt(&answer.body, 0)
            );
        }
        Ok(answer)
    }
}

/// Host and port of an URL such as `http://127.0.0.1:8001/`.
pub fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

fn replaced(body: Vec<u8>, needle: &[u8], replacement: &[u8]) -> Vec<u8> {
    let find = |text: &[u8]| {
        let mut windows = text.windows(needle.len().max(1));
        windows.position(|window| window == needle)
    };
    let Some(mut at) = find(&body) else {
        return body;
    };
    let mut kept = Vec::with_capacity(body.len());
    let mut rest = body.as_slice();
    loop {
        kept.extend_from_slice(&rest[..at]);
        kept.extend_from_slice(replacement);
        rest = &rest[at + needle.len()..];
        match find(rest) {
            Some(next) => at = next,
            None => break,
        }
    }
    kept.extend_from_slice(rest);
    kept
}

/// Where and how `other` first differs from `first`; None if it does not.
pub fn difference(first: &Answer, other: &Answer) -> Option<String> {
    if first.status != other.status {
        let said = excerpt(&other.body, 0);
        return Some(format!(
            "status {} instead of {}: {said}",
            other.status, first.status
        ));
    }
    if first.content_type != other.content_type {
        let (was, is) = (&first.content_type, &other.content_type);
        return Some(format!("content type {is:?} instead of {was:?}"));
    }
    let same = first
        .body
        .iter()
        .zip(&other.body)
        .take_while(|(a, b)| a == b)
        .count();
    if same == first.body.len() && same == other.body.len() {
        return None;
    }
    Some(format!(
        "byte {same} of {} (first response: {}): {:?} instead of {:?}",
        other.body.len(),
        first.body.len(),
        excerpt(&other.body, same),
        excerpt(&first.body, same),
    ))
}

fn excerpt(body: &[u8], at: usize) -> String {
    let end = body.len().min(at + CONTEXT);
    let start = at.saturating_sub(CONTEXT).min(end);
    String::from_utf8_lossy(&body[start..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &str) -> Answer {
        Answer {
            status: 200,
            content_type: "text/html".to_owned(),
            body: body.into(),
        }
    }

    #[test]
    fn equal_answers_have_no_difference() {
        assert_eq!(difference(&answer("abc"), &answer("abc")), None);
    }

    #[test]
    fn the_first_difference_is_found() {
        let told = difference(&answer("count: 10 rows"), &answer("count: 11 rows")).unwrap();
        assert!(told.starts_with("byte 8 of 14"), "{told}");
        assert!(
            told.contains("count: 11 rows") && told.contains("count: 10 rows"),
            "{told}"
        );
    }

    #[test]
    fn a_cut_off_body_differs_at_its_end() {
        assert!(
            difference(&answer("abc"), &answer("ab"))
                .unwrap()
                .starts_with("byte 2 of 2")
        );
        assert!(
            difference(&answer("ab"), &answer("abc"))
                .unwrap()
                .starts_with("byte 2 of 3")
        );
    }

    #[test]
    fn status_and_type_are_compared_too() {
        let mut other = answer("abc");
        other.status = 503;
        assert!(
            difference(&answer("abc"), &other)
                .unwrap()
                .contains("503 instead of 200")
        );
        let mut other = answer("abc");
        other.content_type = "text/plain".to_owned();
        assert!(
            difference(&answer("abc"), &other)
                .unwrap()
                .contains("text/plain")
        );
    }

    #[test]
    fn the_address_of_the_server_does_not_count() {
        let client = Client::new("http://127.0.0.1:81/");
        let same = |body: &str| client.without_address(answer(body)).body;
        let body = "http://127.0.0.1:81/a http://127.0.0.1:81/b";
        assert_eq!(same(body), b"http://SERVER/a http://SERVER/b");
        assert_eq!(same("127.0.0.1:81"), b"SERVER");
        assert_eq!(same("plain"), b"plain");
        assert_eq!(same(""), b"");
    }

    #[test]
    fn excerpts_survive_any_position() {
        assert_eq!(excerpt(b"abc", 3), "abc");
        assert_eq!(excerpt(b"", 0), "");
        assert_eq!(excerpt(&[b'x'; 200], 100).len(), 2 * CONTEXT);
    }
}
