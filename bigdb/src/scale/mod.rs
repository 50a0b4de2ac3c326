//! How the time of a page grows: with the rows and columns of its table, with its
//! facets, and with the connections that ask.
//!
//! A server of its own runs for each axis, without its cache of results unless that
//! is asked for. The exponent of each series says whether it is flat or linear; see
//! [`fit`] for the bounds.

mod chart;
mod clients;
mod connections;
mod files;
mod fit;
mod latency;
mod log_scale;
mod plot;
mod report;
mod results;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cli::{Axis, ScaleArgs};
use crate::server::{Launch, NO_CACHE, Server};

use files::Files;
use results::{AxisResults, Setup};

/// Long enough for a facet over the largest table.
const SETTINGS: [[&str; 2]; 2] = [
    ["facet_time_limit_ms", "120000"],
    ["sql_time_limit_ms", "120000"],
];

/// What every axis is measured with.
struct Bench<'a> {
    args: &'a ScaleArgs,
    files: Files,
}

impl Bench<'_> {
    fn start(&self, files: &[PathBuf]) -> Result<Server> {
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let mut settings = SETTINGS.to_vec();
        if !self.args.cached {
            settings.push(NO_CACHE);
        }
        Server::start(&Launch {
            args: &self.args.server,
            files: &files,
            preload: &[],
            sql_threads: self.args.sql_threads,
            extras: self.args.extras,
            settings: &settings,
        })
    }
}

/// True if every request was answered, or turned away with 503; a shape that is not
/// the expected one is only printed.
pub fn run(args: &ScaleArgs, out: &mut dyn Write) -> Result<bool> {
    let bench = Bench {
        args,
        files: Files::new(args.folder.as_deref())?,
    };
    let setup = Setup {
        sql_threads: args.sql_threads,
        extras: args.extras.name(),
        is_cached: args.cached,
        samples: args.samples,
    };
    writeln!(out, "{}", setup.sentence())?;
    let mut measured = Vec::new();
    for axis in axes(args) {
        let results = match axis {
            Axis::Rows => latency::rows(&bench)?,
            Axis::Columns => latency::columns(&bench)?,
            Axis::Facets => latency::facets(&bench)?,
            Axis::Connections => connections::run(&bench)?,
        };
        report::write(&results, out)?;
        measured.push(results);
        // After each axis: what is there stays if a later one fails.
        save(args, &setup, &measured)?;
    }
    Ok(measured.iter().all(|results| results.error_count == 0))
}

/// Those that were asked for, each once; all if none was.
fn axes(args: &ScaleArgs) -> Vec<Axis> {
    let wanted = |axis: &Axis| args.axes.is_empty() || args.axes.contains(axis);
    Axis::ALL.into_iter().filter(wanted).collect()
}

fn save(args: &ScaleArgs, setup: &Setup, measured: &[AxisResults]) -> Result<()> {
    if let Some(path) = &args.json {
        write_file(
            path,
            &serde_json::to_string_pretty(&setup.to_json(measured))?,
        )?;
    }
    if let (Some(folder), Some(results)) = (&args.svg, measured.last()) {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(format!("{}.svg", results.axis.name()));
        write_file(&path, &chart::draw(results, setup))?;
    }
    Ok(())
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
