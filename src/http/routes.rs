//! Every URL of the program: a path in, a [`Route`] out, no server needed.
//!
//! The rules are Datasette 1.0's. A name is one path segment, `~`-encoded; a
//! format is what follows an unencoded dot. Fixed addresses are looked at
//! first, then the number of segments decides, so finding a route costs the
//! same however many there are.

use super::mounts::Mounted;
use crate::error::Error;
use crate::text::tilde;

/// In which form a page is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// No extension.
    Html,
    /// `.json`
    Json,
    /// `.csv`
    Csv,
    /// `.ndjson`
    Ndjson,
    /// `.blob`
    Blob,
    /// An extension that no page has.
    Other(String),
}

impl Format {
    fn of(extension: &str) -> Self {
        match extension {
            "json" => Self::Json,
            "csv" => Self::Csv,
            "ndjson" => Self::Ndjson,
            "blob" => Self::Blob,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The extension, without its dot.
    pub fn extension(&self) -> Option<&str> {
        match self {
            Self::Html => None,
            Self::Json => Some("json"),
            Self::Csv => Some("csv"),
            Self::Ndjson => Some("ndjson"),
            Self::Blob => Some("blob"),
            Self::Other(extension) => Some(extension),
        }
    }

    /// The answer of a page that does not have this format.
    pub fn invalid(&self) -> Error {
        Error::NotFound(format!(
            "Invalid format: {}",
            self.extension().unwrap_or("html")
        ))
    }
}

/// What a schema page shows the SQL of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaOf {
    /// All databases.
    Site,
    /// A database.
    Database(String),
    /// A table or view: the names of its database and its own.
    Table(String, String),
}

/// In which form a schema page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaForm {
    /// No extension.
    Html,
    /// `.json`
    Json,
    /// `.md`
    Markdown,
}

impl SchemaForm {
    /// The form that `schema`, `schema.json` or `schema.md` asks for.
    fn of(segment: &str) -> Option<Self> {
        Some(match segment {
            "schema" => Self::Html,
            "schema.json" => Self::Json,
            "schema.md" => Self::Markdown,
            _ => return None,
        })
    }
}

/// A page that shows what the server knows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// `/-/versions`
    Versions,
    /// `/-/settings`
    Settings,
    /// `/-/databases`
    Databases,
    /// `/-/threads`
    Threads,
    /// `/-/config`
    Config,
    /// `/-/plugins`
    Plugins,
    /// `/-/actor`
    Actor,
    /// `/-/actions`
    Actions,
}

impl Special {
    /// The name in the address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Versions => "versions",
            Self::Settings => "settings",
            Self::Databases => "databases",
            Self::Threads => "threads",
            Self::Config => "config",
            Self::Plugins => "plugins",
            Self::Actor => "actor",
            Self::Actions => "actions",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "versions" => Self::Versions,
            "settings" => Self::Settings,
            "databases" => Self::Databases,
            "threads" => Self::Threads,
            "config" => Self::Config,
            "plugins" => Self::Plugins,
            "actor" => Self::Actor,
            "actions" => Self::Actions,
            _ => return None,
        })
    }
}

