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
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        out.reserve(bytes.len() + 2);
        let mut rest = bytes;
        let mut next = Some(0);
        while let Some(at) = next {
            let byte = rest[at];
            out.extend_from_slice(&rest[..at]);
            out.extend([
                b'%',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]);
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
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::future::poll_fn;

    use actix_codec::Decoder as _;
    use actix_http::h1::{Codec, Message};
    use actix_web::http::Uri;
    use bytes::BytesMut;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// A socket that has these reads.
    struct Reads(VecDeque<Vec<u8>>);

    impl AsyncRead for Reads {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if let Some(mut read) = self.0.pop_front() {
                let rest = read.split_off(read.len().min(buf.remaining()));
                buf.put_slice(&read);
                if !rest.is_empty() {
                    self.0.push_front(rest);
                }
            }
            Poll::Ready(Ok(()))
        }
    }

    /// What comes out of a connection when it is read with a buffer of that size.
    fn read(reads: impl IntoIterator<Item = Vec<u8>>, buffer: usize) -> Vec<u8> {
        let reads = reads.into_iter().filter(|read| !read.is_empty()).collect();
        let mut lenient = Lenient::new(Reads(reads));
        let mut all = Vec::new();
        let mut buffer = vec![0; buffer];
        futures_util::FutureExt::now_or_never(async {
            loop {
                let mut buf = ReadBuf::new(&mut buffer);
                let read = |cx: &mut Context<'_>| Pin::new(&mut lenient).poll_read(cx, &mut buf);
                poll_fn(read).await.expect("a read");
                if buf.filled().is_empty() {
                    return;
                }
                all.extend_from_slice(buf.filled());
            }
        })
        .expect("reads that never wait");
        all
    }

    fn whole(input: impl AsRef<[u8]>) -> Vec<u8> {
        read([input.as_ref().to_vec()], 8192)
    }

    fn assert_becomes(input: &str, expected: &str) {
        let output = whole(input);
        assert_eq!(String::from_utf8_lossy(&output), expected);
    }

    #[track_caller]
    fn assert_untouched(input: &str) {
        assert_becomes(input, input);
    }

    #[test]
    fn only_what_the_parser_of_uris_refuses_is_special() {
        for byte in (b'!'..=b'~').filter(|byte| !b"?#".contains(byte)) {
            let byte_in = |place: &str| Uri::try_from(format!("{place}{}", char::from(byte)));
            let what = char::from(byte);
            assert_eq!(byte_in("/a").is_err(), is_special_in_path(byte), "{what}");
            let refused = byte_in("/a?").is_err();
            assert_eq!(refused, is_special_in_query(byte), "{what}");
        }
    }

    #[test]
    fn a_target_is_encoded_and_its_headers_are_not() {
        assert_becomes(
            "GET /a<b`\"{c}|^\\?_through={\"t\":`x`}&w=<4>&é HTTP/1.1\r\nHost: \"h\"\r\nA: <é>\r\n\r\n",
            "GET /a%3Cb%60\"{c}|^\\?_through={%22t%22:`x`}&w=%3C4%3E&%C3%A9 HTTP/1.1\r\nHost: \"h\"\r\nA: <é>\r\n\r\n",
        );
    }

    #[test]
    fn all_requests_of_a_connection_are_encoded() {
        let plain = "GET /?\" HTTP/1.1\r\nHost: h\r\n\r\n";
        let mended = "GET /?%22 HTTP/1.1\r\nHost: h\r\n\r\n";
        assert_becomes(&plain.repeat(3), &mended.repeat(3));
        let old = "\r\n\r\nHEAD /?\" HTTP/1.0\n\n";
        let mended_old = "\r\n\r\nHEAD /?%22 HTTP/1.0\n\n";
        assert_becomes(&format!("{old}{plain}"), &format!("{mended_old}{mended}"));
    }

    #[test]
    fn a_body_is_not_encoded_and_what_follows_it_is() {
        let body = "GET /?\"<>é HTTP/1.1\r\n\r\n";
        for length in [
            format!("Content-Length: {}\r\n", body.len()),
            format!("content-length:{}\n", body.len()),
            format!("X: y\r\nCONTENT-LENGTH: \t 000{} \t \r\nX:\r\n", body.len()),
        ] {
            assert_becomes(
                &format!("POST /?\" HTTP/1.1\r\n{length}\r\n{body}GET /?\" HTTP/1.1\r\n\r\n"),
                &format!("POST /?%22 HTTP/1.1\r\n{length}\r\n{body}GET /?%22 HTTP/1.1\r\n\r\n"),
            );
        }
    }

    #[test]
    fn headers_that_only_resemble_those_that_frame_are_skipped() {
        for header in [
            "Content-Length-Of-What: 5",
            "Content-Type: 5",
            "C: 5",
            "TE: trailers",
            "Transfer: chunked",
            "Upgrade-Insecure-Requests: 1",
            "User-Agent: \"<é>\"",
        ] {
            let head = format!(" HTTP/1.1\r\n{header}\r\n\r\n");
            assert_becomes(
                &format!("GET /?\"{head}").repeat(2),
                &format!("GET /?%22{head}").repeat(2),
            );
        }
    }

    #[test]
    fn after_a_head_with_more_than_one_meaning_nothing_is_encoded() {
        for header in [
            "Transfer-Encoding: chunked",
            "transfer-encoding:identity",
            "Upgrade: websocket",
            "Content-Length: 0\r\nContent-Length: 0",
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 1",
            "Content-Length: +0",
            "Content-Length: -1",
            "Content-Length: 0x0",
            "Content-Length: 0, 0",
            "Content-Length: 0 0",
            "Content-Length:",
            "Content-Length: 18446744073709551616",
            "Content-Length : 0",
            "Content-Length",
            "X: y\r\n Content-Length: 0",
            " X: y",
        ] {
            let tail = format!(" HTTP/1.1\r\n{header}\r\n\r\nGET /?\" HTTP/1.1\r\n\r\n");
            assert_becomes(&format!("GET /?\"{tail}"), &format!("GET /?%22{tail}"));
        }
    }

    #[test]
    fn what_is_no_request_for_a_page_passes_untouched() {
        assert_untouched("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET /?\" HTTP/1.1\r\n\r\n");
        assert_untouched("CONNECT /?\" HTTP/1.1\r\n\r\nGET /?\" HTTP/1.1\r\n\r\n");
        assert_untouched("GET http://h/?\" HTTP/1.1\r\n\r\n");
        assert_untouched("GET  /?\" HTTP/1.1\r\n\r\n");
        assert_untouched("\"GET\r /?\" HTTP/1.1\r\n\r\n");
        assert_untouched("\u{16}\u{3}\u{1} /?\" HTTP/1.1\r\n\r\n");
        assert_untouched("GET /a b?\" HTTP/1.1\r\n\r\nGET /?\" HTTP/1.1\r\n\r\n");
        assert_untouched("GET /a\r\nGET /?\" HTTP/1.1\r\n\r\n");
        assert_untouched("GET /a HTTP/2.0\r\n\r\nGET /?\" HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn a_line_takes_no_memory_however_long_it_is() {
        let mut lines = RequestLines::new();
        assert_eq!(lines.next_to_encode(b"GET /?"), None);
        for _ in 0..1000 {
            assert_eq!(lines.next_to_encode(&[b'a'; 1000]), None);
        }
        assert_eq!(lines.next_to_encode(b"a\""), Some(1));

        // What does not fit is at most three times a read, and is given back.
        let mut lenient = Lenient::new(Reads([b"GET /?\"\"\"".to_vec()].into()));
        let mut buffer = [0; 9];
        let mut sizes = Vec::new();
        for _ in 0..3 {
            let mut buf = ReadBuf::new(&mut buffer);
            let mut cx = Context::from_waker(std::task::Waker::noop());
            assert!(
                Pin::new(&mut lenient)
                    .poll_read(&mut cx, &mut buf)
                    .is_ready()
            );
            sizes.push((buf.filled().len(), lenient.overflow.capacity() > 0));
        }
        assert_eq!(sizes, [(9, true), (6, false), (0, false)]);
    }

    /// What a careful client would have sent.
    fn mended(target: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut refused: &[u8] = b"<>`";
        for &byte in target {
            if byte == b'?' {
                refused = b"<>\"";
            }
            if refused.contains(&byte) || byte > 0x7f {
                out.extend_from_slice(format!("%{byte:02X}").as_bytes());
            } else {
                out.push(byte);
            }
        }
        out
    }

    fn target() -> impl Strategy<Value = Vec<u8>> {
        "/[a-z\"<>`é{}|%#?]{0,12}".prop_map(String::into_bytes)
    }

    fn body() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            Just(Vec::new()),
            prop::collection::vec(any::<u8>(), 0..40),
            select(vec![
                "GET /?\"<> HTTP/1.1\r\nHost: h\r\n\r\n",
                "\r\nGET /?\"<> HTTP/1.1\r\nHost: h\r\n\r\n",
                "5\r\n\"<>é\r\n0\r\n\r\n",
                "0\r\n\r\n",
                "16\r\nGET /?\" HTTP/1.1\r\nH:\n\n\r\n0\r\nX: \"\r\n\r\n",
            ])
            .prop_map(|body| body.as_bytes().to_vec()),
        ]
    }

    /// A request that is as it should be but for its target; and with a mended target.
    fn fair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let names = select(vec!["Content-Length", "content-length", "CONTENT-LENGTH"]);
        let others = "(X: [a-z\"<é ]{0,9}\r\n|Cookie: a\r\n|Upgrade-It: a\r\n){0,3}";
        (target(), names, others, body()).prop_map(|(target, name, others, body)| {
            let head = format!("{others}{name}: {}\r\nHost: h\r\n\r\n", body.len());
            let with = |target: &[u8]| {
                [b"PUT ", target, b" HTTP/1.1\r\n", head.as_bytes(), &body].concat()
            };
            (with(&target), with(&mended(&target)))
        })
    }

    /// A request that may be anything; and with a mended target.
    fn unfair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let methods = select(vec![
            "GET", "POST", "CONNECT", "OPTIONS", "COPY", "", "\r\nGET",
        ]);
        let versions = select(vec![
            " HTTP/1.1\r\n",
            " HTTP/1.1\r\n",
            " HTTP/1.1\n",
            " HTTP/1.0\r\n",
            " HTTP/2.0\r\n",
            "\r\n",
        ]);
        let headers = prop::collection::vec(
            select(vec![
                "Content-Length: 0\r\n",
                "Content-Length: 5\r\n",
                "Content-Length: 30\r\n",
                "content-LENGTH:\t5 \n",
                "Content-Length: +5\r\n",
                "Content-Length: 5, 5\r\n",
                "Content-Length: 05\r\n",
                "Content-Length : 5\r\n",
                "Content-Length:\r\n",
                "Content-Length: 5\r\r\n",
                "Content_Length: 5\r\n",
                "Transfer-Encoding: chunked\r\n",
                "Transfer-Encoding:Chunked\n",
                "Transfer-Encoding: identity\r\n",
                "Transfer-Encoding: gzip, chunked\r\n",
                "Upgrade: websocket\r\nConnection: upgrade\r\n",
                "Connection: close\r\n",
                "Expect: 100-continue\r\n",
                "X: y\r\n folded: z\r\n",
                "X: \"<é>\r\n",
                "X\r\n",
                "\r\n",
            ]),
            0..3,
        );
        (methods, target(), versions, headers, body()).prop_map(
            |(method, target, version, headers, body)| {
                let headers = headers.concat();
                let with = |target: &[u8]| {
                    let line = [method.as_bytes(), b" ", target, version.as_bytes()];
                    [
                        &line.concat(),
                        b"Host: h\r\n",
                        headers.as_bytes(),
                        b"\r\n",
                        &body,
                    ]
                    .concat()
                };
                (with(&target), with(&mended(&target)))
            },
        )
    }

    /// The requests that actix-web takes from a connection: their targets and bodies.
    fn understood(stream: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut codec = Codec::default();
        let mut stream = BytesMut::from(stream);
        let mut requests: Vec<(String, Vec<u8>)> = Vec::new();
        while let Ok(Some(message)) = codec.decode(&mut stream) {
            match (message, requests.last_mut()) {
                (Message::Item(request), _) => {
                    requests.push((request.uri().to_string(), Vec::new()));
                }
                (Message::Chunk(Some(bytes)), Some((_, body))) => body.extend_from_slice(&bytes),
                _ => {}
            }
        }
        requests
    }

    fn cut(mut bytes: Vec<u8>, places: &[prop::sample::Index]) -> Vec<Vec<u8>> {
        let mut places: Vec<_> = places.iter().map(|at| at.index(bytes.len() + 1)).collect();
        places.sort_unstable();
        let mut parts = VecDeque::new();
        for at in places.into_iter().rev() {
            parts.push_front(bytes.split_off(at));
        }
        parts.push_front(bytes);
        parts.into()
    }

    fn concat(requests: Vec<(Vec<u8>, Vec<u8>)>) -> (Vec<u8>, Vec<u8>) {
        let (sent, mended): (Vec<_>, Vec<_>) = requests.into_iter().unzip();
        (sent.concat(), mended.concat())
    }

    proptest! {
        #[test]
        fn fair_requests_are_mended_and_their_bodies_kept(
            requests in prop::collection::vec(fair(), 1..5),
        ) {
            let (sent, mended) = concat(requests);
            prop_assert_eq!(whole(sent), mended);
        }

        #[test]
        fn it_does_not_matter_how_bytes_arrive(
            requests in prop::collection::vec(prop_oneof![fair(), unfair()], 1..4),
            places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            buffer in 1_usize..50,
        ) {
            let (sent, _) = concat(requests);
            let expected = whole(&sent);
            let single = sent.iter().map(|&byte| vec![byte]);
            prop_assert_eq!(&read(single, buffer), &expected);
            prop_assert_eq!(&read(cut(sent, &places), buffer), &expected);
        }

        // The requests and bodies that actix-web gets are those of a careful client.
        #[test]
        fn no_request_is_smuggled_and_no_body_corrupted(
            requests in prop::collection::vec(prop_oneof![1 => fair(), 3 => unfair()], 1..5),
        ) {
            let (sent, mended) = concat(requests);
            let lenient = understood(&whole(&sent));
            let careful = understood(&mended);
            for ((target, body), (careful_target, careful_body)) in lenient.iter().zip(&careful) {
                prop_assert_eq!(target, careful_target);
                // The last may be one that is refused in the middle of its body.
                prop_assert!(body.starts_with(careful_body) || careful_body.starts_with(body));
            }
            prop_assert!(lenient.len() >= understood(&sent).len());
        }
    }
}
