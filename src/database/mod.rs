//! The pages that list: the databases of the server, and the tables of a database.
//!
//! [`execute`] reads the schema of a database, has its tables counted by
//! [`counts`] and puts together what [`page`] describes; [`index`] does the same
//! for all databases at once. Rendering is left to [`crate::render`].

pub mod allowed;
pub mod counts;
pub mod execute;
pub mod index;
pub mod jump;
pub mod page;

pub use execute::execute;
pub use index::index;
pub use page::{DatabasePage, IndexEntry, ListedTable};
