//! One search of a whole database: every table that has a full-text index is
//! asked, each as a job of its own.
//!
//! [`plan`] finds the tables and writes their SQL; [`execute`] runs them side by
//! side on one snapshot within one budget; [`found`] is what comes out.

pub mod execute;
pub mod found;
pub mod plan;

pub use execute::execute;
pub use found::{Hit, Outcome, Piece, SearchPage, SearchedTable};
pub use plan::{Searchable, searchable};
