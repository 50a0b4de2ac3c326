//! `--static MOUNT:FOLDER`: the files of a folder at `/MOUNT/…`.
//!
//! A name is taken apart and put together again of plain parts, and the file that it
//! leads to must lie in the folder when all links are followed. Hidden files are not served, and
//! folders are not listed. A file may change while it is served: its `ETag` is made of its
//! times, size and number, which a new content changes.

mod range;

use std::fmt::Write as _;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use actix_web::http::header::{self, HeaderMap};
use bytes::Bytes;
use futures_util::stream;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use self::range::Wanted;
use super::download::chunks;
use super::response::{Body, BodyStream, Response, TEXT};
use super::statics::names_etag;
use crate::error::{Error, Result};
use crate::text::hex;

/// Texts up to so many bytes are read at once.
const SMALL: u64 = 256 << 10;
/// Browsers may keep a file, and ask each time whether it is still the same.
const ASK: &str = "no-cache";

/// A folder whose files are served.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    /// `/css/`
    prefix: String,
    /// With all links followed.
    folder: PathBuf,
}

/// All of them, the longest prefix first.
#[derive(Debug, Default)]
pub struct Mounts(Vec<Mount>);

/// A file in a mount: which, and its path as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    mount: usize,
    rest: String,
}

impl Mounts {
    /// The folders of the command line.
    ///
    /// # Errors
    /// One line on a folder that cannot be opened, or a mount without a name.
    pub fn new(statics: &[(String, PathBuf)]) -> Result<Self, String> {
        let mut mounts = Vec::with_capacity(statics.len());
        for (name, folder) in statics {
            let shown = folder.display();
            let name = name.trim_matches('/');
            if name.is_empty() {
                return Err(format!("--static {shown}: the mount has no name"));
            }
            let folder = folder
                .canonicalize()
                .map_err(|error| format!("--static {name}: cannot open {shown}: {error}"))?;
            if !folder.is_dir() {
                return Err(format!("--static {name}: {shown} is no folder"));
            }
            mounts.push(Mount {
                prefix: format!("/{name}/"),
                folder,
            });
        }
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.prefix.len()));
        Ok(Self(mounts))
    }

    /// The mount of a path of this server, which goes before all pages.
    pub fn find(&self, path: &str) -> Option<Mounted> {
        self.0.iter().enumerate().find_map(|(mount, known)| {
            path.strip_prefix(&known.prefix).map(|rest| Mounted {
                mount,
                rest: rest.to_owned(),
            })
        })
    }

    /// Answers a request for a file.
    ///
    /// # Errors
    /// 404 when there is none, 403 for a folder, 416 is an answer.
    pub async fn show(
        &self,
        file: &Mounted,
        is_head: bool,
        headers: &HeaderMap,
    ) -> Result<Response> {
        let mount = self.0.get(file.mount).ok_or_else(not_found)?;
        let path = plain_path(&file.rest).ok_or_else(not_found)?;
        let folder = mount.folder.clone();
        let opened = spawn_blocking(move || open(&folder, &path));
        let opened = opened
            .await
            .map_err(|error| Error::Internal(format!("opening a file: {error}")))??;
        Ok(opened.answer(is_head, headers))
    }
}

fn not_found() -> Error {
    Error::NotFound("File not found".to_owned())
}

/// The path that a client names, in parts that are plain names: no `..`, nothing hidden, nothing
/// that an operating system takes for more than a name.
fn plain_path(rest: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    let mut segments = rest.split('/').peekable();
    while let Some(segment) = segments.next() {
        // A slash at the end asks for a folder.
        if segment.is_empty() && segments.peek().is_none() {
            break;
        }
        let name = percent_decode_str(segment).decode_utf8().ok()?;
        let is_drive = cfg!(windows) && name.contains(':');
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) || is_drive
        {
            return None;
        }
        path.push(name.as_ref());
    }
    Some(path)
}

/// An open file and what is known of it.
struct Opened {
    file: fs::File,
    /// All of it, of a small text: it may be compressed on its way.
    text: Option<Bytes>,
    length: u64,
    modified: SystemTime,
    etag: String,
    media_type: String,
}

fn open(folder: &Path, path: &Path) -> Result<Opened> {
    let real = folder.join(path).canonicalize().map_err(|_| not_found())?;
    if !real.starts_with(folder) {
        return Err(not_found());
    }
    // Before it is opened: opening a pipe would wait for somebody to write.
    let kind = fs::metadata(&real).map_err(|_| not_found())?;
    if kind.is_dir() {
        return Err(Error::Forbidden("Directory listing is not allowed".into()));
    }
    if !kind.is_file() {
        return Err(not_found());
    }
    // One that may not be read is, for a visitor, not there.
    let file = fs::File::open(&real).map_err(|_| not_found())?;
    let metadata = file
        .metadata()
        .map_err(|error| Error::Internal(format!("{}: {error}", real.display())))?;
    let media_type = media_type(path);
    let is_small_text = metadata.len() <= SMALL && media_type.starts_with("text/");
    let text = if is_small_text {
        let mut bytes = Vec::new();
        (&file)
            .take(SMALL)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::Internal(format!("{}: {error}", real.display())))?;
        // Unless it is being written at this moment.
        Some(Bytes::from(bytes)).filter(|bytes| bytes.len() as u64 == metadata.len())
    } else {
        None
    };
    Ok(Opened {
        text,
        length: metadata.len(),
        modified: metadata.modified().unwrap_or(UNIX_EPOCH),
        etag: etag(&metadata),
        media_type,
        file,
    })
}

