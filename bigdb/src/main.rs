//! `bigdb`: generates large databases, stresses a server with them and measures it.
//!
//! Exit codes: 0 when all went well, 1 on a failure, 2 on wrong usage.

mod cli;
mod client;
mod connection;
mod databases;
mod experiment;
mod gather;
mod load;
mod scale;
mod server;
mod statistics;
mod stress;
mod svg;
mod text_table;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use cli::{Cli, Command, GenerateArgs};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.command, &mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nobody is left to tell if stderr is closed.
            let _ = writeln!(io::stderr(), "bigdb: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// True if nothing was found to be wrong.
fn run(command: &Command, out: &mut dyn Write) -> Result<bool> {
    match command {
        Command::Generate(args) => generate(args, out).map(|()| true),
        Command::Stress(args) => stress::run(args, out),
        Command::Experiment(args) => experiment::run(args, out).map(|()| true),
        Command::Gather(args) => gather::run(args, out).map(|()| true),
        Command::Scale(args) => scale::run(args, out),
        Command::Writer { path } => stress::writer::run(path, out).map(|()| true),
    }
}

fn generate(args: &GenerateArgs, out: &mut dyn Write) -> Result<()> {
    let bar = progress_bar(args.rows, "rows");
    let options = bigdb::Options {
        rows: args.rows,
        seed: args.seed,
    };
    let summary = bigdb::generate(&args.out, &options, &mut |rows| bar.set_position(rows))?;
    bar.finish_and_clear();
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    let (rate, megabytes) = (
        summary.rows as f64 / summary.elapsed.as_secs_f64(),
        summary.bytes as f64 / 1e6,
    );
    writeln!(
        out,
        "{}: {} rows, {megabytes:.1} MB, {:.2} s, {rate:.0} rows/s",
        args.out.display(),
        summary.rows,
        summary.elapsed.as_secs_f64(),
    )?;
    Ok(())
}

/// A bar on stderr, which hides itself when that is no terminal.
fn progress_bar(length: u64, unit: &str) -> ProgressBar {
    let template = format!("{{bar:40}} {{human_pos}} of {{human_len}} {unit}, {{eta}} left");
    let bar = ProgressBar::new(length);
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
