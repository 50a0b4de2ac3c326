//! Links of a table page: to rows, to the same page with other arguments, to its other formats.

use sha2::{Digest, Sha256};

use crate::db::{BorrowedValue, Value};
use crate::http::request::Request;
use crate::table::extras::FacetKind;
use crate::table::extras::FacetRequest;
use crate::text::query::{self, join};
use crate::text::{hex, tilde};

/// Makes the links of one table page.
pub struct Links<'r> {
    request: &'r Request,
    /// The path of the page as it was asked for, without the `base_url` prefix.
    path: &'r str,
    /// The path of the table, with the prefix: `/prefix/db/table`.
    pub table: String,
    /// The path of the database, with the prefix.
    pub database: String,
}

/// A facet value in its place: the link that selects or deselects it.
pub struct Toggle {
    /// Absolute.
    pub url: String,
    /// Whether the page is filtered by it now.
    pub selected: bool,
}

impl<'r> Links<'r> {
    /// For a page of `table` in `database`.
    pub fn new(request: &'r Request, database: &str, table: &str) -> Self {
        let database = self::database(request, database);
        let table = self::table(&database, table);
        Self {
            request,
            path: &request.path,
            table,
            database,
        }
    }

    /// This page with another query string, as an absolute URL.
    pub fn absolute(&self, query: &str) -> String {
        self.request.absolute(&join(self.path, query))
    }

    /// This page with another query string, as a path with the prefix.
    pub fn prefixed(&self, query: &str) -> String {
        self.request.prefixed(&join(self.path, query))
    }

    /// This page with arguments added (`Some`) or taken out (`None`).
    pub fn added(&self, args: &[(&str, Option<&str>)]) -> String {
        self.absolute(&self.request.query.with_added(args))
    }

    /// This page with arguments replaced, as a path.
    pub fn replaced(&self, args: &[(&str, Option<&str>)]) -> String {
        self.prefixed(&self.request.query.with_replaced(args))
    }

    /// The page after this one.
    pub fn next(&self, token: &str, sort: Option<(&str, &str)>) -> String {
        let mut args = vec![("_next", Some(token))];
        args.extend(sort.map(|(key, column)| (key, Some(column))));
        self.absolute(&self.request.query.with_replaced(&args))
    }

    /// This page without a facet, as a path.
    pub fn without_facet(&self, facet: &FacetRequest) -> String {
        self.prefixed(
            &self
                .request
                .query
                .with_removed_pairs(&[(facet.kind.argument(), &facet.column)]),
        )
    }

    /// This page with a facet more.
    pub fn with_facet(&self, kind: FacetKind, column: &str) -> String {
        self.added(&[(kind.argument(), Some(column))])
    }

    /// The link of a facet's value.
    pub fn toggle(&self, facet: &FacetRequest, value: &Value) -> Toggle {
        // A blob goes into the link as its bytes, like a text.
        let text = match value {
            Value::Blob(bytes) => String::from_utf8_lossy(bytes),
            other => other.display(),
        };
        let column = &facet.column;
        let keys: Vec<String> = match facet.kind {
            FacetKind::Array => vec![format!("{column}__arraycontains")],
            FacetKind::Date => vec![format!("{column}__date")],
            FacetKind::Column if column.starts_with('_') => vec![format!("{column}__exact")],
            FacetKind::Column => vec![column.clone(), format!("{column}__exact")],
        };
        let query = &self.request.query;
        let chosen: Vec<(&str, &str)> = keys
            .iter()
            .filter(|key| query.get_all(key).any(|chosen| chosen == text))
            .map(|key| (key.as_str(), text.as_ref()))
            .collect();
        if chosen.is_empty() {
            Toggle {
                url: self.added(&[(&keys[0], Some(&text))]),
                selected: false,
            }
        } else {
            Toggle {
                url: self.absolute(&query.with_removed_pairs(&chosen)),
                selected: true,
            }
        }
    }

    /// The same page in another format, as a path.
    pub fn format(&self, format: &str, args: &[(&str, &str)]) -> String {
        in_format(self.request, format, args)
    }

    /// The absolute form of [`Self::format`] for JSON.
    pub fn alternate_json(&self) -> String {
        alternate_json(self.request)
    }
}

/// The page of a request in another format, as a path with the prefix: `.json`
/// at the end of the path, or `_format=json` where the path has a dot already.
pub fn in_format(request: &Request, format: &str, args: &[(&str, &str)]) -> String {
    let mut args = args.to_vec();
    let path = if request.path.contains('.') {
        args.push(("_format", format));
        request.path.clone()
    } else {
        format!("{}.{format}", request.path)
    };
    args.sort_unstable();
    let added = query::encode(args.into_iter());
    let raw = request.query.raw();
    let query = match (raw.is_empty(), added.is_empty()) {
        (true, _) => added,
        (false, true) => raw.to_owned(),
        (false, false) => format!("{raw}&{added}"),
    };
    request.prefixed(&join(&path, &query))
}

/// All rows of the page of a request as lines of JSON, as a path with the prefix; from
/// the first row on, whatever page this is. A page whose path has a dot has none.
pub fn all_as_lines(request: &Request, args: &[(&str, &str)]) -> Option<String> {
    if request.path.contains('.') {
        return None;
    }
    let mut replaced = vec![("_next", None), ("_size", None), ("_stream", Some("1"))];
    replaced.extend(args.iter().map(|&(key, value)| (key, Some(value))));
    let query = request.query.with_replaced(&replaced);
    Some(request.prefixed(&join(&format!("{}.ndjson", request.path), &query)))
}

/// The argument of a download that names the column.
pub const BLOB_COLUMN: &str = "_blob_column";
/// The argument that tells which of several rows: the SHA-256 of the bytes, in hex.
pub const BLOB_HASH: &str = "_blob_hash";

/// Bytes as [`BLOB_HASH`] names them.
pub fn blob_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The download of bytes in a column of a page's result, as a path with the
/// prefix. The page itself may be CSV.
pub fn result_blob(request: &Request, column: &str, bytes: &[u8]) -> String {
    let hash = blob_hash(bytes);
    let args = [(BLOB_COLUMN, column), (BLOB_HASH, hash.as_str())];
    match request.path.strip_suffix(".csv") {
        None => in_format(request, "blob", &args),
        Some(path) => {
            let request = Request {
                path: path.to_owned(),
                ..request.clone()
            };
            in_format(&request, "blob", &args)
        }
    }
}

/// The page of a request as JSON, as an absolute URL.
pub fn alternate_json(request: &Request) -> String {
    format!("{}{}", request.origin(), in_format(request, "json", &[]))
}

/// The path of a database, with the prefix: `/prefix/db`.
pub fn database(request: &Request, database: &str) -> String {
    request.prefixed(&format!("/{}", tilde::encode(database.as_bytes())))
}

/// The path of a table or view in the database at `database`.
pub fn table(database: &str, table: &str) -> String {
    format!("{database}/{}", tilde::encode(table.as_bytes()))
}

/// Appends the path part that names a row by its key: `~` encoded values with commas between.
pub fn row_path_into<'v>(out: &mut String, key: impl Iterator<Item = BorrowedValue<'v>>) {
    for (n, value) in key.enumerate() {
        if n > 0 {
            out.push(',');
        }
        match value {
            Value::Text(bytes) => tilde::encode_into(out, bytes),
            other => other.with_display(|text| tilde::encode_into(out, text.as_bytes())),
        }
    }
}
