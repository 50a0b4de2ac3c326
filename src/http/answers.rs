//! Answers that are kept, and answers that are being made: a page of a database
//! that has not changed is made once, for all who ask for it.
//!
//! An answer is kept under the versions of its databases at the moment its
//! request came in. Nothing has to be thrown away when a database changes:
//! later requests ask under another version.

use std::borrow::Cow;
use std::future::Future;
use std::hash::BuildHasher as _;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use foldhash::quality::RandomState;
use moka::future::Cache;

use super::compression::Forms;
use super::response::{Body, Response};
use super::statics::names_etag;
use crate::db::Version;
use crate::error::{Error, Result};

/// An answer larger than one part in so many of the cache is not kept.
const LARGEST: u64 = 8;
/// What an entry takes besides its texts: about what the cache and the allocator add.
const OVERHEAD: usize = 512;

/// Which answer: a page in one state of all that it shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The versions of the databases that the page is about, in the order of the page.
    pub versions: Vec<Version>,
    /// Everything in the request that the page depends on.
    pub address: String,
}

/// An answer with a whole body.
#[derive(Clone)]
struct Answer {
    headers: Vec<(&'static str, Cow<'static, str>)>,
    status: u16,
    body: Bytes,
    forms: Option<Arc<Forms>>,
}

/// An answer that is not kept. Requests that were waiting for it get it all the same.
enum Passing {
    Answer(Answer),
    Error(Error),
}

/// The answers.
pub struct Answers {
    /// None if no answer is kept.
    kept: Option<Cache<Key, Arc<Answer>, RandomState>>,
    largest: usize,
    /// Seeds the entity tags: another run of the program has other versions.
    seed: RandomState,
}

impl Answers {
    /// Keeps up to `bytes` bytes of answers, those that are asked for most.
    pub fn new(bytes: u64) -> Self {
        let kept = (bytes > 0).then(|| {
            Cache::builder()
                .max_capacity(bytes)
                .weigher(|key: &Key, answer: &Arc<Answer>| weight(key, answer))
                .build_with_hasher(RandomState::default())
        });
        Self {
            kept,
            largest: usize::try_from(bytes / LARGEST).unwrap_or(usize::MAX),
            seed: RandomState::default(),
        }
    }

    /// The answer under `key`: one that is kept, the one that another request
    /// is having made at this moment, or one that `make` makes. If the client of
    /// the request that makes it leaves, the next that waits makes it. `cache_control` is the
    /// header of a 304 whose answer is not kept.
    pub async fn answer<F>(
        &self,
        key: Key,
        if_none_match: Option<&str>,
        cache_control: Option<Cow<'static, str>>,
        make: impl FnOnce() -> Pin<Box<F>>,
    ) -> Result<Response>
    where
        F: Future<Output = Result<Response>>,
    {
        let tag = self.tag(&key);
        // Nobody knows the tag but from an answer that lasts, and it stands for this version.
        if if_none_match.is_some_and(|header| header != "*" && names_etag(header, &tag)) {
            return Ok(self.known(&key, tag, cache_control).await.not_modified());
        }
        let response = match &self.kept {
            None => match self.make(make(), tag).await {
                Ok(answer) => answer.response(),
                Err(passing) => passing.result()?,
            },
            Some(kept) => match kept.get(&key).await {
                Some(answer) => answer.response(),
                None => Box::pin(kept.try_get_with(key, self.make(make(), tag)))
                    .await
                    .map_or_else(|passing| passing.result(), |answer| Ok(answer.response()))?,
            },
        };
        // `*` names any answer, once there is one.
        if if_none_match == Some("*") && response.status == 200 {
            return Ok(response.not_modified());
        }
        Ok(response)
    }

    async fn make(
        &self,
        make: Pin<Box<impl Future<Output = Result<Response>>>>,
        tag: String,
    ) -> Result<Arc<Answer>, Passing> {
        let response = make.await.map_err(Passing::Error)?;
        let (status, lasts) = (response.status, response.lasts);
        let Body::Whole(body) = response.body else {
            let reason = "an answer without an end can't be shared".to_owned();
            return Err(Passing::Error(Error::Internal(reason)));
        };
        let mut answer = Answer {
            headers: response.headers,
            status,
            body,
            forms: None,
        };
        if !lasts || status != 200 {
            return Err(Passing::Answer(answer));
        }
        answer.headers.push(("etag", tag.into()));
        if self.kept.is_none() || answer.body.len() > self.largest {
            return Err(Passing::Answer(answer));
        }
        // The buffer that it was written to may be twice as large.
        answer.body = Bytes::copy_from_slice(&answer.body);
        answer.forms = Some(Arc::default());
        Ok(Arc::new(answer))
    }

    /// The answer under `key`, or as much of it as a 304 tells.
    async fn known(
        &self,
        key: &Key,
        tag: String,
        cache_control: Option<Cow<'static, str>>,
    ) -> Response {
        if let Some(kept) = &self.kept
            && let Some(answer) = kept.get(key).await
        {
            return answer.response();
        }
        let response = Response::whole(200, "", Bytes::new()).header("etag", tag);
        match cache_control {
            Some(value) => response.header("cache-control", value),
            None => response,
        }
    }

