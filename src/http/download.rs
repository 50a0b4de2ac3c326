//! `/{database}.db`: the file of an immutable database.
//!
//! The file is read in chunks as the client takes them, on tokio's threads for
//! blocking work: a slow client holds no thread of the pool that runs SQL, and
//! no more memory than a chunk.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use tokio::task::spawn_blocking;

use super::app::App;
use super::incoming::Terms;
use super::ranges::{Part, part};
use super::request::Request;
use super::response::{Body, BodyStream, Response, TEXT};
use super::statics::names_etag;
use crate::db::Database;
use crate::error::{Error, Result};
use crate::text::query;

/// Bytes that are read at once.
const CHUNK: u64 = 256 << 10;

/// Answers a request for the file of a database.
pub async fn show(
    app: &Arc<App>,
    request: &Request,
    database: &str,
    terms: &Terms<'_>,
) -> Result<Response> {
    let database = app
        .registry
        .get(database)
        .ok_or_else(|| Error::NotFound("Invalid database".to_owned()))?;
    if database.is_memory {
        let reason = "A database in memory has no file to download";
        return Err(Error::NotFound(reason.to_owned()));
    }
    if database.is_mutable || !app.config.settings.allow_download {
        let reason = "This database may not be downloaded";
        return Err(Error::Forbidden(reason.to_owned()));
    }
    let opened = Arc::clone(database);
    let (etag, file, length) = spawn_blocking(move || open(&opened))
        .await
        .map_err(|error| Error::Internal(format!("opening a file: {error}")))??;
    if terms
        .if_none_match
        .is_some_and(|header| names_etag(header, &etag))
    {
        return Ok(Response::whole(200, TEXT, Bytes::new())
            .header("etag", etag)
            .not_modified());
    }
    let name = database.path.as_deref().and_then(Path::file_name);
    let name = name.unwrap_or_default().to_string_lossy();
    let is_head = request.method == "HEAD";
    // Ranges are of what GET would give (RFC 9110, 14.2).
    let part = match terms.range.filter(|_| !is_head) {
        None => Part::Whole,
        Some(range) => part(range, terms.if_range, &etag, length),
    };
    let (status, first, count) = match part {
        Part::Whole => (200, 0, length),
        Part::Range { first, last } => (206, first, last - first + 1),
        Part::Unsatisfiable => return Ok(unsatisfiable(length)),
    };
    let pieces: BodyStream = if is_head {
        Box::pin(stream::empty())
    } else {
        Box::pin(chunks(file, first, count))
    };
    let mut response = Response::whole(status, "application/octet-stream", Bytes::new())
        .header("content-disposition", attachment(&name))
        .header("accept-ranges", "bytes")
        .header("etag", etag);
    if let Part::Range { first, last } = part {
        response = response.header("content-range", format!("bytes {first}-{last}/{length}"));
    }
    response.body = Body::Sized {
        length: count,
        pieces,
    };
    Ok(response)
}

/// 416: the file has no such bytes. It says how many it has.
fn unsatisfiable(length: u64) -> Response {
    let message = format!("The file has {length} bytes: ask for a range within them");
    Response::whole(416, TEXT, message)
        .header("accept-ranges", "bytes")
        .header("content-range", format!("bytes */{length}"))
}

/// The entity tag, which takes reading the whole file the first time; the file and its length.
fn open(database: &Database) -> Result<(String, File, u64)> {
    let path = database.path.as_deref();
    let path = path.ok_or_else(|| Error::NotFound("There is no file to download".to_owned()))?;
    let failed = |error: io::Error| Error::Internal(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let hash = database
        .hash()
        .ok_or_else(|| Error::Internal(format!("{} could not be read", path.display())))?;
    Ok((format!("\"{hash}\""), file, length))
}

/// `count` bytes of a file from `first` on. Ends with an error, which cuts the
/// connection, if the file has fewer.
pub(super) fn chunks(
    file: File,
    first: u64,
    count: u64,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send + use<> {
    stream::try_unfold((file, first, count), |(file, at, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let read = spawn_blocking(move || read(file, at, left.min(CHUNK)));
        let (bytes, file) = read.await.map_err(io::Error::other)??;
        let count = bytes.len() as u64;
        Ok(Some((bytes, (file, at + count, left - count))))
    })
}

fn read(mut file: File, at: u64, count: u64) -> io::Result<(Bytes, File)> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    file.by_ref().take(count).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == count {
        Ok((bytes.into(), file))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// The `Content-Disposition` of a file. What quotes cannot hold becomes `_`; a
/// name that is not ASCII is given a second time as RFC 8187 has it.
fn attachment(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            '"' | '\\' => '_',
            c if c.is_ascii_graphic() || c == ' ' => c,
            _ => '_',
        })
        .collect();
    let mut value = format!("attachment; filename=\"{plain}\"");
    if plain != name {
        let encoded = query::encode(std::iter::once(("", name))).replace('+', "%20");
        value.push_str("; filename*=UTF-8''");
        value.push_str(encoded.trim_start_matches('='));
    }
    value
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use futures_util::TryStreamExt as _;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[actix_web::test]
    async fn a_file_comes_whole_in_chunks() {
        let content: Vec<u8> = (0..=255).cycle().take(600_000).collect();
        let length = content.len() as u64;
        let pieces: Vec<Bytes> = chunks(file(&content), 0, length)
            .try_collect()
            .await
            .unwrap();
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces.concat(), content);
        let part = chunks(file(&content), 300_000, 290_000);
        let part: Vec<Bytes> = part.try_collect().await.unwrap();
        assert_eq!(part.concat(), content[300_000..590_000]);
    }

    #[actix_web::test]
    async fn a_file_that_has_become_shorter_ends_with_an_error() {
        let pieces: io::Result<Vec<Bytes>> = chunks(file(b"short"), 0, 100).try_collect().await;
        assert_eq!(pieces.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_name_fits_into_its_quotes() {
        assert_eq!(attachment("a b.db"), "attachment; filename=\"a b.db\"");
        assert_eq!(
            attachment("é\"x.db"),
            "attachment; filename=\"__x.db\"; filename*=UTF-8''%C3%A9%22x.db"
        );
    }
}
