//! What was typed: clap reads the words, and refuses those that can't mean anything.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

/// Serves SQLite files as web pages and a JSON API.
#[derive(Debug, Parser)]
#[command(
    name = "turntable",
    version,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
pub(super) struct Typed {
    #[command(subcommand)]
    pub command: TypedCommand,

    /// Print this help
    #[arg(long, global = true, action = ArgAction::Help)]
    pub help: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub(super) enum TypedCommand {
    /// Serve database files (what `turntable FILE...` does without naming a command)
    #[command(disable_help_flag = true)]
    Serve(TypedServe),
    /// Make a large database and serve it
    #[command(disable_help_flag = true)]
    Demo {
        /// Rows of the table
        #[arg(long, default_value_t = 500_000, value_name = "N")]
        rows: u64,
        #[command(flatten)]
        serve: TypedServe,
    },
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one switch of the command line"
)]
pub(super) struct TypedServe {
    /// SQLite files to serve
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Serve a file that nothing changes while it is served (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub immutable: Vec<PathBuf>,
    /// Read a file into memory at the start and serve it from there (repeatable)
    #[arg(long, value_name = "FILE")]
    pub preload: Vec<PathBuf>,
    /// Address to listen on
    #[arg(short = 'h', long, default_value = "127.0.0.1")]
    pub host: String,
    /// Port to listen on, 0 for any free one
    #[arg(short, long, default_value_t = 8001)]
    pub port: u16,
    /// A setting, or a dotted name of the configuration, and its value (repeatable)
    #[arg(short, long = "setting", num_args = 2, value_names = ["NAME", "VALUE"],
          action = ArgAction::Append, allow_hyphen_values = true)]
    pub setting: Vec<String>,
    /// Configuration file, YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Metadata file, YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    pub metadata: Option<PathBuf>,
    /// Threads that run SQL; the same as `--setting num_sql_threads N`
    #[arg(long, value_name = "N")]
    pub sql_threads: Option<usize>,
    /// How the parts of a page run: parallel, sequential or auto
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub extras: String,
    /// Threads that speak HTTP [default: one a core]
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Log a line for every request
    #[arg(long)]
    pub access_log: bool,
    /// Serve an empty in-memory database too, as /_memory
    #[arg(long)]
    pub memory: bool,
    /// Let pages of other sites read the answers
    #[arg(long)]
    pub cors: bool,
    /// Let /_memory join across all databases
    #[arg(long)]
    pub crossdb: bool,
    /// Secret that signs cookies and tokens
    #[arg(long, env = "DATASETTE_SECRET", hide_env_values = true)]
    pub secret: Option<String>,
    /// Folder with templates that go before those of the program
    #[arg(long, value_name = "FOLDER", value_parser = folder)]
    pub template_dir: Option<PathBuf>,
    /// Serve the files of a folder at /MOUNT/... (repeatable)
    #[arg(long = "static", value_name = "MOUNT:FOLDER", value_parser = mount)]
    pub statics: Vec<(String, PathBuf)>,
    /// Make files that do not exist
    #[arg(long)]
    pub create: bool,
    /// Print an address that makes whoever opens it first the actor "root"
    #[arg(long)]
    pub root: bool,
    /// List all settings and stop
    #[arg(long)]
    pub help_settings: bool,
}

/// A folder that is there.
fn folder(word: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(word);
    if path.is_dir() {
        Ok(path)
    } else {
        Err("there is no such folder".to_owned())
    }
}

/// `mount:folder`. The mount is a path without slashes around it.
fn mount(word: &str) -> Result<(String, PathBuf), String> {
    let (mount, path) = word
        .split_once(':')
        .ok_or("MOUNT:FOLDER is expected, such as assets:static-files/")?;
    let mount = mount.trim_matches('/');
    if mount.is_empty() {
        return Err("the mount before the colon is empty".to_owned());
    }
    Ok((mount.to_owned(), folder(path)?))
}

/// Puts `serve` before the arguments when they name no command.
pub(super) fn with_command(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let named = arguments.get(1).and_then(|first| first.to_str());
    if !matches!(
        named,
        Some("serve" | "demo" | "--help" | "--version" | "-V")
    ) {
        arguments.insert(1.min(arguments.len()), "serve".into());
    }
    arguments
}

/// clap's report without its usage block: `error: …` and the tips become one line.
pub(super) fn one_line(report: &str) -> String {
    report
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.strip_prefix("error: ").unwrap_or(line))
        .collect::<Vec<_>>()
        .join("; ")
}
