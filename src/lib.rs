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
pub mod reload;
pub mod render;
pub mod row;
pub mod schema_text;
pub mod search;
pub mod start;
pub mod table;
pub mod text;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use tracing_subscriber::EnvFilter;

use cli::{Command, Serve};
use http::current::Current;
use http::listen::Listen;
use http::shutdown::Stopped;
use start::StartError;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It did what it was told, and stopped when told.
    Well,
    /// It asked the one request of `--get`, and the answer was no 2xx.
    Refused,
    /// It was made to stop at once.
    AtOnce,
}

/// Runs the program on its arguments, program name first.
///
/// # Errors
/// What kept it from starting.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<Ended, StartError> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match cli::read(arguments.clone())? {
        Command::Print(text) => print(&text),
        Command::Inspect(inspect) => print(&inspect.run()?),
        command => {
            if let Some(serve) = command.into_serve()? {
                return self::serve(serve, &arguments);
            }
        }
    }
    Ok(Ended::Well)
}

fn print(text: &str) {
    // A reader that has gone (`--help | head`) is no error.
    let _ = write!(io::stdout(), "{text}");
}

fn serve(mut serve: Serve, arguments: &[OsString]) -> Result<Ended, StartError> {
    log_to_stderr();
    if let Some(get) = serve.get.take() {
        let app = Arc::new(start::open(serve)?);
        let mut out = io::stdout().lock();
        let is_ok = actix_web::rt::System::new().block_on(get.run(app, &mut out))?;
        return Ok(if is_ok { Ended::Well } else { Ended::Refused });
    }
    let listen = Listen {
        place: serve.place.clone(),
        tls: serve.tls.clone(),
        workers: serve.workers,
        open: serve.open,
    };
    let reload = serve.reload(arguments);
    let app = Arc::new(start::open(serve)?);
    let current = match reload {
        None => Arc::new(Current::Fixed(app)),
        Some(reload) => {
            let current = Arc::new(Current::Changing(app.into()));
            reload.start(Arc::clone(&current)).map_err(|error| {
                StartError::Environment(format!("cannot start threads: {error}"))
            })?;
            current
        }
    };
    let stopped = actix_web::rt::System::new()
        .block_on(http::listen::serve(current, &listen))
        .map_err(StartError::Environment)?;
    Ok(match stopped {
        Stopped::Finished | Stopped::GraceOver => Ended::Well,
        Stopped::AtOnce => Ended::AtOnce,
    })
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
