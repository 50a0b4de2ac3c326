//! Generates large, deterministic `SQLite` databases that look like real ones.
//!
//! The binary of the same name also stresses a server with them and measures
//! it; this library is what other programs use.

mod generate;

pub use generate::{Options, Summary, WideOptions, generate, generate_wide, wide_table};