    /// The entity tag: weak, since the same page may be sent in several encodings.
    fn tag(&self, key: &Key) -> String {
        format!("W/\"{:016x}\"", self.seed.hash_one(key))
    }
}

impl Answer {
    fn response(&self) -> Response {
        Response {
            status: self.status,
            headers: self.headers.clone(),
            own_headers: Vec::new(),
            body: Body::Whole(self.body.clone()),
            lasts: true,
            forms: self.forms.clone(),
            stream_encoding: None,
        }
    }
}

impl Passing {
    fn result(&self) -> Result<Response> {
        match self {
            Self::Answer(answer) => Ok(answer.response()),
            Self::Error(error) => Err(error.clone()),
        }
    }
}

/// Bytes that an entry takes.
fn weight(key: &Key, answer: &Answer) -> u32 {
    let headers: usize = answer.headers.iter().map(|(_, value)| value.len()).sum();
    let bytes =
        key.address.len() + headers + Forms::room(answer.body.len()) + answer.body.len() + OVERHEAD;
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::future::join_all;

    use super::*;
    use crate::http::response::TEXT;

    fn key(address: &str) -> Key {
        Key {
            versions: Vec::new(),
            address: address.to_owned(),
        }
    }

    fn text(body: &'static str, lasts: bool) -> Response {
        Response::whole(200, TEXT, body).lasting(lasts)
    }

    fn body(response: &Response) -> &[u8] {
        match &response.body {
            Body::Whole(bytes) => bytes,
            _ => panic!("not whole"),
        }
    }

    fn etag(response: &Response) -> Option<&str> {
        let header = response.headers.iter().find(|(name, _)| *name == "etag");
        header.map(|(_, value)| &**value)
    }

    #[actix_web::test]
    async fn an_answer_that_lasts_is_made_once() {
        let answers = Answers::new(1 << 20);
        let first = answers.answer(key("/a"), None, None, || {
            Box::pin(async { Ok(text("a", true)) })
        });
        assert_eq!(body(&first.await.unwrap()), b"a");
        let again = answers.answer(key("/a"), None, None, || {
            Box::pin(async { panic!("made twice") })
        });
        assert_eq!(body(&again.await.unwrap()), b"a");
        let other = answers.answer(key("/b"), None, None, || {
            Box::pin(async { Ok(text("b", false)) })
        });
        assert_eq!(etag(&other.await.unwrap()), None);
        let again = answers.answer(key("/b"), None, None, || {
            Box::pin(async { Ok(text("c", false)) })
        });
        assert_eq!(body(&again.await.unwrap()), b"c");
    }

    #[actix_web::test]
    async fn requests_at_the_same_time_share_one_making_and_its_error() {
        let answers = Answers::new(1 << 20);
        let made = AtomicUsize::new(0);
        let ask = || {
            answers.answer(key("/a"), None, None, || {
                Box::pin(async {
                    made.fetch_add(1, Relaxed);
                    tokio::task::yield_now().await;
                    Err(Error::NotFound("no such page".into()))
                })
            })
        };
        let results = join_all([ask(), ask(), ask()]).await;
        assert!(
            results
                .iter()
                .all(|result| matches!(result, Err(Error::NotFound(_))))
        );
        assert_eq!(made.load(Relaxed), 1);
    }

    #[actix_web::test]
    async fn a_client_that_has_this_version_gets_304_and_nothing_is_made() {
        let answers = Answers::new(1 << 20);
        let first = answers.answer(key("/a"), None, None, || {
            Box::pin(async { Ok(text("a", true)) })
        });
        let tag = etag(&first.await.unwrap()).unwrap().to_owned();
        let again = answers.answer(key("/a"), Some(&tag), None, || {
            Box::pin(async { panic!("made twice") })
        });
        let again = again.await.unwrap();
        assert_eq!((again.status, etag(&again)), (304, Some(tag.as_str())));
        let changed = answers.answer(key("/b"), Some(&tag), None, || {
            Box::pin(async { Ok(text("b", true)) })
        });
        assert_eq!(changed.await.unwrap().status, 200);
        let missing = answers.answer(key("/c"), Some("*"), None, || {
            Box::pin(async { Err(Error::NotFound("no such page".into())) })
        });
        assert!(missing.await.is_err());
    }

    #[actix_web::test]
    async fn the_cache_stays_within_its_bytes() {
        let answers = Answers::new(100_000);
        for n in 0..200 {
            let address = format!("/{n}");
            let page = async { Ok(Response::whole(200, TEXT, vec![b'x'; 5_000]).lasting(true)) };
            answers
                .answer(key(&address), None, None, || Box::pin(page))
                .await
                .unwrap();
        }
        let kept = answers.kept.as_ref().unwrap();
        kept.run_pending_tasks().await;
        assert!(kept.weighted_size() <= 100_000, "{}", kept.weighted_size());
        assert!(kept.entry_count() > 10, "{}", kept.entry_count());
    }
}
