//! Answers in text are sent compressed to clients that take it.
//!
//! zstd comes before brotli and gzip where a client takes them alike: it costs a
//! fifth of gzip's time at the same size. The compressed forms of what is kept, and of the
//! program's own files, are made once and kept with it.

use std::io::{self, Write as _};
use std::sync::OnceLock;

use actix_web::http::header::ContentEncoding;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::incoming::Terms;
use super::response::{Body, Response};

/// Less than this fits into one packet anyway.
const SMALLEST: usize = 1024;
/// Bodies from here on are compressed on another thread than the one that speaks HTTP.
const LARGE: usize = 32 * 1024;
/// Bytes before brotli compresses.
const BUFFER: usize = 4096;
/// Brotli's window, as a power of two: 4 MiB.
const WINDOW: u32 = 22;

/// A way to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `zstd`
    Zstd,
    /// `br`
    Brotli,
    /// `gzip`
    Gzip,
}

/// How hard to try.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effort {
    /// For what is made for a request: a page takes about half a millisecond.
    #[default]
    Fast,
    /// For what is made once and sent as long as the program runs.
    Best,
}

impl Encoding {
    /// The best first.
    const ALL: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    /// The name in headers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// What an `Accept-Encoding` header wants most; `None` for nothing compressed.
    pub fn wanted(header: &str) -> Option<Self> {
        let weight_of = |name: &str| {
            let mut parts = header.split(',').map(|item| item.split(';'));
            parts.find_map(|mut item| {
                let is_it = item.next()?.trim().eq_ignore_ascii_case(name);
                let weight = item.find_map(|part| {
                    let (key, q) = part.split_once('=')?;
                    key.trim().eq_ignore_ascii_case("q").then_some(q)
                });
                is_it.then(|| weight.map_or(1.0, |q| q.trim().parse::<f32>().unwrap_or(0.0)))
            })
        };
        let any = weight_of("*").unwrap_or(0.0);
        let weight = |encoding: &Self| weight_of(encoding.name()).unwrap_or(any);
        let identity = weight_of("identity").unwrap_or(0.0);
        let mut best = None;
        for encoding in &Self::ALL {
            let weight = weight(encoding);
            if weight > 0.0 && weight >= identity && best.is_none_or(|(most, _)| weight > most) {
                best = Some((weight, *encoding));
            }
        }
        best.map(|(_, encoding)| encoding)
    }

    /// The same for actix's encoder of streams.
    pub fn of_stream(self) -> ContentEncoding {
        match self {
            Self::Zstd => ContentEncoding::Zstd,
            Self::Brotli => ContentEncoding::Brotli,
            Self::Gzip => ContentEncoding::Gzip,
        }
    }

    fn compress(self, bytes: &[u8], effort: Effort) -> io::Result<Bytes> {
        let is_best = effort == Effort::Best;
        let compressed = match self {
            Self::Zstd => zstd::bulk::compress(bytes, if is_best { 19 } else { 3 })?,
            Self::Brotli => {
                let quality = if is_best { 11 } else { 4 };
                let out = Vec::with_capacity(bytes.len() / 4);
                let mut writer = brotli::CompressorWriter::new(out, BUFFER, quality, WINDOW);
                writer.write_all(bytes)?;
                writer.into_inner()
            }
            Self::Gzip => {
                let level = Compression::new(if is_best { 9 } else { 5 });
                let mut writer = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
                writer.write_all(bytes)?;
                writer.finish()?
            }
        };
        Ok(compressed.into())
    }
}

/// The compressed forms of one body, each made when it is first wanted.
#[derive(Debug, Default)]
pub struct Forms {
    made: [OnceLock<Bytes>; Encoding::ALL.len()],
    effort: Effort,
}

impl Forms {
    /// For a body that is worth some effort.
    pub fn best() -> Self {
        Self {
            effort: Effort::Best,
            ..Self::default()
        }
    }

    /// Bytes that all forms of a body take together at the most: larger ones are not kept.
    pub fn room(length: usize) -> usize {
        length / 2
    }

    fn get(&self, encoding: Encoding) -> Option<&Bytes> {
        self.made[encoding as usize].get()
    }

    fn put(&self, encoding: Encoding, form: &Bytes, length: usize) {
        let share = Self::room(length) / self.made.len();
        if self.effort == Effort::Best || form.len() <= share {
            // Another request may have made the same.
            let _ = self.made[encoding as usize].set(Bytes::copy_from_slice(form));
        }
    }
}

/// Whether compressing a body of this type makes it smaller.
fn is_text(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    kind.starts_with("text/")
        || matches!(
            kind,
            "application/json" | "application/x-ndjson" | "image/svg+xml"
        )
}

