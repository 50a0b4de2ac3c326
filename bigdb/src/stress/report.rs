//! Collects what went wrong with one server and prints it.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;

use crate::server::Server;

/// Failures that are printed in full; the others are counted.
const SHOWN: usize = 10;

/// What went wrong so far; clients on many threads add to it.
#[derive(Default)]
pub struct Report {
    failures: Mutex<Vec<String>>,
}

impl Report {
    pub fn add(&self, path: &str, what: &str) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.push(format!("{path}\n    {what}"));
    }

    /// Prints one line and then the failures; how many there are. `note` ends
    /// the line.
    pub fn write(
        self,
        out: &mut dyn Write,
        label: &str,
        requests: usize,
        elapsed: Duration,
        note: &str,
    ) -> Result<usize> {
        let failures = self
            .failures
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let seconds = elapsed.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let rate = requests as f64 / seconds.max(1e-9);
        let count = failures.len();
        writeln!(
            out,
            "{label}: {requests} requests in {seconds:.1} s, {rate:.0} a second, {}{note}",
            counted(count, "failure")
        )?;
        for failure in failures.iter().take(SHOWN) {
            writeln!(out, "  {failure}")?;
        }
        if count > SHOWN {
            writeln!(out, "  and {} more", count - SHOWN)?;
        }
        out.flush()?;
        Ok(count)
    }
}

/// Such as "1 failure" and "2 failures".
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Stops the server; 1 if it does not end well.
pub fn stop(server: Server, out: &mut dyn Write) -> Result<usize> {
    match server.stop() {
        Ok(()) => Ok(0),
        Err(error) => {
            writeln!(out, "  {error:#}")?;
            Ok(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_printed_up_to_a_limit() {
        let report = Report::default();
        for number in 0..12 {
            report.add("/a/b", &format!("wrong {number}"));
        }
        let mut out = Vec::new();
        let count = report
            .write(&mut out, "auto", 100, Duration::from_secs(2), "")
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(count, 12);
        assert!(text.starts_with("auto: 100 requests in 2.0 s, 50 a second, 12 failures\n"));
        assert!(
            text.contains("wrong 9") && !text.contains("wrong 10"),
            "{text}"
        );
        assert!(text.ends_with("and 2 more\n"));
    }
}
