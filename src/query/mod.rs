//! The SQL page and stored queries: rows of SQL that a visitor or the configuration wrote.
//!
//! [`request`] types the query string; [`validate`] refuses what is no query by
//! its first words, and [`fence`] what reaches too far, as SQLite tells it; [`tokens`] cuts SQL
//! up, in which [`parameters`] finds the `:name`s; [`execute`] runs it on a snapshot, as far as a page
//! goes, with its [`facets`], and [`export`] to its end. [`stored`] is what
//! the queries of the configuration have besides: values that the server gives, and their list.

pub mod execute;
pub mod export;
pub mod facets;
pub mod fence;
pub mod parameters;
pub mod request;
pub mod stored;
pub mod tokens;
pub mod validate;

pub use execute::QueryPage;
pub use request::QueryRequest;
