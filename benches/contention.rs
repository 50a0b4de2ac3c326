//! Do two threads get in each other's way inside SQLite?
//! `cargo bench --bench contention`
//!
//! Small queries by key, on one thread and on two with a connection each; in
//! autocommit, where each query takes and gives back SQLite's lock on the
//! database, and inside one read transaction a connection. What is left to
//! contend for when both threads have their own connection is process-wide:
//! SQLite's page-cache mutex and its allocation statistics, both of which
//! `.cargo/config.toml` builds without, and the allocator of the system.
//!
//! To see what those flags do, build once without them, in a folder of its own:
//! `LIBSQLITE3_FLAGS=-DSQLITE_ENABLE_SNAPSHOT cargo bench --bench contention --target-dir target/default-flags`

#![expect(clippy::print_stdout, reason = "the bench reports to the terminal")]

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use rusqlite::{Connection, OpenFlags};

const ROWS: u32 = 20_000;
const QUERIES: u32 = 400_000;
const ROUNDS: usize = 7;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.db");
    fill(&path);
    println!(
        "{QUERIES} queries by key a thread, median of {ROUNDS} rounds; SQLite {}",
        rusqlite::version()
    );
    println!("flags: {}", flags(&path));
    println!(
        "{:32} {:>14} {:>14} {:>8}",
        "", "1 thread /s", "2 threads /s", "ratio"
    );
    for (name, transaction) in [("autocommit", false), ("inside one read transaction", true)] {
        let mut alone = Vec::new();
        let mut together = Vec::new();
        // In turns, so that a disturbance hits both.
        for _ in 0..ROUNDS {
            alone.push(rate(&path, 1, transaction));
            together.push(rate(&path, 2, transaction));
        }
        let (alone, together) = (median(alone), median(together));
        println!(
            "{name:32} {alone:>14.0} {together:>14.0} {:>8.2}",
            together / alone
        );
    }
}

fn fill(path: &Path) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the bench makes its own database"
    )]
    let connection = Connection::open(path).expect("a database");
    connection
        .execute_batch(&format!(
            "pragma journal_mode = wal;
             create table t (id integer primary key, name text, score integer);
             with recursive c(x) as (select 1 union all select x + 1 from c where x < {ROWS})
             insert into t select x, 'row number ' || x, x % 97 from c;"
        ))
        .expect("rows");
}

/// The compile options that matter here.
fn flags(path: &Path) -> String {
    let connection = open(path);
    let mut statement = connection
        .prepare("pragma compile_options")
        .expect("a pragma");
    let options: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .expect("options")
        .map_while(Result::ok)
        .collect();
    ["ENABLE_MEMORY_MANAGEMENT", "DEFAULT_MEMSTATUS=0"]
        .iter()
        .map(|flag| {
            let there = options.iter().any(|option| option == flag);
            format!("{flag} {}", if there { "yes" } else { "no" })
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn open(path: &Path) -> Connection {
    #[expect(
        clippy::disallowed_methods,
        reason = "the bench measures SQLite without our pool"
    )]
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    );
    connection.expect("a connection")
}

/// Queries a second, of all threads together.
fn rate(path: &Path, threads: u32, transaction: bool) -> f64 {
    let start = Barrier::new(threads as usize + 1);
    let seconds = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|n| {
                let start = &start;
                scope.spawn(move || {
                    let connection = open(path);
                    if transaction {
                        connection.execute_batch("begin").expect("begun");
                    }
                    let mut statement = connection
                        .prepare("select name, score from t where id = ?")
                        .expect("a statement");
                    start.wait();
                    let mut sum = 0_i64;
                    for i in 0..QUERIES {
                        let id = (i * 7919 + n * 31) % ROWS + 1;
                        sum += statement
                            .query_row([id], |row| row.get::<_, i64>(1))
                            .expect("a row");
                    }
                    sum
                })
            })
            .collect();
        start.wait();
        let began = Instant::now();
        let sum: i64 = workers
            .into_iter()
            .map(|worker| worker.join().expect("a thread"))
            .sum();
        assert!(sum > 0);
        began.elapsed().as_secs_f64()
    });
    f64::from(threads * QUERIES) / seconds
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
