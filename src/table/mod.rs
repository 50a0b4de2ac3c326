//! The table page: rows of a table or view, and the extras around them.
//!
//! In the order of a request: [`request`] types and bounds the query string
//! (no SQL, no I/O); [`plan`] checks it against the schema and writes the SQL,
//! with [`filters`], [`search`], [`paging`] and [`morsel`]; [`execute`] runs the plan as a
//! graph of [`jobs`], one file of [`extras`] each; [`page`] is what comes out.
//! `render` makes bytes of it.

pub mod arguments;
pub mod block;
pub mod execute;
pub mod export;
pub mod extras;
mod fetch;
pub mod filters;
mod jobs;
pub mod key;
pub mod morsel;
pub mod page;
pub mod paging;
pub mod plan;
pub mod redirect;
pub mod request;
mod results;
pub mod rows;
pub mod search;
mod sharing;
mod steady;
pub mod wanted;

pub use execute::{Executed, execute};
pub use page::TablePage;
pub use plan::Plan;
pub use request::TableRequest;
pub use sharing::Unfinished;
pub use wanted::Wanted;
