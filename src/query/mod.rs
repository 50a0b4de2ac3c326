//! The SQL page: rows of a query that the visitor wrote.
//!
//! [`request`] types the query string; [`validate`] refuses what is no query, by
//! its text alone; [`parameters`] finds the `:name`s in it; [`execute`] runs it on
//! a snapshot, as far as a page goes, and [`export`] to its end.

pub mod execute;
pub mod export;
pub mod parameters;
pub mod request;
pub mod validate;

pub use execute::QueryPage;
pub use request::QueryRequest;
