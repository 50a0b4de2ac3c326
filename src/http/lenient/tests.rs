//! Tests of [`super::Lenient`] against bytes, and against the parser of actix-web.

use super::*;
use std::collections::VecDeque;
use std::future::poll_fn;

use actix_codec::Decoder as _;
use actix_http::h1::{Codec, Message, MessageType};
use actix_web::http::Uri;
use bytes::{Bytes, BytesMut};
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

/// What a careful client would have sent for a target.
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
            // A chunk that looks like two requests.
            "1c;a /? HTTP/1.1\r\nX: y\r\n\r\nGET /?\" HTTP/1.1\r\n\r\n\r\n0\r\n\r\n",
        ])
        .prop_map(|body| body.as_bytes().to_vec()),
    ]
}

/// A request that is as it should be but for its target; and with a mended target.
fn fair() -> impl Strategy<Value = (Bytes, Bytes)> {
    let names = select(vec!["Content-Length", "content-length", "CONTENT-LENGTH"]);
    let others = "(X: [a-z\"<é ]{0,9}\r\n|Cookie: a\r\n|Upgrade-It: a\r\n){0,3}";
    (target(), names, others, body()).prop_map(|(target, name, others, body)| {
        let head = format!("{others}{name}: {}\r\nHost: h\r\n\r\n", body.len());
        let with = |target: &[u8]| {
            Bytes::from([b"PUT ", target, b" HTTP/1.1\r\n", head.as_bytes(), &body].concat())
        };
        (with(&target), with(&mended(&target)))
    })
}

/// A request that may be anything.
fn unfair() -> impl Strategy<Value = Bytes> {
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
    let header = select(vec![
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
    ]);
    let headers = prop::collection::vec(header, 0..3);
    (methods, target(), versions, headers, body()).prop_map(
        |(method, target, version, headers, body)| {
            let headers = headers.concat();
            let line = [method.as_bytes(), b" ", &target, version.as_bytes()].concat();
            let head = [&line, &b"Host: h\r\n"[..], headers.as_bytes(), b"\r\n"].concat();
            Bytes::from([head, body].concat())
        },
    )
}

fn any_request() -> impl Strategy<Value = Bytes> {
    prop_oneof![1 => fair().prop_map(|(plain, _)| plain), 3 => unfair()]
}

/// The stream with the target of its first line mended.
fn first_line_mended(stream: &[u8]) -> Option<BytesMut> {
    let start = stream.iter().position(|byte| !b"\r\n".contains(byte))?;
    let end = start + memchr(b'\n', &stream[start..])?;
    let target = start + memchr(b' ', &stream[start..end])? + 1;
    let behind = target + memchr(b' ', &stream[target..end])?;
    let mended = mended(&stream[target..behind]);
    let parts = [&stream[..target], &mended, &stream[behind..]];
    Some(BytesMut::from(&parts.concat()[..]))
}

/// The requests that actix-web takes from a connection: their targets and
/// bodies. It can be helped with what it takes for a request line.
fn understood(stream: &[u8], helped: bool) -> Vec<(String, Vec<u8>)> {
    let mut codec = Codec::default();
    let mut stream = BytesMut::from(stream);
    let mut requests: Vec<(String, Vec<u8>)> = Vec::new();
    let mut in_body = false;
    loop {
        if helped && !in_body {
            stream = first_line_mended(&stream).unwrap_or(stream);
        }
        match (codec.decode(&mut stream), requests.last_mut()) {
            (Ok(Some(Message::Item(request))), _) => {
                requests.push((request.uri().to_string(), Vec::new()));
                in_body = !matches!(codec.message_type(), MessageType::None);
            }
            (Ok(Some(Message::Chunk(Some(bytes)))), Some((_, body))) => {
                body.extend_from_slice(&bytes);
            }
            (Ok(Some(Message::Chunk(_))), _) => in_body = false,
            (Ok(None) | Err(_), _) => return requests,
        }
    }
}

fn cut(bytes: &[u8], places: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<_> = places.iter().map(|at| at.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let parts = places
        .windows(2)
        .map(|ends| bytes[ends[0]..ends[1]].to_vec());
    parts.collect()
}

proptest! {
    #[test]
    fn fair_requests_are_mended_and_their_bodies_kept(
        requests in prop::collection::vec(fair(), 1..5),
    ) {
        let (plain, mended): (Vec<_>, Vec<_>) = requests.into_iter().unzip();
        prop_assert_eq!(whole(plain.concat()), mended.concat());
    }

    #[test]
    fn it_does_not_matter_how_bytes_arrive(
        requests in prop::collection::vec(any_request(), 1..4),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        buffer in 1_usize..50,
    ) {
        let sent = requests.concat();
        let expected = whole(&sent);
        let single = sent.iter().map(|&byte| vec![byte]);
        prop_assert_eq!(&read(single, buffer), &expected);
        prop_assert_eq!(&read(cut(&sent, &places), buffer), &expected);
    }
}

#[test]
fn no_request_is_smuggled_and_no_body_corrupted() {
    // The parser of actix-web asks the runtime for the time.
    let runtime = actix_web::rt::Runtime::new().expect("a runtime");
    let requests = prop::collection::vec(any_request(), 1..5);
    proptest!(ProptestConfig::with_cases(2000), |(requests in requests)| {
        let sent = requests.concat();
        let (as_sent, read, ideal) = runtime.block_on(async {
            (understood(&sent, false), understood(&whole(&sent), false), understood(&sent, true))
        });
        // It may give up before the ideal does, but it differs in no request.
        prop_assert!(ideal.starts_with(&read), "{:?} {:?}", ideal, read);
        prop_assert!(read.len() >= as_sent.len());
    });
}
