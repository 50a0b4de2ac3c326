//! HTTP: from a request to the page that answers it, and back.
//!
//! [`app`] listens, and asks [`current`] which app answers; [`lenient`] mends what clients send as a URL; [`incoming`] reads
//! a request; [`routes`] finds its page;
//! [`dispatch`] calls the page, unless [`answers`] has kept what it would say; [`errors`] and [`respond`] make the answer that
//! is sent. The pages that need no database are here too: [`statics`] and
//! [`special`]. No page of the rest knows of actix-web.

mod access_log;
mod allow_debug;
mod allowed;
mod answers;
pub mod app;
mod autocomplete;
mod blob;
mod browser;
pub mod compression;
mod csrf;
mod csv_answer;
pub mod current;
mod database;
mod dispatch;
mod download;
mod embedded;
mod errors;
mod etag;
mod export;
mod incoming;
mod index;
mod jump;
pub mod lenient;
pub mod listen;
mod login;
pub mod mounts;
pub mod pages;
mod queries;
mod query;
mod query_export;
mod ranges;
pub mod request;
mod respond;
pub mod response;
pub mod routes;
mod row;
mod schema;
mod search;
mod security;
pub mod shutdown;
mod special;
pub mod statics;
mod stored;
mod table;
mod table_export;
pub mod templates;
mod tls;
mod versions;

pub use app::App;
pub use request::Request;
pub use response::{Body, Response};
pub use routes::Format;
