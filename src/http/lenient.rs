//! Accepts request targets that are not quite URIs, as uvicorn does.
//!
//! `curl 'http://…/t.json?pk__in=["a","b"]'` sends its quotes as they are. RFC
//! 3986 wants them as `%22`, and the parser under actix-web answers a bare 400.
//! [`Lenient`] sits between the socket and that parser and percent-encodes the
//! bytes the parser refuses, in the target of a request line and nowhere else.
//!
//! To know a request line from a line of a body, [`RequestLines`] follows the
//! framing of requests (RFC 9112, sections 2 and 6). It is safe for two reasons:
//!
//! - It does not judge. What frames a request (its line ends, its spaces, its
//!   headers) gets to actix-web byte for byte, so that a request with two lengths
//!   is refused as before, and what is behind it is never read.
//! - It follows only what has one meaning. A body in chunks, an upgrade, a tunnel,
//!   a second length or anything else unusual ends its work for the rest of the
//!   connection: later bytes pass untouched, and at worst get the 400 of old.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What the request line must have behind its target. HTTP/2 begins with a line that has not.
const VERSION: &[u8] = b"HTTP/1.";

/// A socket whose request targets are made acceptable as they are read.
pub struct Lenient<Io> {
    io: Io,
    lines: RequestLines,
    /// What was read and did not fit the reader's buffer once it was encoded: at
    /// most three times a read.
    overflow: Vec<u8>,
    /// How much of `overflow` the reader has got.
    given: usize,
}

impl<Io> Lenient<Io> {
    /// Wraps a connection of which nothing has been read.
    pub fn new(io: Io) -> Self {
        Self {
            io,
            lines: RequestLines::new(),
            overflow: Vec::new(),
            given: 0,
        }
    }

    fn give(&mut self, buf: &mut ReadBuf<'_>) {
        let rest = &self.overflow[self.given..];
        let fitting = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..fitting]);
        self.given += fitting;
        if self.given == self.overflow.len() {
            // Few connections ever need the memory: those that did give it back.
            self.overflow = Vec::new();
            self.given = 0;
        }
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Lenient<Io> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.overflow.is_empty() {
            let before = buf.filled().len();
            ready!(Pin::new(&mut this.io).poll_read(cx, buf))?;
            let fresh = &buf.filled()[before..];
            // Most reads end here, where the socket has put them.
            let Some(first) = this.lines.next_to_encode(fresh) else {
                return Poll::Ready(Ok(()));
            };
            this.lines.encode_into(&fresh[first..], &mut this.overflow);
            buf.set_filled(before + first);
        }
        this.give(buf);
        Poll::Ready(Ok(()))
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Lenient<Io> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}

/// A target, path and query, with those bytes encoded that the parser would refuse.
pub fn mended(target: &str) -> String {
    let mut out = Vec::with_capacity(target.len());
    let mut is_refused: fn(u8) -> bool = |byte| byte != b'?' && is_special_in_path(byte);
    for &byte in target.as_bytes() {
        if is_refused(byte) {
            encode(byte, &mut out);
        } else {
            out.push(byte);
        }
        if byte == b'?' {
            is_refused = is_special_in_query;
        }
    }
    // What is not ASCII was encoded.
    String::from_utf8_lossy(&out).into_owned()
}

fn encode(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([
        b'%',
        HEX[usize::from(byte >> 4)],
        HEX[usize::from(byte & 15)],
    ]);
}

/// A header that says where its request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    ContentLength,
    TransferEncoding,
    Upgrade,
}

impl Framing {
    /// The one whose name starts so, if any: no two start alike.
    fn starting_with(byte: u8) -> Option<Self> {
        match byte {
            b'c' | b'C' => Some(Self::ContentLength),
            b't' | b'T' => Some(Self::TransferEncoding),
            b'u' | b'U' => Some(Self::Upgrade),
            _ => None,
        }
    }

    fn name_and_colon(self) -> &'static [u8] {
        match self {
            Self::ContentLength => b"content-length:",
            Self::TransferEncoding => b"transfer-encoding:",
            Self::Upgrade => b"upgrade:",
        }
    }
}

/// Where in a request the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a request line. Empty lines may come first (RFC 9112, section 2.2).
    Start,
    Method,
    TargetStart,
    Path,
    Query,
    /// In the version, of which so many bytes were as they must be.
    Version(usize),
    /// In a line of which nothing more is of interest.
    RestOfLine,
    HeaderStart,
    /// In the name of a header that so far is the one of interest.
    HeaderName(Framing, usize),
    /// In the value of Content-Length.
    Length {
        value: Option<u64>,
        /// Whether a space came after the digits.
        ended: bool,
    },
    /// After the CR behind a Content-Length.
    LengthCr(u64),
    /// After the CR of the empty line that ends the headers.
    HeadCr,
    /// In a body that has so many bytes left.
    Body(u64),
    /// Something had no single meaning: there is no request line any more.
    Lost,
}

/// Finds the bytes in request targets that have to be encoded. Keeps a few words
/// of state, whatever the lengths of lines, headers and bodies.
#[derive(Debug)]
struct RequestLines {
    state: State,
    /// The length of the body, once a header of the present request has told it.
    length: Option<u64>,
}

