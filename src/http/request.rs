//! What the handlers know of an HTTP request: already parsed, no I/O behind it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::auth::Actor;
use crate::text::query::QueryString;

/// The parts of a request that pages depend on.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `HEAD`, `POST` …
    pub method: Cow<'static, str>,
    /// The path as it was sent (still `~` and `%` encoded), without the
    /// `base_url` prefix: it begins with `/`.
    pub path: String,
    /// The query string, in the order sent.
    pub query: QueryString,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// The `Host` header.
    pub host: String,
    /// `base_url`: `/`, or a prefix such as `/data/`.
    pub base_url: String,
    /// Who asks, if they have shown it.
    pub actor: Option<Arc<Actor>>,
}

impl Request {
    /// A path of this server (`/db/table?x=1`) with the `base_url` prefix: `/prefix/db/table?x=1`.
    pub fn prefixed(&self, path: &str) -> String {
        let base = self.base_url.trim_end_matches('/');
        let mut out = String::with_capacity(base.len() + path.len());
        out.push_str(base);
        out.push_str(path);
        out
    }

    /// `scheme://host`, as the client sees this server.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.host)
    }

    /// The same as an absolute URL.
    pub fn absolute(&self, path: &str) -> String {
        self.origin() + &self.prefixed(path)
    }

    /// Everything that a page can depend on, in one text.
    pub fn address(&self) -> String {
        let parts = [
            self.scheme,
            "://",
            &self.host,
            &self.path,
            "?",
            self.query.raw(),
        ];
        parts.concat()
    }

    /// The path and the query string as they were sent.
    pub fn full_path(&self) -> String {
        let query = self.query.raw();
        if query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{query}", self.path)
        }
    }
}