impl Opened {
    fn answer(self, is_head: bool, headers: &HeaderMap) -> Response {
        let header = |name: header::HeaderName| headers.get(name)?.to_str().ok();
        let last_modified = httpdate::fmt_http_date(self.modified);
        let whole = Response::whole(200, TEXT, Bytes::new());
        let mut response = Response {
            headers: Vec::new(),
            ..whole
        }
        .header("content-type", self.media_type)
        .header("etag", self.etag.clone())
        .header("last-modified", last_modified.clone())
        .header("cache-control", ASK)
        .header("accept-ranges", "bytes");
        // RFC 9110, 13.2.2: the date counts only where there is no tag.
        let is_known = match header(header::IF_NONE_MATCH) {
            Some(tags) => names_etag(tags, &self.etag),
            None => header(header::IF_MODIFIED_SINCE)
                .and_then(|date| httpdate::parse_http_date(date).ok())
                .is_some_and(|date| in_whole_seconds(self.modified) <= date),
        };
        if is_known {
            return response.not_modified();
        }
        let same = header(header::IF_RANGE)
            .is_none_or(|known| known == self.etag || known == last_modified);
        let wanted = header(header::RANGE).filter(|_| same);
        let (start, length) = match range::of(wanted, self.length) {
            Wanted::All => {
                if let Some(text) = self.text {
                    response.body = Body::Whole(text);
                    return response;
                }
                (0, self.length)
            }
            Wanted::Part(start, end) => {
                let length = self.length;
                response.status = 206;
                response =
                    response.header("content-range", format!("bytes {start}-{end}/{length}"));
                (start, end - start + 1)
            }
            Wanted::Nothing => {
                response.status = 416;
                return response.header("content-range", format!("bytes */{}", self.length));
            }
        };
        let pieces: BodyStream = if is_head {
            Box::pin(stream::empty())
        } else {
            Box::pin(chunks(self.file, start, length))
        };
        response.body = Body::Sized { length, pieces };
        response
    }
}

/// Of everything that a new content changes: a file that is written in place has another
/// time, one that is moved there another number.
fn etag(metadata: &Metadata) -> String {
    let mut known = format!("{} {:?}", metadata.len(), metadata.modified().ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let _ = write!(
            known,
            " {} {} {}.{}",
            metadata.dev(),
            metadata.ino(),
            metadata.ctime(),
            metadata.ctime_nsec()
        );
    }
    format!("\"{}\"", &hex(&Sha256::digest(known.as_bytes()))[..32])
}

/// HTTP's dates have no parts of a second.
fn in_whole_seconds(time: SystemTime) -> SystemTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_EPOCH + std::time::Duration::from_secs(since.as_secs())
}

/// By the ending of the name. Text is UTF-8; a file without an ending is shown as text, as
/// `LICENSE` and `README` are, and an unknown ending is bytes.
fn media_type(path: &Path) -> String {
    if path.extension().is_none() {
        return TEXT.to_owned();
    }
    let guess = mime_guess::from_path(path).first_or_octet_stream();
    let is_text = guess.type_() == mime_guess::mime::TEXT
        || matches!(
            guess.essence_str(),
            "application/javascript" | "application/json"
        );
    if is_text && guess.get_param("charset").is_none() {
        format!("{guess}; charset=utf-8")
    } else {
        guess.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_make_a_path() {
        for (rest, path) in [
            ("a.css", Some("a.css")),
            ("a/b%20c.js", Some("a/b c.js")),
            ("a/", Some("a")),
            ("", Some("")),
            ("..", None),
            ("../a", None),
            ("a/../b", None),
            ("%2e%2e/a", None),
            ("..%2fa", None),
            ("a%2fb", None),
            ("a%5cb", None),
            ("a\\b", None),
            ("a%00", None),
            (".git/config", None),
            ("a/.env", None),
            ("/etc/passwd", None),
            ("a//b", None),
            ("%ff", None),
        ] {
            assert_eq!(plain_path(rest), path.map(PathBuf::from), "{rest}");
        }
    }

    #[test]
    fn the_ending_tells_the_media_type() {
        for (name, media_type_of) in [
            ("a.css", "text/css; charset=utf-8"),
            ("a.js", "text/javascript; charset=utf-8"),
            ("a.json", "application/json; charset=utf-8"),
            ("a.svg", "image/svg+xml"),
            ("a.png", "image/png"),
            ("a.woff2", "font/woff2"),
            ("LICENSE", "text/plain; charset=utf-8"),
            ("a.unheard", "application/octet-stream"),
        ] {
            assert_eq!(media_type(Path::new(name)), media_type_of, "{name}");
        }
    }

    #[test]
    fn the_longest_mount_goes_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let statics = [
            ("a".to_owned(), path.clone()),
            ("/a/b/".to_owned(), path.clone()),
        ];
        let mounts = Mounts::new(&statics).expect("there");
        let rest = |path: &str| mounts.find(path).map(|file| file.rest);
        assert_eq!(rest("/a/b/c.css").as_deref(), Some("c.css"));
        assert_eq!(rest("/a/c.css").as_deref(), Some("c.css"));
        assert_eq!(rest("/a"), None);
        assert_eq!(rest("/ab/c.css"), None);
        for (name, folder) in [("", path.clone()), ("x", path.join("gone"))] {
            Mounts::new(&[(name.to_owned(), folder)]).expect_err("no mount");
        }
    }
}
