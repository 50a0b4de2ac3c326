//! Queries of the configuration: [`magic`] gives their parameters values of the
//! request, [`list`] is what `/-/queries` shows.

pub mod list;
pub mod magic;

pub use list::{ListPage, ListRequest, Listed};
