//! The command line, in two stages: what was typed ([`Typed`], clap's business)
//! and what it means ([`Command`], checked, with the configuration read).

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::config::{self, Config, file};
use crate::db::Source;
use crate::engine::ExtrasMode;
use crate::start::StartError;

/// Serves SQLite files as web pages and a JSON API.
#[derive(Debug, Parser)]
#[command(
    name = "turntable",
    version,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
struct Typed {
    #[command(subcommand)]
    command: TypedCommand,

    /// Print this help
    #[arg(long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
}

#[derive(Debug, Subcommand)]
enum TypedCommand {
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
struct TypedServe {
    /// SQLite files to serve
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Serve a file that nothing changes while it is served (repeatable)
    #[arg(short, long, value_name = "FILE")]
    immutable: Vec<PathBuf>,
    /// Read a file into memory at the start and serve it from there (repeatable)
    #[arg(long, value_name = "FILE")]
    preload: Vec<PathBuf>,
    /// Address to listen on
    #[arg(short = 'h', long, default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on, 0 for any free one
    #[arg(short, long, default_value_t = 8001)]
    port: u16,
    /// A setting, or a dotted name of the configuration, and its value (repeatable)
    #[arg(short, long = "setting", num_args = 2, value_names = ["NAME", "VALUE"],
          action = ArgAction::Append, allow_hyphen_values = true)]
    setting: Vec<String>,
    /// Configuration file, YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Metadata file, YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Threads that run SQL; the same as `--setting num_sql_threads N`
    #[arg(long, value_name = "N")]
    sql_threads: Option<usize>,
    /// How the parts of a page run: parallel, sequential or auto
    #[arg(long, value_name = "MODE", default_value = "auto")]
    extras: String,
    /// Threads that speak HTTP [default: one a core]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Log a line for every request
    #[arg(long)]
    access_log: bool,
    /// Serve an empty in-memory database too, as /_memory
    #[arg(long)]
    memory: bool,
    /// Let pages of other sites read the answers
    #[arg(long)]
    cors: bool,
    /// Let /_memory join across all databases
    #[arg(long)]
    crossdb: bool,
    /// Secret that signs cookies and tokens
    #[arg(long, env = "DATASETTE_SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// Make files that do not exist
    #[arg(long)]
    create: bool,
    /// Print an address that makes whoever opens it first the actor "root"
    #[arg(long)]
    root: bool,
    /// List all settings and stop
    #[arg(long)]
    help_settings: bool,
}

/// What the program is to do.
#[derive(Debug)]
pub enum Command {
    /// Print a text and stop.
    Print(String),
    /// Serve databases.
    Serve(Box<Serve>),
    /// Make a database of so many rows, then serve it with the rest.
    Demo {
        /// Rows of its table.
        rows: u64,
        /// How to serve it.
        serve: Box<Serve>,
    },
}

/// Everything that serving needs to know.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one switch of the command line"
)]
pub struct Serve {
    /// The databases, in the order in which Datasette lists them.
    pub sources: Vec<Source>,
    /// Make files that do not exist.
    pub create: bool,
    /// Address to listen on.
    pub host: String,
    /// Port to listen on, 0 for any.
    pub port: u16,
    /// Settings, metadata and options.
    pub config: Config,
    /// Parallel, sequential or by what the page costs.
    pub extras: ExtrasMode,
    /// HTTP threads; `None` for one a core.
    pub workers: Option<usize>,
    /// Log requests.
    pub access_log: bool,
    /// Send CORS headers.
    pub cors: bool,
    /// Attach the other databases to `_memory`.
    pub crossdb: bool,
    /// What signs cookies and tokens.
    pub secret: Option<String>,
    /// Let the actor `root` in.
    pub root: bool,
}

/// Reads the command line, program name first.
///
/// # Errors
/// [`StartError::Usage`] for what was typed wrong, [`StartError::Environment`]
/// for a configuration file that cannot be read.
pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, StartError> {
    let typed = match Typed::try_parse_from(with_command(arguments)) {
        Ok(typed) => typed,
        Err(error) if !error.use_stderr() => return Ok(Command::Print(error.to_string())),
        Err(error) => return Err(StartError::Usage(one_line(&error.to_string()))),
    };
    match typed.command {
        TypedCommand::Serve(typed) | TypedCommand::Demo { serve: typed, .. }
            if typed.help_settings =>
        {
            Ok(Command::Print(config::settings::help()))
        }
        TypedCommand::Serve(typed) => meant(typed, false).map(Command::Serve),
        TypedCommand::Demo { rows, serve } => Ok(Command::Demo {
            rows,
            serve: meant(serve, true)?,
        }),
    }
}

/// Puts `serve` before the arguments when they name no command.
fn with_command(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
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
fn one_line(report: &str) -> String {
    report
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.strip_prefix("error: ").unwrap_or(line))
        .collect::<Vec<_>>()
        .join("; ")
}

fn meant(typed: TypedServe, demo: bool) -> Result<Box<Serve>, StartError> {
    let config = read_config(&typed)?;
    let extras = typed.extras.parse().map_err(|_| {
        StartError::Usage(format!(
            "--extras takes parallel, sequential or auto, not {:?}",
            typed.extras
        ))
    })?;
    if typed.workers.is_some_and(|n| !(1..=512).contains(&n)) {
        return Err(StartError::Usage("--workers takes 1 to 512".to_owned()));
    }
    Ok(Box::new(Serve {
        create: typed.create,
        host: typed.host.clone(),
        port: typed.port,
        config,
        extras,
        workers: typed.workers,
        access_log: typed.access_log,
        cors: typed.cors,
        crossdb: typed.crossdb,
        secret: typed.secret.clone(),
        root: typed.root,
        sources: sources(typed, demo),
    }))
}

