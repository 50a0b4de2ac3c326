//! The command line, in two stages: what was typed ([`typed`], clap's business)
//! and what it means ([`meant`]: checked, with the configuration read).

mod create_token;
pub(crate) mod folder;
mod get;
mod inspect;
mod meant;
mod notes;
mod typed;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser as _;

use crate::config::{self, Config};
use crate::db::{Extension, Inspected, Source};
use crate::demo;
use crate::engine::ExtrasMode;
use crate::http::listen::{Place, TlsFiles};
use crate::reload::Watched;
use crate::start::StartError;
pub use get::Get;
pub use inspect::Inspect;
use meant::meant;
use typed::{Typed, TypedCommand, one_line, with_command};

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
    /// Print what is known of files.
    Inspect(Inspect),
}

impl Command {
    /// What is to be served; `None` for what is no serving.
    ///
    /// # Errors
    /// The demo's database cannot be made.
    pub fn into_serve(self) -> Result<Option<Serve>, StartError> {
        match self {
            Self::Serve(serve) => Ok(Some(*serve)),
            Self::Demo { rows, mut serve } => {
                serve.sources.push(demo::source(rows)?);
                Ok(Some(*serve))
            }
            Self::Print(_) | Self::Inspect(_) => Ok(None),
        }
    }
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
    /// Where to listen.
    pub place: Place,
    /// For HTTPS.
    pub tls: Option<TlsFiles>,
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
    /// Read files without heeding the locks of other programs.
    pub nolock: bool,
    /// What every connection loads.
    pub extensions: Arc<[Extension]>,
    /// What was found out before of immutable files, by the names of their databases.
    pub inspected: HashMap<String, Inspected>,
    /// What signs cookies and tokens.
    pub secret: Option<String>,
    /// Let the actor `root` in.
    pub root: bool,
    /// Folder with templates that go before those of the program.
    pub template_dir: Option<PathBuf>,
    /// Folders whose files are served, each with the path it is served at, without slashes around it.
    pub statics: Vec<(String, PathBuf)>,
    /// Open a browser.
    pub open: bool,
    /// Answer this request and stop, instead of serving.
    pub get: Option<Get>,
    /// What to tell at the start, a sentence each.
    pub notes: Vec<String>,
    /// `--reload`: the files whose changes count.
    pub watched: Option<Watched>,
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
        TypedCommand::Inspect(typed) => Ok(Command::Inspect(Inspect::meant(typed))),
        TypedCommand::CreateToken(typed) => Ok(Command::Print(typed.run())),
        TypedCommand::Plugins(_) => Ok(Command::Print("[]\n".to_owned())),
        TypedCommand::Install(_) => no_command("install", "there are no plugins to install"),
        TypedCommand::Uninstall(_) => no_command("uninstall", "there are no plugins"),
        TypedCommand::Publish(_) => no_command("publish", PUBLISH),
        TypedCommand::Package(_) => no_command("package", PUBLISH),
    }
}

/// What to do instead of `publish` and `package`.
const PUBLISH: &str = "put the program and the files into a container, and run it there";

/// A command that Datasette has and Turntable has not.
fn no_command(name: &str, why: &str) -> Result<Command, StartError> {
    Err(StartError::Usage(format!(
        "there is no command {name}: {why}"
    )))
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
            assert_eq!(serve.place.to_string(), "127.0.0.1:0", "{line}");
            assert!(matches!(
                serve.sources.as_slice(),
                [Source::File { path, immutable: false }] if path.as_os_str() == "a.db"
            ));
        }
    }

    #[test]
    fn h_is_the_host_and_help_is_spelled_out() {
        assert_eq!(serve("a.db -h 0.0.0.0").place.to_string(), "0.0.0.0:8001");
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
    fn what_is_given_twice_counts_the_second_time_or_adds_up() {
        let serve = serve("a.db -p 1 --port 2 --cors --cors -i b.db -i c.db --secret x --secret y");
        assert_eq!(
            (serve.place.to_string().as_str(), serve.cors),
            ("127.0.0.1:2", true)
        );
        assert_eq!(serve.secret.as_deref(), Some("y"));
        assert_eq!(serve.sources.len(), 3);
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
            "install datasette-x --upgrade",
            "publish cloudrun a.db --service x",
            "a.db --headers",
            "a.db --token x",
            "a.db --get / --actor []",
        ] {
            let text = usage(line);
            assert!(!text.is_empty() && !text.contains('\n'), "{line}: {text}");
        }
        assert!(usage("a.db --setting default_page_size -5").contains("default_page_size"));
        assert!(usage("a.db --extras sometimes").contains("sequential"));
    }

    #[test]
    fn a_folder_to_serve_has_a_mount() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().display();
        let serve = serve(&format!("--static /a/b/:{path} --template-dir {path}"));
        assert_eq!(
            serve.statics,
            [("a/b".to_owned(), folder.path().to_owned())]
        );
        assert_eq!(serve.template_dir.as_deref(), Some(folder.path()));
        for line in [
            "--static assets",
            "--static assets:/no/such/folder",
            "--static :.",
            "--template-dir /no/such/folder",
        ] {
            assert!(!usage(line).contains('\n'), "{line}");
        }
    }

    #[test]
    fn what_has_no_effect_is_noted() {
        let notes = serve("a.db --plugins-dir p --internal i.db --pdb").notes;
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes[0].contains("plugins") && notes[1].contains("i.db"));
        assert!(serve("a.db").notes.is_empty());
    }

    #[test]
    fn one_request_is_asked_with_what_belongs_to_it() {
        let get = serve(r#"a.db --get t.json --headers --actor {"id":"x"}"#).get;
        let get = get.expect("a request");
        assert_eq!((get.path.as_str(), get.headers), ("/t.json", true));
        assert_eq!(get.actor.and_then(|actor| actor.id()).as_deref(), Some("x"));
        assert_eq!(serve("a.db").get, None);
    }

    #[test]
    fn files_are_inspected() {
        match typed("inspect a.db b.db --inspect-file out.json") {
            Ok(Command::Inspect(inspect)) => {
                assert_eq!(inspect.files.len(), 2);
                assert_eq!(inspect.out, Some("out.json".into()));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_demo_has_rows_and_the_same_options() {
        match typed("demo --rows 10 -p 0 --extras sequential") {
            Ok(Command::Demo { rows: 10, serve }) => {
                assert_eq!(serve.place.to_string(), "127.0.0.1:0");
                assert!(serve.sources.is_empty(), "its database is made first");
            }
            other => panic!("{other:?}"),
        }
    }
}