/// What a path asks for. Names are decoded, keys are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// `/` and, where a site has a front page of its own, `/-/`.
    Index {
        /// HTML or JSON.
        format: Format,
        /// Whether it was asked for as `/-/`, which search engines should not list.
        alternative: bool,
    },
    /// Another address for good: 301. The path of this server, without the query.
    Moved {
        /// Where to.
        to: String,
        /// Whether the query goes along.
        keep_query: bool,
    },
    /// A page about the server.
    Special {
        /// Which.
        page: Special,
        /// HTML or JSON.
        format: Format,
    },
    /// The SQL that made databases and tables.
    Schema {
        /// Which.
        of: SchemaOf,
        /// HTML, JSON or Markdown.
        form: SchemaForm,
    },
    /// A form to try an `allow` block with.
    AllowDebug,
    /// What somebody may do: the page has another name here.
    Permissions,
    /// What who asks may do.
    Allowed {
        /// HTML or JSON.
        format: Format,
    },
    /// Databases, tables and views by a part of their name.
    Jump,
    /// Rows of a table by a part of their label.
    Autocomplete {
        /// The database.
        database: String,
        /// The table.
        table: String,
    },
    /// A search of all tables of a database that can be searched.
    Search {
        /// The database.
        database: String,
        /// HTML or JSON.
        format: Format,
    },
    /// Where `--root` lets its actor in.
    AuthToken,
    /// Where an actor becomes nobody.
    Logout,
    /// A file of the program.
    Static(String),
    /// A file of a folder that is served with `--static`. No path resolves to it by itself.
    Mounted(Mounted),
    /// The icon.
    Favicon,
    /// A database's file itself.
    Download {
        /// The database.
        database: String,
    },
    /// The tables of a database.
    Database {
        /// The database.
        database: String,
        /// HTML or JSON; any, when the request carries `?sql=`.
        format: Format,
    },
    /// SQL that the visitor wrote.
    Query {
        /// The database.
        database: String,
        /// HTML, JSON, CSV or a blob.
        format: Format,
    },
    /// Which parameters SQL has.
    QueryParameters {
        /// The database.
        database: String,
    },
    /// A list of stored queries.
    Queries {
        /// Of which database; `None` for all.
        database: Option<String>,
        /// HTML or JSON.
        format: Format,
    },
    /// A stored query. No path alone leads here: a table of that name comes first.
    StoredQuery {
        /// The database.
        database: String,
        /// The query.
        query: String,
        /// HTML, JSON, CSV or a blob.
        format: Format,
    },
    /// A table, a view or a stored query.
    Table {
        /// The database.
        database: String,
        /// The table.
        table: String,
        /// HTML, JSON or CSV.
        format: Format,
    },
    /// One row.
    Row {
        /// The database.
        database: String,
        /// The table.
        table: String,
        /// The values of its primary key as they were sent: `~` encoded, with commas between.
        pks: String,
        /// HTML, JSON, CSV or a blob.
        format: Format,
    },
    /// No page is there.
    Nothing,
}

/// Finds the page of a path, which is without the `base_url` and the query.
pub fn resolve(path: &str) -> Route {
    let Some(rest) = path.strip_prefix('/') else {
        return Route::Nothing;
    };
    fixed(rest)
        .or_else(|| rest.strip_prefix("-/").and_then(about))
        .or_else(|| rest.strip_prefix(":memory:").map(memory))
        .or_else(|| by_segments(rest))
        .unwrap_or(Route::Nothing)
}

/// The addresses without a parameter.
fn fixed(rest: &str) -> Option<Route> {
    let index = |format, alternative| Route::Index {
        format,
        alternative,
    };
    Some(match rest {
        "" => index(Format::Html, false),
        ".json" => index(Format::Json, false),
        "-/" => index(Format::Html, true),
        "-/.json" => index(Format::Json, true),
        "-" => Route::Moved {
            to: "/-/".to_owned(),
            keep_query: false,
        },
        "favicon.ico" => Route::Favicon,
        "-/jump" | "-/jump.json" => Route::Jump,
        "-/allow-debug" => Route::AllowDebug,
        "-/permissions" => Route::Permissions,
        "-/allowed" => Route::Allowed {
            format: Format::Html,
        },
        "-/allowed.json" => Route::Allowed {
            format: Format::Json,
        },
        "-/auth-token" => Route::AuthToken,
        "-/logout" => Route::Logout,
        _ => return None,
    })
}

/// What stands below `/-/`.
fn about(rest: &str) -> Option<Route> {
    if let Some(file) = rest.strip_prefix("static/") {
        return Some(Route::Static(file.to_owned()));
    }
    if let Some(form) = SchemaForm::of(rest) {
        let of = SchemaOf::Site;
        return Some(Route::Schema { of, form });
    }
    let (name, format) = match rest.strip_suffix(".json") {
        Some(name) => (name, Format::Json),
        None => (rest, Format::Html),
    };
    if name == "queries" {
        let database = None;
        return Some(Route::Queries { database, format });
    }
    Special::of(name).map(|page| Route::Special { page, format })
}

/// The address that the in-memory database had before Datasette 0.55.
fn memory(rest: &str) -> Route {
    Route::Moved {
        to: format!("/_memory{rest}"),
        keep_query: true,
    }
}