/// Compresses the body of an answer if its client takes that and it is worth it.
pub async fn apply(terms: &Terms<'_>, mut response: Response) -> Response {
    let is_small = matches!(&response.body, Body::Whole(bytes) if bytes.len() < SMALLEST);
    if is_small || matches!(response.body, Body::Sized { .. }) {
        return response;
    }
    let header = |name: &str| {
        let mut headers = response.headers.iter();
        headers.find(|(key, _)| *key == name).map(|(_, v)| &**v)
    };
    if !header("content-type").is_some_and(is_text) || header("content-encoding").is_some() {
        return response;
    }
    let Some(encoding) = terms.accept_encoding.and_then(Encoding::wanted) else {
        return response;
    };
    let Body::Whole(bytes) = &response.body else {
        response.stream_encoding = Some(encoding);
        return response;
    };
    let kept = response
        .forms
        .as_ref()
        .and_then(|forms| forms.get(encoding));
    let compressed = if let Some(form) = kept {
        form.clone()
    } else {
        let effort = response.forms.as_ref().map_or(Effort::Fast, |f| f.effort);
        let Some(form) = compressed(encoding, bytes.clone(), effort).await else {
            return response;
        };
        if let Some(forms) = &response.forms {
            forms.put(encoding, &form, bytes.len());
        }
        form
    };
    response.body = Body::Whole(compressed);
    for (name, value) in &mut response.headers {
        // A strong tag stands for these bytes in no other form (RFC 9110, 8.8.3).
        if *name == "etag" && value.starts_with('"') {
            *value = format!("W/{value}").into();
        }
    }
    response.header("content-encoding", encoding.name())
}

/// `None` if it can't be done; then the body is sent as it is.
async fn compressed(encoding: Encoding, bytes: Bytes, effort: Effort) -> Option<Bytes> {
    let result = if bytes.len() < LARGE && effort == Effort::Fast {
        encoding.compress(&bytes, effort)
    } else {
        let work = move || encoding.compress(&bytes, effort);
        let done = actix_web::rt::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(io::Error::other(error)))
    };
    result
        .inspect_err(|error| tracing::error!("an answer could not be compressed: {error}"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn the_client_chooses_and_zstd_is_the_first_among_equals() {
        use Encoding::{Brotli, Gzip, Zstd};
        for (header, expected) in [
            ("gzip, deflate, br, zstd", Some(Zstd)),
            ("gzip, deflate, br", Some(Brotli)),
            ("gzip", Some(Gzip)),
            ("GZIP;q=0.5", Some(Gzip)),
            ("gzip ; Q=0", None),
            ("br;q=0.2, gzip;q=0.8", Some(Gzip)),
            ("*", Some(Zstd)),
            ("*;q=0.1, zstd;q=0", Some(Brotli)),
            ("gzip;q=0", None),
            ("gzip;q=x", None),
            ("identity, gzip;q=0.5", None),
            ("deflate", None),
            ("", None),
            ("gzipped", None),
        ] {
            assert_eq!(Encoding::wanted(header), expected, "{header}");
        }
    }

    #[test]
    fn what_is_compressed_comes_back_whole() {
        let text = "one row, two rows, three rows; ".repeat(2000);
        for effort in [Effort::Fast, Effort::Best] {
            for encoding in Encoding::ALL {
                let bytes = encoding.compress(text.as_bytes(), effort).unwrap();
                assert!(bytes.len() < text.len() / 10);
                let mut back = String::new();
                match encoding {
                    Encoding::Zstd => zstd::Decoder::new(&*bytes)
                        .unwrap()
                        .read_to_string(&mut back),
                    Encoding::Brotli => {
                        brotli::Decompressor::new(&*bytes, BUFFER).read_to_string(&mut back)
                    }
                    Encoding::Gzip => {
                        flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut back)
                    }
                }
                .unwrap();
                assert_eq!(back, text, "{encoding:?}");
            }
        }
    }

    #[test]
    fn forms_are_kept_within_half_of_the_body() {
        let forms = Forms::default();
        forms.put(Encoding::Gzip, &Bytes::from(vec![0; 200]), 900);
        assert!(forms.get(Encoding::Gzip).is_none());
        forms.put(Encoding::Gzip, &Bytes::from(vec![0; 150]), 900);
        assert_eq!(forms.get(Encoding::Gzip).map(Bytes::len), Some(150));
        assert!(forms.get(Encoding::Zstd).is_none());
    }

    #[test]
    fn text_is_compressed_and_pictures_are_not() {
        for text in [
            "text/html; charset=utf-8",
            "application/json; charset=utf-8",
            "image/svg+xml",
        ] {
            assert!(is_text(text), "{text}");
        }
        for other in [
            "image/png",
            "application/binary",
            "application/octet-stream",
        ] {
            assert!(!is_text(other), "{other}");
        }
    }
}
