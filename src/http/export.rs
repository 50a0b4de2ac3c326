//! What exports have in common, be they of a table or of a query: their form,
//! their headers, their bounds, and how they end.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};

use super::csv_answer;
use super::request::Request;
use super::response::{Body, Response, TEXT, attachment};
use super::routes::Format as Extension;
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::render::export::Form;
use crate::table::arguments::given;

/// Bytes that a page of an export has at the most, when it can't be told how far it goes.
pub const PAGE_BYTES: usize = 32 << 20;

/// The HTTP layer drops what it has not sent when a body breaks off: so long it
/// gets to send the last words.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Export {
    /// The form.
    pub form: Form,
    /// Whether it has all rows, not just a page of them.
    pub is_whole: bool,
    /// Whether only the headers are asked for.
    pub is_head: bool,
    /// Bytes at the most; 0 is no limit.
    limit: u64,
}

impl Export {
    /// The export that a request asks for, `None` for other pages: `.csv`, `.ndjson`, and
    /// the lines of JSON that `_nl` gives when all of them are to be streamed.
    /// [`Error::BadRequest`] if it can't be had.
    pub fn of(http: &Request, extension: &Extension, settings: &Settings) -> Result<Option<Self>> {
        let form = match extension {
            Extension::Csv => Form::Csv {
                has_header: csv_answer::has_header(http),
            },
            Extension::Ndjson => Form::JsonLines { ends_lines: true },
            Extension::Json if streams_lines(http) => Form::JsonLines { ends_lines: false },
            _ => return Ok(None),
        };
        let name = match form {
            Form::Csv { .. } => "CSV",
            Form::JsonLines { .. } => "JSON",
        };
        Ok(Some(Self {
            form,
            is_whole: csv_answer::streams_as(name, http, settings)?,
            is_head: http.method == "HEAD",
            limit: csv_answer::limit(settings),
        }))
    }

    /// The answer with `body`. With `_dl` it is a file with this name and the extension of its form.
    pub fn answer(&self, http: &Request, name: &str, body: Body) -> Response {
        let mut response = Response::whole(200, TEXT, Bytes::new());
        response.headers = match self.form {
            Form::Csv { .. } => csv_answer::headers(http, name),
            Form::JsonLines { .. } if given(&http.query, "_dl") => {
                let name = attachment(&format!("{name}.ndjson"));
                vec![
                    ("content-type", Cow::Borrowed("application/x-ndjson")),
                    ("content-disposition", Cow::Owned(name)),
                ]
            }
            Form::JsonLines { .. } => vec![("content-type", Cow::Borrowed(TEXT))],
        };
        // How long it would be nobody knows without making it.
        response.body = if self.is_head {
            Body::Stream(Box::pin(stream::empty()))
        } else {
            body
        };
        response
    }

    /// The body of one page.
    pub fn page(&self, bytes: Bytes) -> Body {
        Body::Whole(match self.form {
            Form::Csv { .. } => csv_answer::bounded(bytes, self.limit),
            Form::JsonLines { .. } => bytes,
        })
    }

    /// The body that pieces make. What goes wrong on the way can only be told at its end, since
    /// the headers have been sent; then the connection is closed where another
    /// chunk should be, so that no client takes what it has for all of it.
    pub fn stream(
        self,
        pieces: impl Stream<Item = Result<Bytes>> + Send + Unpin + 'static,
    ) -> Body {
        let state = Sending::Pieces(pieces, 0);
        Body::Stream(Box::pin(stream::unfold(state, move |state| {
            self.next(state)
        })))
    }

    async fn next<S: Stream<Item = Result<Bytes>> + Unpin>(
        self,
        state: Sending<S>,
    ) -> Option<(io::Result<Bytes>, Sending<S>)> {
        use futures_util::StreamExt as _;
        match state {
            Sending::Pieces(mut pieces, sent) => match pieces.next().await? {
                Ok(piece) => {
                    let sent = sent + piece.len() as u64;
                    if self.limit > 0 && sent > self.limit {
                        return Some(self.over_limit());
                    }
                    Some((Ok(piece), Sending::Pieces(pieces, sent)))
                }
                Err(error) => {
                    tracing::warn!("an export ended early: {error}");
                    Some((Ok(self.last_words(&error)), Sending::Broken))
                }
            },
            Sending::Broken => {
                tokio::time::sleep(LAST_WORDS).await;
                let broken = io::Error::other("the export ended early");
                Some((Err(broken), Sending::Ended))
            }
            Sending::Ended => None,
        }
    }

    /// CSV beyond the limit ends as Datasette's does: its last line says so.
    fn over_limit<S>(self) -> (io::Result<Bytes>, Sending<S>) {
        match self.form {
            Form::Csv { .. } => (Ok(csv_answer::over_limit(self.limit)), Sending::Ended),
            Form::JsonLines { .. } => {
                let limit = self.limit;
                let error = Error::BadRequest(format!("The rows have more than {limit} bytes"));
                (Ok(self.last_words(&error)), Sending::Broken)
            }
        }
    }

    fn last_words(self, error: &Error) -> Bytes {
        let message = error.message();
        Bytes::from(match self.form {
            Form::Csv { .. } => message.to_owned(),
            Form::JsonLines { ends_lines } => {
                let error = serde_json::json!({"ok": false, "error": message});
                let newline = if ends_lines { "" } else { "\n" };
                format!("{newline}{error}\n")
            }
        })
    }
}

/// How far a body is.
enum Sending<S> {
    /// Pieces to come, and bytes that were sent.
    Pieces(S, u64),
    /// The error has been told; the end is to be no end.
    Broken,
    Ended,
}

/// What is said of a page that would be larger than a page may be.
pub fn too_large() -> Error {
    Error::BadRequest(
        "The rows of this page are too large for one answer: ask for fewer with _size or _col, or for all with _stream=1"
            .into(),
    )
}

/// Whether all rows are asked for as lines of JSON.
fn streams_lines(http: &Request) -> bool {
    given(&http.query, "_stream")
        && given(&http.query, "_nl")
        && http.query.get("_shape") == Some("array")
}