/// A database, and what is in it.
fn by_segments(rest: &str) -> Option<Route> {
    let mut segments = rest.splitn(4, '/');
    match (
        segments.next(),
        segments.next(),
        segments.next(),
        segments.next(),
    ) {
        (Some(database), None, ..) => {
            let (database, format) = name_and_format(database)?;
            let database = tilde::decode(database);
            Some(if format == Format::Other("db".to_owned()) {
                Route::Download { database }
            } else {
                Route::Database { database, format }
            })
        }
        (Some(database), Some(table), None, _) => {
            let database = name(database)?;
            let (table, format) = name_and_format(table)?;
            Some(Route::Table {
                database,
                table: tilde::decode(table),
                format,
            })
        }
        (Some(database), Some(table), Some(last), None) => {
            let database = name(database)?;
            if table == "-"
                && let Some(page) = of_database(&database, last)
            {
                return Some(page);
            }
            if table.is_empty() || last.is_empty() {
                return None;
            }
            let (pks, format) = pks_and_format(last);
            Some(Route::Row {
                database,
                table: tilde::decode(table),
                pks: pks.to_owned(),
                format,
            })
        }
        (Some(database), Some("-"), Some("query"), Some("parameters")) => {
            let database = name(database)?;
            Some(Route::QueryParameters { database })
        }
        (Some(database), Some(table), Some("-"), Some(last)) => {
            let (database, table) = (name(database)?, name(table)?);
            of_table(database, table, last)
        }
        _ => None,
    }
}

/// What stands below `/{database}/-/`, besides rows of a table called minus.
fn of_database(database: &str, last: &str) -> Option<Route> {
    let database = database.to_owned();
    if let Some(form) = SchemaForm::of(last) {
        let of = SchemaOf::Database(database);
        return Some(Route::Schema { of, form });
    }
    match name_and_format(last)? {
        ("query", format) => Some(Route::Query { database, format }),
        ("queries", format) => Some(Route::Queries {
            database: Some(database),
            format,
        }),
        ("search", format) => Some(Route::Search { database, format }),
        _ => None,
    }
}

/// What stands below `/{database}/{table}/-/`.
fn of_table(database: String, table: String, last: &str) -> Option<Route> {
    if let Some(form) = SchemaForm::of(last) {
        let of = SchemaOf::Table(database, table);
        return Some(Route::Schema { of, form });
    }
    (last == "autocomplete").then_some(Route::Autocomplete { database, table })
}

/// A name alone: a dot would have to be encoded.
fn name(segment: &str) -> Option<String> {
    (!segment.is_empty() && !segment.contains('.')).then(|| tilde::decode(segment))
}

/// `name` or `name.format`.
fn name_and_format(segment: &str) -> Option<(&str, Format)> {
    let (name, format) = match segment.split_once('.') {
        None => (segment, Format::Html),
        Some((name, extension)) if is_word(extension) => (name, Format::of(extension)),
        Some(_) => return None,
    };
    (!name.is_empty()).then_some((name, format))
}

