//! An answer before it becomes actix-web's: status, headers and a body that is
//! either whole or made piece by piece.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;

use super::compression::{Encoding, Forms};

/// A body that is made while it is sent.
pub type BodyStream = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// The body of a [`Response`].
pub enum Body {
    /// All of it; sent with `Content-Length`.
    Whole(Bytes),
    /// Piece by piece, sent chunked. Its maker stops when the client has gone.
    Stream(BodyStream),
    /// Piece by piece with the length known; sent with `Content-Length`.
    Sized {
        /// Bytes in all.
        length: u64,
        /// The pieces; none for `HEAD`.
        pieces: BodyStream,
    },
}

/// An answer to one request.
pub struct Response {
    /// HTTP status code.
    pub status: u16,
    /// Header names (lower case) and values, besides those that the HTTP layer adds itself.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// Headers that a custom page sets, names in lower case, both checked.
    pub own_headers: Vec<(String, String)>,
    /// The body; dropped for `HEAD`.
    pub body: Body,
    /// Whether the same request gets the same answer as long as the databases
    /// that it is about have the same version.
    pub lasts: bool,
    /// Compressed forms of a whole body that is sent more than once.
    pub forms: Option<Arc<Forms>>,
    /// How a stream is to be compressed.
    pub stream_encoding: Option<Encoding>,
}

/// `application/json; charset=utf-8`
pub const JSON: &str = "application/json; charset=utf-8";
/// `text/html; charset=utf-8`
pub const HTML: &str = "text/html; charset=utf-8";
/// `text/plain; charset=utf-8`
pub const TEXT: &str = "text/plain; charset=utf-8";

/// The value of `cache-control` for an answer that may be kept so many seconds.
pub fn max_age(seconds: u64) -> Cow<'static, str> {
    match seconds {
        0 => Cow::Borrowed("no-cache"),
        seconds => Cow::Owned(format!("max-age={seconds}")),
    }
}

/// The value of `content-disposition` for a file to keep, under a name that
/// may come from anywhere: what a quoted string in a header can't hold is left out.
pub fn attachment(name: &str) -> String {
    let is_plain = |c: char| (c.is_ascii_graphic() || c == ' ') && c != '"' && c != '\\';
    let name: String = name.chars().filter(|&c| is_plain(c)).collect();
    format!("attachment; filename=\"{name}\"")
}

impl Response {
    /// A whole body of one media type.
    pub fn whole(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: vec![("content-type", Cow::Borrowed(content_type))],
            own_headers: Vec::new(),
            body: Body::Whole(body.into()),
            lasts: false,
            forms: None,
            stream_encoding: None,
        }
    }

    /// A 200 with JSON.
    pub fn json(value: &impl serde::Serialize) -> crate::error::Result<Self> {
        let body = serde_json::to_vec(value)
            .map_err(|e| crate::error::Error::Internal(format!("JSON: {e}")))?;
        Ok(Self::whole(200, JSON, body))
    }

    /// A redirect. `location` is a path or URL, already encoded.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::whole(status, "text/plain", Bytes::new()).header("location", location.to_owned())
    }

    /// Names the JSON of a page, an absolute URL, as Datasette does for its clients.
    #[must_use]
    pub fn alternate_json(self, url: &str) -> Self {
        let link = format!("<{url}>; rel=\"alternate\"; type=\"application/json+datasette\"");
        self.header("link", link)
    }

    /// Says for how many seconds caches may keep it; 0 makes them ask each time.
    #[must_use]
    pub fn cached_for(self, seconds: u64) -> Self {
        self.header("cache-control", max_age(seconds))
    }

    /// Says whether the answer [lasts](Self::lasts).
    #[must_use]
    pub fn lasting(mut self, lasts: bool) -> Self {
        self.lasts = lasts;
        self
    }

    /// 304: what the client has is still right. Of the headers those stay that
    /// caches go by (RFC 9110, 15.4.5).
    #[must_use]
    pub fn not_modified(mut self) -> Self {
        const STAY: [&str; 4] = ["etag", "cache-control", "vary", "content-location"];
        self.status = 304;
        self.headers.retain(|(name, _)| STAY.contains(name));
        self.body = Body::Whole(Bytes::new());
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