impl RequestLines {
    fn new() -> Self {
        Self {
            state: State::Start,
            length: None,
        }
    }

    /// Takes `bytes` up to and with the first that must be encoded, and tells where that is; or all.
    fn next_to_encode(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match self.state {
                State::Lost => return None,
                State::Body(left) => {
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    at += here;
                    self.state = match left - here as u64 {
                        0 => State::Start,
                        left => State::Body(left),
                    };
                }
                State::RestOfLine => {
                    at += memchr(b'\n', rest)? + 1;
                    self.state = State::HeaderStart;
                }
                State::Path | State::Query => {
                    let special = match self.state {
                        State::Path => rest.iter().position(|&byte| is_special_in_path(byte)),
                        _ => rest.iter().position(|&byte| is_special_in_query(byte)),
                    };
                    at += special?;
                    match bytes[at] {
                        b'?' => self.state = State::Query,
                        b' ' => self.state = State::Version(0),
                        0..b' ' | 0x7f => self.state = State::Lost,
                        _ => return Some(at),
                    }
                    at += 1;
                }
                _ => {
                    self.state = self.step(bytes[at]);
                    at += 1;
                }
            }
        }
        None
    }

    /// Writes out `bytes`, the first of which must be encoded, with all such bytes encoded.
    fn encode_into(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.reserve(bytes.len() + 2);
        let mut rest = bytes;
        let mut next = Some(0);
        while let Some(at) = next {
            let byte = rest[at];
            out.extend_from_slice(&rest[..at]);
            encode(byte, out);
            rest = &rest[at + 1..];
            next = self.next_to_encode(rest);
        }
        out.extend_from_slice(rest);
    }

    /// The state after one byte, for those states in which bytes are few.
    fn step(&mut self, byte: u8) -> State {
        match (self.state, byte) {
            (State::Start, b'\r' | b'\n') => State::Start,
            // CONNECT makes a tunnel of the connection. No other method that starts so is served.
            (State::Start, b'C') => State::Lost,
            (State::Start | State::Method, b'!'..=b'~') => State::Method,
            (State::Method, b' ') => State::TargetStart,
            // A proxy's `http://…` and the `*` of OPTIONS and of HTTP/2 are not for us to mend.
            (State::TargetStart, b'/') => State::Path,
            (State::Version(matched), _) if VERSION[matched] == byte => match matched + 1 {
                all if all == VERSION.len() => State::RestOfLine,
                matched => State::Version(matched),
            },
            (State::HeaderStart, b'\r') => State::HeadCr,
            // A line may end in LF alone (RFC 9112, section 2.2), and actix-web has it so.
            (State::HeaderStart | State::HeadCr, b'\n') => match self.length.take() {
                None | Some(0) => State::Start,
                Some(length) => State::Body(length),
            },
            // What starts with a space would go on with the header before.
            (State::HeaderStart, b'!'..=b'~') => match Framing::starting_with(byte) {
                Some(header) => State::HeaderName(header, 1),
                None => State::RestOfLine,
            },
            (State::HeaderName(header, matched), _) => self.step_name(header, matched, byte),
            (State::Length { value, ended }, _) => self.step_length(value, ended, byte),
            (State::LengthCr(length), b'\n') => self.end_length(length),
            _ => State::Lost,
        }
    }

    fn step_name(&self, header: Framing, matched: usize, byte: u8) -> State {
        let name = header.name_and_colon();
        if !name[matched].eq_ignore_ascii_case(&byte) {
            return match byte {
                b'!'..=b'~' => State::RestOfLine,
                _ => State::Lost,
            };
        }
        if matched + 1 < name.len() {
            return State::HeaderName(header, matched + 1);
        }
        match (header, self.length) {
            (Framing::ContentLength, None) => State::Length {
                value: None,
                ended: false,
            },
            // Chunks, another protocol or two lengths: see the head of this file.
            _ => State::Lost,
        }
    }

    fn step_length(&mut self, value: Option<u64>, ended: bool, byte: u8) -> State {
        match (byte, value) {
            (b' ' | b'\t', _) => State::Length {
                value,
                ended: value.is_some(),
            },
            (b'0'..=b'9', _) if !ended => {
                let value = value.unwrap_or(0).checked_mul(10);
                match value.and_then(|value| value.checked_add(u64::from(byte - b'0'))) {
                    None => State::Lost,
                    value => State::Length { value, ended },
                }
            }
            (b'\r', Some(length)) => State::LengthCr(length),
            (b'\n', Some(length)) => self.end_length(length),
            _ => State::Lost,
        }
    }

    fn end_length(&mut self, length: u64) -> State {
        self.length = Some(length);
        State::HeaderStart
    }
}

/// Whether a byte ends the path or the request, or is refused there by `http::Uri`.
fn is_special_in_path(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | b'<' | b'>' | b'?' | b'`' | 0x7f..)
}

/// Whether a byte ends the query or the request, or is refused there by `http::Uri`.
fn is_special_in_query(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | b'"' | b'<' | b'>' | 0x7f..)
}

#[cfg(test)]
mod tests;
