//! The row page: one row, found by the key in its address.
//!
//! The steps are those of the table page: [`request`] types the query string and
//! the key; [`plan`] checks them against the schema; [`execute`] finds the row and
//! then runs what goes with it as a graph of jobs on one snapshot: labels of its
//! foreign keys, counts of the rows that refer to it ([`incoming`]); [`page`] is
//! what comes out.

pub mod autocomplete;
pub mod execute;
pub mod incoming;
pub mod page;
pub mod plan;
pub mod request;

pub use page::RowPage;
pub use plan::RowPlan;
pub use request::RowRequest;
