//! Tests of the whole program: each starts it on a free port, over database
//! files that it makes from SQL, and speaks HTTP with it. What is right was
//! worked out by hand, or is asked of SQLite here; never of the server.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that can't go on has failed, and says why"
)]

mod access;
mod base_url;
mod compile_options;
mod compression;
mod configured;
mod csv;
mod custom_pages;
mod documented;
mod errors;
mod etags;
mod exports;
mod extension;
mod facets;
mod filters;
mod folder;
mod get;
mod inspected;
mod kept;
mod limits;
mod listen;
mod modes;
mod mounts;
mod pages;
mod paging;
mod random;
mod raw_targets;
mod reload;
mod server;
mod shutdown;
mod snapshot;
mod sql;
mod start;
mod stored;
mod table_html;
mod table_json;
mod templates;
