//! Pages to bytes: JSON, CSV and HTML. Knows pages and links, not HTTP.

pub mod cells;
pub mod csv;
pub mod database_html;
pub mod database_json;
pub mod extras_json;
pub mod json;
pub mod links;
pub mod table_html;

/// What the URLs in a page are made from.
pub use crate::http::request::Request;
