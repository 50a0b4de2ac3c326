//! Answers one request again and again, to have the instructions of it counted:
//! `.ci/instructions` runs this under Valgrind with one answer and with N more. The
//! difference is N answers on all threads, without the start of the program.
//!
//! `cargo bench --bench instructions` sees that each request is answered;
//! `… -- NAME N` answers one of them once and N times more, `… -- --list` prints each
//! NAME with an N that is large enough: hash seeds differ a run, and the start with them.
//!
//! A request goes through actix-web's service, not through a socket. One thread speaks
//! HTTP and one runs SQL.

#![expect(clippy::print_stdout, reason = "the bench reports to the terminal")]

use std::path::Path;
use std::sync::Arc;

use actix_web::rt::System;
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::{HttpRequest, web};
use turntable::cli::{self, Command};
use turntable::http::App;
use turntable::http::app::handle;
use turntable::start;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SQL: &str = "
    create table category (id integer primary key, name text not null);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 12)
        insert into category select i, 'category ' || i from n;
    create table item (
        id integer primary key, name text not null, category_id integer references category(id),
        price real, stock integer, note text, added text
    );
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
        insert into item select i, 'item ' || i, i * 7919 % 12 + 1, i * 37 % 9973 / 100.0,
            i * 31 % 97, iif(i % 5, 'note & remark <' || i * i || '>', null),
            date('2020-01-01', i % 1461 || ' days') from n;";

/// Enough for the slowest machine, emulated: no answer may be cut short.
const LIMITS: [&str; 3] = [
    "sql_time_limit_ms",
    "facet_time_limit_ms",
    "facet_suggest_time_limit_ms",
];

/// A request that is counted.
struct Counted {
    name: &'static str,
    path: &'static str,
    status: u16,
    /// Whether answers are kept.
    is_cached: bool,
    /// Answers that make differences between two starts small beside theirs.
    times: u32,
}

const REQUESTS: [Counted; 6] = [
    counted("actor.json", "/-/actor.json", 200, true, 2_000),
    counted("redirect", "/-", 301, true, 2_000),
    counted("json-cached", "/data/item.json", 200, true, 1_000),
    counted("html", "/data/item", 200, false, 20),
    counted("json-facet", "/data/item.json?_facet=stock", 200, false, 20),
    counted("csv", "/data/item.csv?_size=max", 200, false, 20),
];

const fn counted(
    name: &'static str,
    path: &'static str,
    status: u16,
    is_cached: bool,
    times: u32,
) -> Counted {
    Counted {
        name,
        path,
        status,
        is_cached,
        times,
    }
}

fn main() {
    // `cargo bench` adds one of its own.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => {
            for request in &REQUESTS {
                let bytes = answer(request, 3);
                println!("{:12} {bytes:>7} bytes  {}", request.name, request.path);
            }
            println!(".ci/instructions counts what they take");
        }
        ["--list"] => {
            for request in &REQUESTS {
                println!("{} {}", request.name, request.times);
            }
        }
        [name, times] => {
            let request = REQUESTS.iter().find(|request| request.name == name);
            let times = times.parse().expect("a number of answers");
            answer(request.expect("a name that --list prints"), times);
        }
        _ => panic!("one name and how many answers, --list, or nothing"),
    }
}

/// Answers a request `times` times after a first one that fills caches; the
/// bytes of its body.
fn answer(request: &Counted, times: u32) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data.db");
    fill(&file);
    let app = Arc::new(open(&file, request.is_cached));
    System::new().block_on(async {
        let pages = web::to(move |http: HttpRequest| handle(Arc::clone(&app), http));
        let service = init_service(actix_web::App::new().default_service(pages)).await;
        let mut first = None;
        for _ in 0..=times {
            let asked = TestRequest::with_uri(request.path).to_request();
            let response = call_service(&service, asked).await;
            assert_eq!(response.status(), request.status, "{}", request.path);
            let bytes = read_body(response).await.len();
            assert_eq!(*first.get_or_insert(bytes), bytes, "{}", request.path);
        }
        first.unwrap_or_default()
    })
}

fn fill(file: &Path) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the bench makes its own database"
    )]
    let connection = rusqlite::Connection::open(file).expect("a database");
    connection.execute_batch(SQL).expect("rows");
}

/// The program as it is started for one file, but for its threads.
fn open(file: &Path, is_cached: bool) -> App {
    let mut words = vec!["turntable".into(), file.into()];
    words.extend(["--sql-threads", "1", "--extras", "sequential"].map(Into::into));
    for limit in LIMITS {
        words.extend(["--setting", limit, "600000"].map(Into::into));
    }
    if !is_cached {
        words.extend(["--setting", "result_cache_mb", "0"].map(Into::into));
    }
    let Ok(Command::Serve(serve)) = cli::read(words) else {
        panic!("a command line that serves");
    };
    start::open(*serve).expect("an app")
}
