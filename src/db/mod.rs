//! SQLite: which databases are served, how a page reads one of them.
//!
//! [`registry`] opens files; [`database`] is one of them with its [`pool`] of
//! connections and its cached [`schema`]; [`snapshot`] gives all jobs of a page
//! the same state of it. [`value`] is a value as SQLite stores it, [`functions`]
//! and [`tally`] are the SQL functions that we add, [`ffi`] the only place that
//! calls SQLite's C API directly, [`extension`] what other people add;
//! [`inspect`] tells of a file what does not change. [`version`] tells
//! whether a database has changed. Nothing here knows of pages or HTTP.

pub mod database;
pub mod extension;
mod ffi;
pub mod functions;
pub mod inspect;
pub mod limit;
mod opened;
pub mod pool;
pub mod registry;
pub mod schema;
pub mod snapshot;
pub mod tally;
pub mod turns;
pub mod value;
mod version;

pub use database::Database;
pub use extension::Extension;
pub use inspect::Inspected;
pub use limit::{Budget, Cancel, Limit};
pub use registry::{OpenOptions, OpenReport, Registry, Source};
pub use snapshot::PageSnapshot;
pub use value::{BorrowedValue, Value};
pub use version::Version;
