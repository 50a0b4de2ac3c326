//! What does each layer of the server cost a request?
//! `cargo bench --bench ladder`, or `… -- --seconds N --rounds N`
//!
//! Rung by rung, from an actix-web that says hello to whole pages. Each server is a
//! process of its own, whose processor time is read; a client of one thread asks on
//! 8 connections over TCP and compares every answer with the first. The rungs take
//! turns, so that drift of the machine hits all of them alike; a figure is the median
//! of the rounds, a difference the median of the differences within a round.

#![expect(clippy::print_stdout, reason = "the bench reports to the terminal")]

mod client;
mod files;
mod hello;
mod report;
mod rungs;
mod servers;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use client::{Client, Question};
use report::Outcome;
use rungs::Rung;
use servers::Servers;

/// As in the server, for the rungs that this program serves itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Asked for this long before each measurement: caches fill, connections settle.
const WARM_UP: Duration = Duration::from_millis(200);

/// What was typed.
struct Options {
    /// How long a rung is measured in each round.
    duration: Duration,
    rounds: usize,
}

/// One round of one rung.
#[derive(Clone, Copy)]
struct Sample {
    /// Answers a second.
    rate: f64,
    /// Processor time of the server for one answer, in µs.
    cpu: f64,
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [hello::WORD, kind] = *words.iter().map(String::as_str).collect::<Vec<_>>() {
        hello::serve(kind)?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = read(&words)?;
    let folder = tempfile::tempdir()?;
    let servers = Servers::start(folder.path())?;
    let rungs = rungs::all();
    let mut outcomes: Vec<Outcome> = rungs.iter().map(|_| Ok(Vec::new())).collect();
    println!(
        "{} s a rung, medians of {} rounds, {} connections, {} HTTP threads",
        options.duration.as_secs_f64(),
        options.rounds,
        client::CONNECTIONS,
        servers::WORKERS,
    );
    for _ in 0..options.rounds {
        for (rung, outcome) in rungs.iter().zip(&mut outcomes) {
            if let Ok(samples) = outcome {
                match measure(rung, &servers, options.duration) {
                    Ok(sample) => samples.push(sample),
                    Err(error) => *outcome = Err(error),
                }
            }
        }
    }
    report::print(&rungs, &outcomes);
    let is_whole = outcomes.iter().all(Result::is_ok);
    Ok(ExitCode::from(u8::from(!is_whole)))
}

fn read(words: &[String]) -> Result<Options> {
    let mut options = Options {
        duration: Duration::from_secs(2),
        rounds: 3,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} takes a number"))
        };
        match word.as_str() {
            // cargo's own.
            "--bench" => {}
            "--seconds" => options.duration = Duration::try_from_secs_f64(value()?.parse()?)?,
            "--rounds" => options.rounds = value()?.parse()?,
            _ => bail!("{word}: there are --seconds N and --rounds N"),
        }
    }
    if options.rounds == 0 || options.duration.is_zero() {
        bail!("--seconds and --rounds take more than 0");
    }
    Ok(options)
}

/// # Errors
/// If any answer was not the expected one.
fn measure(rung: &Rung, servers: &Servers, duration: Duration) -> Result<Sample> {
    let server = servers.get(rung.site);
    let mut question = Question {
        address: server.address(),
        path: rung.path,
        if_none_match: None,
        status: rung.status,
    };
    if rung.status == 304 {
        let whole = Question {
            status: 200,
            ..question
        };
        question.if_none_match = Some(client::etag(&whole)?);
    }
    let mut client = Client::open(&question)?;
    client.run(WARM_UP)?;
    let before = server.cpu()?;
    let (answers, elapsed) = client.run(duration)?;
    let cpu = server.cpu()?.saturating_sub(before);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 answers")]
    let answers = answers as f64;
    Ok(Sample {
        rate: answers / elapsed.as_secs_f64(),
        cpu: cpu.as_secs_f64() * 1e6 / answers,
    })
}
