//! `--access-log`: one line a request, when its last byte has been made.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use futures_util::Stream;

use super::response::BodyStream;

/// Logged in place of a status when the client left before there was one.
const CLIENT_GONE: u16 = 499;

/// Bytes of an address that are logged; queries can be long.
const MOST_PATH: usize = 1000;

/// A line that is still to be written. Dropped unwritten, it tells that the client has gone.
pub struct Line {
    method: String,
    path: String,
    started: Instant,
    written: bool,
}

impl Line {
    /// Begins the line of a request.
    pub fn begin(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: shortened(path),
            started: Instant::now(),
            written: false,
        }
    }

    /// Writes it.
    pub fn write(mut self, status: u16, bytes: u64) {
        self.put(status, bytes);
    }

    fn put(&mut self, status: u16, bytes: u64) {
        self.written = true;
        let ms = self.started.elapsed().as_secs_f64() * 1000.0;
        tracing::info!(
            target: "access",
            "{} {} {status} {bytes} {ms:.1}ms",
            self.method,
            self.path
        );
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.written {
            self.put(CLIENT_GONE, 0);
        }
    }
}

fn shortened(path: &str) -> String {
    if path.len() <= MOST_PATH {
        return path.to_owned();
    }
    let mut end = MOST_PATH;
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &path[..end])
}

/// A body that counts its bytes and writes the line at its end, or where it was cut off.
pub struct Counted {
    stream: BodyStream,
    status: u16,
    bytes: u64,
    line: Option<Line>,
}

impl Counted {
    /// Wraps a body.
    pub fn new(stream: BodyStream, status: u16, line: Line) -> Self {
        Self {
            stream,
            status,
            bytes: 0,
            line: Some(line),
        }
    }
}

impl Stream for Counted {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.stream.as_mut().poll_next(cx);
        if let Poll::Ready(Some(Ok(chunk))) = &next {
            self.bytes += chunk.len() as u64;
        }
        next
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            line.write(self.status, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_address_is_cut() {
        assert_eq!(shortened("/fx?sql=1"), "/fx?sql=1");
        let cut = shortened(&"é".repeat(MOST_PATH));
        assert!(cut.ends_with("é…") && cut.len() < MOST_PATH + 5);
    }
}