/// `_memory` first, then the files, the immutable ones and the preloaded ones.
fn sources(typed: TypedServe, demo: bool) -> Vec<Source> {
    let no_file =
        typed.files.is_empty() && typed.immutable.is_empty() && typed.preload.is_empty() && !demo;
    let file = |immutable| move |path| Source::File { path, immutable };
    let memory = (typed.memory || typed.crossdb || no_file).then_some(Source::Memory);
    memory
        .into_iter()
        .chain(typed.files.into_iter().map(file(false)))
        .chain(typed.immutable.into_iter().map(file(true)))
        .chain(typed.preload.into_iter().map(Source::Preload))
        .collect()
}

/// Files first, then `--setting` in the order typed, then `--sql-threads`.
fn read_config(typed: &TypedServe) -> Result<Config, StartError> {
    let file = |path: &Option<PathBuf>| match path {
        Some(path) => file::read(path).map_err(StartError::Environment),
        None => Ok(serde_json::Map::new()),
    };
    let metadata = file(&typed.metadata)?;
    let mut configured = file(&typed.config)?;
    for pair in typed.setting.chunks_exact(2) {
        let update = config::from_command_line(&pair[0], &pair[1]).map_err(StartError::Usage)?;
        file::merge(&mut configured, update);
    }
    if let Some(threads) = typed.sql_threads {
        let update = file::nest("settings.num_sql_threads", threads.into());
        file::merge(&mut configured, update);
    }
    Config::new(metadata, configured).map_err(StartError::Usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Result<Command, StartError> {
        let words = format!("turntable {line}");
        read(words.split_whitespace().map(OsString::from))
    }

    fn serve(line: &str) -> Serve {
        match typed(line) {
            Ok(Command::Serve(serve)) => *serve,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn usage(line: &str) -> String {
        match typed(line) {
            Err(StartError::Usage(text)) => text,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn serve_is_what_a_file_means() {
        for line in ["a.db -p 0", "serve a.db -p 0", "-p 0 a.db"] {
            let serve = serve(line);
            assert_eq!(serve.port, 0, "{line}");
            assert_eq!(serve.host, "127.0.0.1");
            assert!(matches!(
                serve.sources.as_slice(),
                [Source::File { path, immutable: false }] if path.as_os_str() == "a.db"
            ));
        }
    }

    #[test]
    fn h_is_the_host_and_help_is_spelled_out() {
        assert_eq!(serve("a.db -h 0.0.0.0").host, "0.0.0.0");
        for line in ["--help", "serve --help", "demo --help", "--version"] {
            assert!(matches!(typed(line), Ok(Command::Print(_))), "{line}");
        }
    }

    #[test]
    fn the_in_memory_database_comes_first_or_alone() {
        assert!(matches!(serve("").sources.as_slice(), [Source::Memory]));
        assert!(matches!(
            serve("b.db -i c.db --memory --preload d.db")
                .sources
                .as_slice(),
            [
                Source::Memory,
                Source::File {
                    immutable: false,
                    ..
                },
                Source::File {
                    immutable: true,
                    ..
                },
                Source::Preload(_)
            ]
        ));
        assert!(matches!(
            serve("b.db --crossdb").sources.as_slice(),
            [Source::Memory, Source::File { .. }]
        ));
    }

    #[test]
    fn the_last_word_on_a_setting_wins() {
        let settings = serve("a.db --setting num_sql_threads 2 -s num_sql_threads 4")
            .config
            .settings;
        assert_eq!(settings.num_sql_threads, 4);
        let settings = serve("a.db --sql-threads 8 --setting num_sql_threads 2")
            .config
            .settings;
        assert_eq!(settings.num_sql_threads, 8);
    }

    #[test]
    fn a_dotted_setting_configures_a_table() {
        let config = serve("a.db -s databases.data.tables.t.sort col").config;
        assert_eq!(config.table("data", "t").sort.as_deref(), Some("col"));
    }

    #[test]
    fn what_is_typed_wrong_is_told_in_one_line() {
        for line in [
            "a.db --nonsense",
            "a.db -p 99999",
            "a.db --setting default_page_size many",
            "a.db --setting nothing 1",
            "a.db --setting default_page_size",
            "a.db --extras sometimes",
            "a.db --workers 0",
            "demo --rows few",
        ] {
            let text = usage(line);
            assert!(!text.is_empty() && !text.contains('\n'), "{line}: {text}");
        }
        assert!(usage("a.db --setting default_page_size -5").contains("default_page_size"));
        assert!(usage("a.db --extras sometimes").contains("sequential"));
    }

    #[test]
    fn a_demo_has_rows_and_the_same_options() {
        match typed("demo --rows 10 -p 0 --extras sequential") {
            Ok(Command::Demo { rows: 10, serve }) => {
                assert_eq!(serve.port, 0);
                assert!(serve.sources.is_empty(), "its database is made first");
            }
            other => panic!("{other:?}"),
        }
    }
}