/// In the last segment of a row a dot may belong to the key: only what follows the last one is a format.
fn pks_and_format(segment: &str) -> (&str, Format) {
    match segment.rsplit_once('.') {
        Some((pks, extension)) if !pks.is_empty() && is_word(extension) => {
            (pks, Format::of(extension))
        }
        _ => (segment, Format::Html),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Where to look instead when a page is not there: a `%`-encoded path in its
/// `~` form, a path with slashes at its end without them.
pub fn second_chance(path: &str, query: &str) -> Option<String> {
    let path = if path.contains('%') {
        path.replace('~', "~7E")
            .replace('%', "~")
            .replace('.', "~2E")
    } else if path.len() > 1 && path.ends_with('/') {
        path.trim_end_matches('/').to_owned()
    } else {
        return None;
    };
    // Two slashes (or what a browser takes for one) at the front would name another host.
    let local = path.trim_start_matches(['/', '\\']);
    Some(crate::text::query::join(&format!("/{local}"), query))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(name: &str, format: Format) -> Route {
        Route::Database {
            database: name.into(),
            format,
        }
    }

    fn table(database: &str, table: &str, format: Format) -> Route {
        Route::Table {
            database: database.into(),
            table: table.into(),
            format,
        }
    }

    fn row(database: &str, table: &str, pks: &str, format: Format) -> Route {
        Route::Row {
            database: database.into(),
            table: table.into(),
            pks: pks.into(),
            format,
        }
    }

    fn moved(to: &str, keep_query: bool) -> Route {
        Route::Moved {
            to: to.into(),
            keep_query,
        }
    }

    #[test]
    fn the_front_page_has_two_addresses() {
        let index = |format, alternative| Route::Index {
            format,
            alternative,
        };
        assert_eq!(resolve("/"), index(Format::Html, false));
        assert_eq!(resolve("/.json"), index(Format::Json, false));
        assert_eq!(resolve("/-/"), index(Format::Html, true));
        assert_eq!(resolve("/-/.json"), index(Format::Json, true));
        assert_eq!(resolve("/-"), moved("/-/", false));
        assert_eq!(resolve("/.csv"), Route::Nothing);
    }

    #[test]
    fn pages_about_the_server_come_as_html_and_json() {
        for page in [
            Special::Versions,
            Special::Settings,
            Special::Databases,
            Special::Threads,
            Special::Config,
            Special::Plugins,
            Special::Actor,
            Special::Actions,
        ] {
            let name = page.name();
            assert_eq!(
                resolve(&format!("/-/{name}")),
                Route::Special {
                    page,
                    format: Format::Html
                }
            );
            assert_eq!(
                resolve(&format!("/-/{name}.json")),
                Route::Special {
                    page,
                    format: Format::Json
                }
            );
        }
    }

    #[test]
    fn what_is_no_page_about_the_server_is_a_table_of_a_database_called_minus() {
        assert_eq!(resolve("/-/nope"), table("-", "nope", Format::Html));
        assert_eq!(
            resolve("/-/versions.csv"),
            table("-", "versions", Format::Csv)
        );
        assert_eq!(resolve("/-/versions/"), Route::Nothing);
    }

    #[test]
    fn schemas_have_three_forms_at_three_levels() {
        let schema = |of: &SchemaOf, form| Route::Schema {
            of: of.clone(),
            form,
        };
        for (path, of) in [
            ("/-/schema", SchemaOf::Site),
            ("/a~2Eb/-/schema", SchemaOf::Database("a.b".into())),
            (
                "/data/a~2Fb/-/schema",
                SchemaOf::Table("data".into(), "a/b".into()),
            ),
        ] {
            let at = |extension| resolve(&format!("{path}{extension}"));
            assert_eq!(at(""), schema(&of, SchemaForm::Html));
            assert_eq!(at(".json"), schema(&of, SchemaForm::Json));
            assert_eq!(at(".md"), schema(&of, SchemaForm::Markdown));
            assert!(!matches!(at(".csv"), Route::Schema { .. }), "{path}");
        }
    }

    #[test]
    fn what_finds_things_by_a_part_of_their_name_has_addresses_of_its_own() {
        assert_eq!(resolve("/-/jump"), Route::Jump);
        assert_eq!(resolve("/-/jump.json"), Route::Jump);
        assert_eq!(resolve("/-/allow-debug"), Route::AllowDebug);
        let autocomplete = Route::Autocomplete {
            database: "data".into(),
            table: "two words".into(),
        };
        assert_eq!(resolve("/data/two+words/-/autocomplete"), autocomplete);
        assert_eq!(
            resolve("/data/t/-/autocomplete.json"),
            Route::Nothing,
            "it has one form"
        );
        let search = |format| Route::Search {
            database: "data".into(),
            format,
        };
        assert_eq!(resolve("/data/-/search"), search(Format::Html));
        assert_eq!(resolve("/data/-/search.json"), search(Format::Json));
    }

    #[test]
    fn files_of_the_program_keep_their_path() {
        assert_eq!(
            resolve("/-/static/app.css"),
            Route::Static("app.css".into())
        );
        assert_eq!(resolve("/-/static/a/b.js"), Route::Static("a/b.js".into()));
        assert_eq!(resolve("/-/static/"), Route::Static(String::new()));
        assert_eq!(resolve("/favicon.ico"), Route::Favicon);
    }

    #[test]
    fn the_old_address_of_the_memory_database_moved() {
        assert_eq!(resolve("/:memory:"), moved("/_memory", true));
        assert_eq!(resolve("/:memory:/t.json"), moved("/_memory/t.json", true));
    }

    #[test]
    fn a_database_has_formats_and_a_download() {
        assert_eq!(resolve("/data"), database("data", Format::Html));
        assert_eq!(resolve("/data.json"), database("data", Format::Json));
        assert_eq!(resolve("/data.csv"), database("data", Format::Csv));
        assert_eq!(
            resolve("/data.xyz"),
            database("data", Format::Other("xyz".into()))
        );
        assert_eq!(
            resolve("/data.db"),
            Route::Download {
                database: "data".into()
            }
        );
        assert_eq!(resolve("/data~2Edb"), database("data.db", Format::Html));
        assert_eq!(
            resolve("/extra~20database"),
            database("extra database", Format::Html)
        );
        for path in [
            "/data.a.b",
            "/data.db.json",
            "/data.",
            "/data.x-y",
            "data",
            "",
        ] {
            assert_eq!(resolve(path), Route::Nothing, "{path}");
        }
    }

    #[test]
    fn a_table_is_the_second_segment() {
        assert_eq!(resolve("/data/t"), table("data", "t", Format::Html));
        assert_eq!(resolve("/data/t.json"), table("data", "t", Format::Json));
        assert_eq!(resolve("/data/t.csv"), table("data", "t", Format::Csv));
        assert_eq!(
            resolve("/data/a~2Eb~2Fc.json"),
            table("data", "a.b/c", Format::Json)
        );
        assert_eq!(
            resolve("/data/two+words"),
            table("data", "two words", Format::Html)
        );
        assert_eq!(resolve("/data/-"), table("data", "-", Format::Html));
        assert_eq!(resolve("/data/100~25"), table("data", "100%", Format::Html));
        for path in ["/data/", "//t", "/da.ta/t", "/data/t.a.b", "/data/.json"] {
            assert_eq!(resolve(path), Route::Nothing, "{path}");
        }
    }

    #[test]
    fn a_row_is_the_third_segment_whose_key_stays_encoded() {
        assert_eq!(resolve("/data/t/1"), row("data", "t", "1", Format::Html));
        assert_eq!(
            resolve("/data/t/1.json"),
            row("data", "t", "1", Format::Json)
        );
        assert_eq!(
            resolve("/data/t/1.blob"),
            row("data", "t", "1", Format::Blob)
        );
        assert_eq!(
            resolve("/data/t/a,b~2Cc"),
            row("data", "t", "a,b~2Cc", Format::Html)
        );
        assert_eq!(
            resolve("/data/t/a.b.json"),
            row("data", "t", "a.b", Format::Json)
        );
        assert_eq!(
            resolve("/data/t/1.5"),
            row("data", "t", "1", Format::Other("5".into())),
            "an unencoded dot begins a format"
        );
        assert_eq!(
            resolve("/data/t/1~2E5"),
            row("data", "t", "1~2E5", Format::Html)
        );
        assert_eq!(
            resolve("/data/t/.json"),
            row("data", "t", ".json", Format::Html)
        );
        assert_eq!(
            resolve("/data/t/1.x-y"),
            row("data", "t", "1.x-y", Format::Html)
        );
        assert_eq!(
            resolve("/data/a.b/1"),
            row("data", "a.b", "1", Format::Html)
        );
        for path in [
            "/data/t/",
            "/data//1",
            "//t/1",
            "/data/t/1/",
            "/data/t/1/more",
            "/a/b/c/d/e",
        ] {
            assert_eq!(resolve(path), Route::Nothing, "{path}");
        }
    }

    #[test]
    fn a_query_page_is_no_row() {
        assert_eq!(
            resolve("/a~2Eb/-/query/parameters"),
            Route::QueryParameters {
                database: "a.b".into()
            }
        );
        assert_eq!(resolve("/data/-/query/other"), Route::Nothing);
        let query = |format| Route::Query {
            database: "data".into(),
            format,
        };
        assert_eq!(resolve("/data/-/query"), query(Format::Html));
        assert_eq!(resolve("/data/-/query.json"), query(Format::Json));
        assert_eq!(resolve("/data/-/query.csv"), query(Format::Csv));
        let queries = |database: Option<&str>, format| Route::Queries {
            database: database.map(str::to_owned),
            format,
        };
        assert_eq!(
            resolve("/data/-/queries"),
            queries(Some("data"), Format::Html)
        );
        assert_eq!(resolve("/-/queries.json"), queries(None, Format::Json));
        assert_eq!(
            resolve("/data/-/others"),
            row("data", "-", "others", Format::Html)
        );
    }

    #[test]
    fn a_percent_encoded_path_has_a_tilde_form() {
        for (path, query, expected) in [
            ("/fx/t%20x", "", "/fx/t~20x"),
            ("/f%20x.json", "a=1", "/f~20x~2Ejson?a=1"),
            ("/fx/a~20b%2Fc", "", "/fx/a~7E20b~2Fc"),
            ("/pre/fx/t%20", "", "/pre/fx/t~20"),
        ] {
            assert_eq!(
                second_chance(path, query).as_deref(),
                Some(expected),
                "{path}"
            );
        }
    }

    #[test]
    fn slashes_at_the_end_are_dropped_and_the_host_stays_ours() {
        for (path, query, expected) in [
            ("/fx/", "", "/fx"),
            ("/fx/t///", "x=1", "/fx/t?x=1"),
            ("//", "", "/"),
            ("//example.com/", "", "/example.com"),
            ("/\\example.com/", "", "/example.com"),
            ("//example.com/%20", "", "/example~2Ecom/~20"),
        ] {
            assert_eq!(
                second_chance(path, query).as_deref(),
                Some(expected),
                "{path}"
            );
        }
        assert_eq!(second_chance("/fx/t", "x=1"), None);
        assert_eq!(second_chance("/", ""), None);
    }
}
