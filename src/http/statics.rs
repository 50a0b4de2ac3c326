//! The files of `static/`, built into the program. Content type, hash and
//! `ETag` of each are worked out once, at the start.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::compression::Forms;
use super::embedded::STATIC_FILES;
use super::response::Response;
use crate::error::{Error, Result};

/// Hexadecimal digits of a hash in a URL, as in Datasette's.
const SHORT: usize = 12;
/// For a URL that names the content: it may be kept for a year.
const FOREVER: &str = "max-age=31536000, immutable, public";
/// For the icon, whose URL never changes.
const ICON_CACHE: &str = "max-age=3600, public";
/// The file behind `/favicon.ico`, first that there is; browsers go by the content type.
const ICONS: [&str; 3] = ["favicon.png", "favicon.ico", "favicon.svg"];

struct Asset {
    body: Bytes,
    content_type: &'static str,
    hash: String,
    etag: String,
    forms: Arc<Forms>,
}

/// The files by name.
pub struct Statics {
    assets: HashMap<&'static str, Asset>,
}

impl Statics {
    /// The files that were there when the program was built.
    pub fn built_in() -> Self {
        Self::of(STATIC_FILES)
    }

    fn of(files: &[(&'static str, &'static [u8])]) -> Self {
        let assets = files
            .iter()
            .map(|&(name, bytes)| (name, Asset::new(name, bytes)))
            .collect();
        Self { assets }
    }

    /// The path of a file with the hash of its content, below `base`, which ends with a slash.
    pub fn url(&self, base: &str, name: &str) -> String {
        match self.assets.get(name) {
            Some(asset) => format!("{base}-/static/{name}?_hash={}", asset.hash),
            None => format!("{base}-/static/{name}"),
        }
    }

    /// The URL of each file, by its name.
    pub fn urls(&self, base: &str) -> HashMap<String, String> {
        let names = self.assets.keys();
        names
            .map(|name| ((*name).to_owned(), self.url(base, name)))
            .collect()
    }

    /// Answers a request for a file.
    ///
    /// # Errors
    /// 404 when there is no such file, 403 for a folder, as Datasette answers.
    pub fn file(
        &self,
        name: &str,
        hash: Option<&str>,
        if_none_match: Option<&str>,
    ) -> Result<Response> {
        let Some(asset) = self.assets.get(name) else {
            return Err(if name.is_empty() || name.ends_with('/') {
                Error::Forbidden("Directory listing is not allowed".into())
            } else {
                Error::NotFound("File not found".into())
            });
        };
        let mut response = asset.answer(if_none_match);
        if hash == Some(&asset.hash) {
            response = response.header("cache-control", FOREVER);
        }
        Ok(response)
    }

    /// Answers a request for the icon.
    ///
    /// # Errors
    /// 404 when the program was built without one.
    pub fn icon(&self, if_none_match: Option<&str>) -> Result<Response> {
        ICONS
            .iter()
            .find_map(|name| self.assets.get(name))
            .map(|asset| {
                asset
                    .answer(if_none_match)
                    .header("cache-control", ICON_CACHE)
            })
            .ok_or_else(|| Error::NotFound("File not found".into()))
    }
}

impl Asset {
    fn new(name: &str, bytes: &'static [u8]) -> Self {
        let digest = Sha256::digest(bytes)
            .iter()
            .fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
        Self {
            body: Bytes::from_static(bytes),
            content_type: content_type(name),
            hash: digest[..SHORT].to_owned(),
            etag: format!("\"{}\"", &digest[..32]),
            forms: Arc::new(Forms::best()),
        }
    }

    fn answer(&self, if_none_match: Option<&str>) -> Response {
        let mut whole = Response::whole(200, self.content_type, self.body.clone())
            .header("etag", self.etag.clone());
        if if_none_match.is_some_and(|header| names_etag(header, &self.etag)) {
            return whole.not_modified();
        }
        whole.forms = Some(self.forms.clone());
        whole
    }
}

/// Whether an `If-None-Match` header names an entity tag. The comparison is the
/// weak one (RFC 9110, 13.1.2); `*` names them all.
pub fn names_etag(header: &str, etag: &str) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let etag = opaque(etag);
    header
        .split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || opaque(tag) == etag)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/vnd.microsoft.icon",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::response::Body;

    fn statics() -> Statics {
        Statics::of(&[("app.css", b"body {}"), ("favicon.png", b"png")])
    }

    fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
        let mut found = response.headers.iter().filter(|(key, _)| *key == name);
        let value = found.next().map(|(_, value)| &**value);
        assert!(found.next().is_none(), "{name} is sent once");
        value
    }

    #[test]
    fn a_url_with_the_hash_of_the_content_may_be_kept_for_a_year() {
        let statics = statics();
        let url = statics.url("/data/", "app.css");
        let (path, hash) = url.split_once("?_hash=").expect("a hash");
        assert_eq!(path, "/data/-/static/app.css");
        assert_eq!(hash.len(), 12);
        let response = statics.file("app.css", Some(hash), None).expect("found");
        assert_eq!(header(&response, "cache-control"), Some(FOREVER));
        let stale = statics
            .file("app.css", Some("000000000000"), None)
            .expect("found");
        assert_eq!(
            header(&stale, "cache-control"),
            None,
            "another content had that hash"
        );
    }

    #[test]
    fn a_client_that_has_the_file_gets_304_without_a_body() {
        let statics = statics();
        let first = statics.file("app.css", None, None).expect("found");
        let etag = header(&first, "etag").expect("an ETag").to_owned();
        for sent in [etag.clone(), format!("\"x\", W/{etag}"), "*".to_owned()] {
            let response = statics.file("app.css", None, Some(&sent)).expect("found");
            assert_eq!(response.status, 304, "{sent}");
            assert!(matches!(response.body, Body::Whole(body) if body.is_empty()));
        }
        assert_eq!(
            statics
                .file("app.css", None, Some("\"x\""))
                .expect("found")
                .status,
            200
        );
    }

    #[test]
    fn an_unknown_file_is_404_and_a_folder_403() {
        let statics = statics();
        for (name, status) in [
            ("nope.css", 404),
            ("../src/main.rs", 404),
            ("", 403),
            ("fonts/", 403),
        ] {
            let error = statics.file(name, None, None).err().expect("no such file");
            assert_eq!(error.status(), status, "{name}");
        }
    }

    #[test]
    fn the_icon_says_what_it_is() {
        let icon = statics().icon(None).expect("an icon");
        assert_eq!(header(&icon, "content-type"), Some("image/png"));
        assert_eq!(header(&icon, "cache-control"), Some(ICON_CACHE));
    }
}
