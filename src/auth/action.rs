//! What somebody may do, and with what: Datasette's names.

/// Something that a rule allows or forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// See the site at all.
    ViewInstance,
    /// See a database and the list of its tables.
    ViewDatabase,
    /// Take a database's file away.
    DownloadDatabase,
    /// See a table or view, and its rows.
    ViewTable,
    /// Run a stored query.
    ViewQuery,
    /// Run SQL of one's own.
    ExecuteSql,
    /// See how the server works inside: its threads, its rules.
    Debug,
}

impl Action {
    /// All of them, in the order of `/-/actions`.
    pub const ALL: [Self; 7] = [
        Self::ExecuteSql,
        Self::Debug,
        Self::ViewDatabase,
        Self::DownloadDatabase,
        Self::ViewInstance,
        Self::ViewQuery,
        Self::ViewTable,
    ];

    /// The name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::ViewInstance => "view-instance",
            Self::ViewDatabase => "view-database",
            Self::DownloadDatabase => "view-database-download",
            Self::ViewTable => "view-table",
            Self::ViewQuery => "view-query",
            Self::ExecuteSql => "execute-sql",
            Self::Debug => "permissions-debug",
        }
    }

    /// The short name in a token.
    pub fn abbreviation(self) -> &'static str {
        match self {
            Self::ViewInstance => "vi",
            Self::ViewDatabase => "vd",
            Self::DownloadDatabase => "vdd",
            Self::ViewTable => "vt",
            Self::ViewQuery => "vq",
            Self::ExecuteSql => "es",
            Self::Debug => "pd",
        }
    }

    /// What it is, for a person.
    pub fn description(self) -> &'static str {
        match self {
            Self::ViewInstance => "See this site",
            Self::ViewDatabase => "See a database and what is in it",
            Self::DownloadDatabase => "Download the file of a database",
            Self::ViewTable => "See a table or view and its rows",
            Self::ViewQuery => "See and run a stored query",
            Self::ExecuteSql => "Run SQL on a database",
            Self::Debug => "See the server's threads and rules",
        }
    }

    /// Whether an `allow` block of the site or of a database speaks of it.
    pub(super) fn is_view(self) -> bool {
        matches!(
            self,
            Self::ViewInstance | Self::ViewDatabase | Self::ViewTable | Self::ViewQuery
        )
    }

    /// What else somebody needs who wants to do it.
    pub fn requires(self) -> Option<Self> {
        match self {
            Self::ExecuteSql | Self::DownloadDatabase => Some(Self::ViewDatabase),
            _ => None,
        }
    }
}

/// What an [`Action`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource<'n> {
    /// The site.
    Instance,
    /// A database, by name.
    Database(&'n str),
    /// A table or view: the names of its database and its own.
    Table(&'n str, &'n str),
    /// A stored query: the names of its database and its own.
    Query(&'n str, &'n str),
}

impl<'n> Resource<'n> {
    /// The database that it is or that it is in.
    pub fn database(self) -> Option<&'n str> {
        match self {
            Self::Instance => None,
            Self::Database(database) | Self::Table(database, _) | Self::Query(database, _) => {
                Some(database)
            }
        }
    }
}
