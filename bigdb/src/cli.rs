//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Generates large databases, stresses a server with them and measures it.
#[derive(Debug, Parser)]
#[command(name = "bigdb", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a generated database: a wide table of events and what it points to
    Generate(GenerateArgs),
    /// Send many requests at once and compare every response with the first
    Stress(StressArgs),
    /// Measure wall and CPU time of four pages for each way of running extras
    Experiment(ExperimentArgs),
    /// Measure ten SQL queries at once against the same ten one by one
    Gather(GatherArgs),
    /// Show how the time of a page grows with rows, columns, facets and connections
    Scale(ScaleArgs),
    /// Change a database without rest until stdin closes (the writer of `stress --write`)
    #[command(hide = true)]
    Writer {
        /// The database
        path: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Rows of the table `events`
    #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    pub rows: u64,
    /// Where the random numbers start; equal seeds give equal files
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The file to write; a generated one is replaced
    pub out: PathBuf,
}

/// How a command starts the server that it drives.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// The server's binary [default: `turntable` beside this one, in target/release or on PATH]
    #[arg(long, value_name = "PATH")]
    pub server: Option<PathBuf>,
    /// A setting of the server, after those that the command sets itself (repeatable)
    #[arg(long = "setting", num_args = 2, value_names = ["NAME", "VALUE"], allow_hyphen_values = true)]
    pub settings: Vec<String>,
    /// Rows of the largest table
    #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(100..=u64::from(u32::MAX)))]
    pub rows: u64,
}

#[derive(Debug, Args)]
pub struct StressArgs {
    /// Requests to each server
    #[arg(long, default_value_t = 800)]
    pub requests: usize,
    /// Requests that are under way at the same time
    #[arg(long, default_value_t = 16, value_parser = at_least_one)]
    pub in_flight: usize,
    /// Ways of running extras, one server each
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "parallel,sequential,auto"
    )]
    pub modes: Vec<Extras>,
    /// Numbers of SQL threads, one server each
    #[arg(long, value_delimiter = ',', default_value = "1,3,8", value_parser = at_least_one)]
    pub sql_threads: Vec<usize>,
    /// Let another process write meanwhile, and check what must hold of every page
    #[arg(long, conflicts_with_all = ["url", "pages"])]
    pub write: bool,
    /// Stress a running server instead of starting any;
    /// without --page it has to serve small.db, big.db and mem.db of `bigdb generate`
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// A path with its query to ask for instead of the built-in ones (repeatable)
    #[arg(long = "page", value_name = "PATH")]
    pub pages: Vec<String>,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Ways of running extras
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "parallel,sequential,auto"
    )]
    pub modes: Vec<Extras>,
    /// Numbers of SQL threads
    #[arg(long, value_delimiter = ',', default_value = "1,3,8", value_parser = at_least_one)]
    pub sql_threads: Vec<usize>,
    /// Rounds; each measures every cell once
    #[arg(long, default_value_t = 5, value_parser = at_least_one)]
    pub rounds: usize,
    /// Milliseconds that a cell is measured for in each round
    #[arg(long, default_value_t = 500, value_name = "MS")]
    pub cell_ms: u64,
    /// Two rounds of 100 ms with 1 and 3 SQL threads
    #[arg(long, conflicts_with_all = ["rounds", "cell_ms", "sql_threads"])]
    pub quick: bool,
    /// Ask for the same URLs again and again, and so measure the server's caches; without it
    /// each request carries a filter of its own that holds for every row (id__gte=-N)
    #[arg(long)]
    pub repeat: bool,
    /// Write the numbers to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw the numbers as charts
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
pub struct GatherArgs {
    /// Numbers of SQL threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,3,8", value_parser = at_least_one)]
    pub sql_threads: Vec<usize>,
    /// Queries that are sent at once
    #[arg(long, default_value_t = 10, value_parser = at_least_one)]
    pub queries: usize,
    /// Rounds of each
    #[arg(long, default_value_t = 7, value_parser = at_least_one)]
    pub rounds: usize,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
pub struct ScaleArgs {
    /// What to let grow (repeatable) [default: all four]
    #[arg(long = "axis", value_name = "AXIS", value_delimiter = ',')]
    pub axes: Vec<Axis>,
    /// Largest table of the axis of rows, which are powers of ten from 10,000;
    /// --rows is the table of the axes of facets and connections
    #[arg(long, default_value_t = 1_000_000, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(10_000..=u64::from(u32::MAX)))]
    pub max_rows: u64,
    /// Requests whose median is a page's time, each after one that does not count
    #[arg(long, default_value_t = 7, value_parser = at_least_one)]
    pub samples: usize,
    /// Seconds that each number of connections is kept busy
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub seconds: u64,
    /// Leave the server's cache of results on, which is off otherwise
    /// (`result_cache_mb` 0)
    #[arg(long)]
    pub cached: bool,
    /// The server's number of SQL threads
    #[arg(long, default_value_t = 3, value_parser = at_least_one)]
    pub sql_threads: usize,
    /// The server's way of running extras
    #[arg(long, default_value = "auto")]
    pub extras: Extras,
    /// Keep the databases here and use those of the right size that are here already
    /// [default: a temporary folder that goes away]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Write the numbers to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw a chart for each axis, AXIS.svg, in a folder
    #[arg(long, value_name = "FOLDER")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What grows while the time of a page is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Axis {
    /// Rows of the table
    Rows,
    /// Columns of the table
    Columns,
    /// Facets of the page
    Facets,
    /// Connections that ask at the same time
    Connections,
}

impl Axis {
    pub const ALL: [Axis; 4] = [Axis::Rows, Axis::Columns, Axis::Facets, Axis::Connections];

