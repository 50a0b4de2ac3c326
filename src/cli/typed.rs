//! What was typed: clap reads the words, and refuses those that can't mean anything.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

use super::create_token::CreateToken;
use crate::db::Extension;

/// Serves SQLite files as web pages and a JSON API.
#[derive(Debug, Parser)]
#[command(
    name = "turntable",
    version,
    args_override_self = true,
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
    #[command(disable_help_flag = true, args_override_self = true)]
    Serve(TypedServe),
    /// Make a large database and serve it
    #[command(disable_help_flag = true, args_override_self = true)]
    Demo {
        /// Rows of the table
        #[arg(long, default_value_t = 500_000, value_name = "N")]
        rows: u64,
        #[command(flatten)]
        serve: TypedServe,
    },
    /// Count the rows of all tables of files, for --inspect-file
    #[command(disable_help_flag = true, args_override_self = true)]
    Inspect(TypedInspect),
    /// Make a signed API token for an actor
    #[command(disable_help_flag = true, args_override_self = true)]
    CreateToken(CreateToken),
    /// List the plugins: there are none
    #[command(disable_help_flag = true)]
    Plugins(Rest),
    #[command(disable_help_flag = true, hide = true)]
    Install(Rest),
    #[command(disable_help_flag = true, hide = true)]
    Uninstall(Rest),
    #[command(disable_help_flag = true, hide = true)]
    Publish(Rest),
    #[command(disable_help_flag = true, hide = true)]
    Package(Rest),
}

/// The names of the commands, and what else may stand in the place of one.
const FIRST_WORDS: [&str; 12] = [
    "serve",
    "demo",
    "inspect",
    "create-token",
    "plugins",
    "install",
    "uninstall",
    "publish",
    "package",
    "--help",
    "--version",
    "-V",
];

/// Whatever follows a command that Turntable does not have.
#[derive(Debug, Args)]
pub(super) struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct TypedInspect {
    /// SQLite files to read
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write to this file instead of printing
    #[arg(long, value_name = "FILE")]
    pub inspect_file: Option<PathBuf>,
    /// SQLite extension to load (repeatable)
    #[arg(long, value_name = "PATH[:ENTRYPOINT]")]
    pub load_extension: Vec<Extension>,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one switch of the command line"
)]
pub(super) struct TypedServe {
    /// SQLite files to serve, or a folder with such files and their configuration
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
    /// Listen on a Unix socket instead
    #[arg(long, value_name = "PATH")]
    pub uds: Option<PathBuf>,
    /// Certificate for HTTPS, in PEM
    #[arg(long, value_name = "FILE")]
    pub ssl_certfile: Option<PathBuf>,
    /// Private key of the certificate, in PEM [default: in the certificate's file]
    #[arg(long, value_name = "FILE")]
    pub ssl_keyfile: Option<PathBuf>,
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
    /// Read the configuration, the metadata and the templates anew when their files change
    #[arg(long)]
    pub reload: bool,
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
    #[arg(
        long,
        value_name = "PATH[:ENTRYPOINT]",
        help = "SQLite extension to load (repeatable) [env: DATASETTE_LOAD_EXTENSION=]"
    )]
    pub load_extension: Vec<Extension>,
    /// Read files that other programs have locked, without heeding the locks
    #[arg(long)]
    pub nolock: bool,
    /// Counts and hashes of immutable files, as `turntable inspect` writes them
    #[arg(long, value_name = "FILE")]
    pub inspect_file: Option<PathBuf>,
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
    /// Allow nobody anything that no rule allows
    #[arg(long)]
    pub default_deny: bool,
    /// Answer one request for this path, print the answer and stop
    #[arg(long, value_name = "PATH")]
    pub get: Option<String>,
    /// Print status and headers of the answer too; with --get
    #[arg(long)]
    pub headers: bool,
    /// Send this API token; with --get
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Ask as this actor, a JSON object; with --get
    #[arg(long, value_name = "JSON")]
    pub actor: Option<String>,
    /// Text for /-/versions
    #[arg(long, value_name = "TEXT")]
    pub version_note: Option<String>,
    /// Open the site in a browser
    #[arg(short, long)]
    pub open: bool,
    /// List all settings and stop
    #[arg(long)]
    pub help_settings: bool,
    /// Accepted for Datasette's sake: there are no plugins
    #[arg(long, value_name = "FOLDER")]
    pub plugins_dir: Option<PathBuf>,
    /// Accepted for Datasette's sake: no internal database is kept
    #[arg(long, value_name = "FILE")]
    pub internal: Option<PathBuf>,
    /// Accepted for Datasette's sake: there is no Python debugger
    #[arg(long)]
    pub pdb: bool,
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
    if !named.is_some_and(|word| FIRST_WORDS.contains(&word)) {
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
