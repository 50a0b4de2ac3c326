//! Pages to bytes: JSON, CSV and HTML. Knows pages and links, not HTTP.

mod cell;
pub mod cells;
pub mod csv;
pub mod custom;
pub mod database_html;
pub mod database_json;
pub mod display_columns;
pub mod export;
pub mod extras_json;
mod facet_html;
pub mod json;
pub mod json_rows;
pub mod links;
pub mod options;
pub mod queries_html;
pub mod queries_json;
mod query_facets;
pub mod query_html;
pub mod query_json;
pub mod row_html;
pub mod row_json;
pub mod search_html;
pub mod search_json;
pub mod table_html;

/// What the URLs in a page are made from.
pub use crate::http::request::Request;