    pub fn name(self) -> &'static str {
        match self {
            Axis::Rows => "rows",
            Axis::Columns => "columns",
            Axis::Facets => "facets",
            Axis::Connections => "connections",
        }
    }
}

/// The server's `--extras`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Extras {
    Parallel,
    Sequential,
    Auto,
}

impl Extras {
    pub fn name(self) -> &'static str {
        match self {
            Extras::Parallel => "parallel",
            Extras::Sequential => "sequential",
            Extras::Auto => "auto",
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be 1 or more".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let cli = Cli::parse_from([
            "bigdb",
            "stress",
            "--modes",
            "auto,parallel",
            "--sql-threads",
            "2,4",
        ]);
        let Command::Stress(args) = cli.command else {
            panic!("{cli:?}")
        };
        assert_eq!(args.modes, [Extras::Auto, Extras::Parallel]);
        assert_eq!(args.sql_threads, [2, 4]);
        assert_eq!((args.requests, args.in_flight), (800, 16));
    }

    #[test]
    fn axes_are_repeated_or_listed() {
        let axes = |line: &[&str]| {
            let words = ["bigdb", "scale"].iter().chain(line);
            let cli = Cli::parse_from(words);
            let Command::Scale(args) = cli.command else {
                panic!("{cli:?}")
            };
            args.axes
        };
        assert_eq!(axes(&[]), []);
        assert_eq!(
            axes(&["--axis", "facets", "--axis", "rows"]),
            [Axis::Facets, Axis::Rows]
        );
        assert_eq!(
            axes(&["--axis", "rows,connections"]),
            [Axis::Rows, Axis::Connections]
        );
        for axis in Axis::ALL {
            assert_eq!(axes(&["--axis", axis.name()]), [axis]);
        }
        assert!(Cli::try_parse_from(["bigdb", "scale", "--axis", "depth"]).is_err());
    }

    #[test]
    fn a_scale_run_has_defaults_and_takes_what_is_the_servers() {
        let line = "bigdb scale --cached --extras sequential --setting max_pages 4 --seconds 1";
        let cli = Cli::parse_from(line.split(' '));
        let Command::Scale(args) = cli.command else {
            panic!("{cli:?}")
        };
        assert_eq!((args.samples, args.max_rows), (7, 1_000_000));
        assert_eq!((args.sql_threads, args.extras), (3, Extras::Sequential));
        assert_eq!((args.server.rows, args.seconds), (500_000, 1));
        assert!(args.cached && args.folder.is_none());
        assert_eq!(args.server.settings, ["max_pages", "4"]);
    }

    #[test]
    fn none_of_a_thing_is_refused() {
        for line in [
            ["stress", "--in-flight", "0"],
            ["generate", "--rows", "0"],
            ["gather", "--sql-threads", "1,0"],
            ["scale", "--samples", "0"],
            ["scale", "--max-rows", "9999"],
        ] {
            assert!(
                Cli::try_parse_from(["bigdb"].into_iter().chain(line)).is_err(),
                "{line:?}"
            );
        }
    }
}
