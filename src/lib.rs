//! Turntable serves SQLite files as web pages and a JSON API.
//!
//! [`run`] is the whole program: read the command line, open the databases,
//! serve them until told to stop.

pub mod auth;
pub mod cli;
pub mod config;
pub mod database;
pub mod db;
pub mod demo;
pub mod engine;
pub mod error;
pub mod http;
pub mod query;
pub mod render;
pub mod row;
pub mod start;
pub mod table;
pub mod text;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use tracing_subscriber::EnvFilter;

use cli::{Command, Serve};
use http::app::{Listen, Stopped};
use start::StartError;

/// Runs the program on its arguments, program name first.
///
/// # Errors
/// What kept it from starting.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<Stopped, StartError> {
    match cli::read(arguments)? {
        Command::Print(text) => {
            // A reader that has gone (`--help | head`) is no error.
            let _ = write!(io::stdout(), "{text}");
            Ok(Stopped::Finished)
        }
        Command::Serve(serve) => self::serve(*serve),
        Command::Demo { rows, mut serve } => {
            serve.sources.push(demo::source(rows)?);
            self::serve(*serve)
        }
    }
}

fn serve(serve: Serve) -> Result<Stopped, StartError> {
    log_to_stderr();
    let listen = Listen {
        host: serve.host.clone(),
        port: serve.port,
        workers: serve.workers,
    };
    let app = Arc::new(start::open(serve)?);
    actix_web::rt::System::new()
        .block_on(http::app::serve(app, &listen))
        .map_err(StartError::Environment)
}

/// Logs to stderr what `TURNTABLE_LOG` or `RUST_LOG` asks for, else what is worth knowing.
fn log_to_stderr() {
    // actix-http calls it an error when a client sends what is no HTTP.
    let usual = "info,actix_server=warn,actix_http=off";
    let filter = EnvFilter::try_from_env("TURNTABLE_LOG")
        .or_else(|_| EnvFilter::try_from_default_env())
        .unwrap_or_else(|_| EnvFilter::new(usual));
    // Fails when a test has set one up already, which then stays.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .try_init();
}
