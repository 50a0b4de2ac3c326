//! Starts the program as its users do and speaks HTTP with it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything here may take: what runs into it has hung.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the program signs with.
const SECRET: &str = "case-secret";
/// The cookie of the actor `root`, as itsdangerous signs it with [`SECRET`].
pub const ROOT: &str = "ds_actor=eyJhIjp7ImlkIjoicm9vdCJ9fQ.T2ii4TSqJIm-RJA0wacrcfcma4I";

/// What is to be served: a folder with files, and the command line.
pub struct Site {
    folder: TempDir,
    args: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Site {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            args: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// A site that serves `data.db`, made from `sql`.
    pub fn of(sql: &str) -> Self {
        Self::new().database("data", sql)
    }

    /// Adds a database made from `sql`.
    pub fn database(self, name: &str, sql: &str) -> Self {
        let path = self.make(name, sql);
        self.args(&[&path])
    }

    /// Adds a database that is served with `-i`.
    pub fn immutable(self, name: &str, sql: &str) -> Self {
        let path = self.make(name, sql);
        self.args(&["-i", &path])
    }

    /// Makes the file without serving it. Returns its path.
    pub fn make(&self, name: &str, sql: &str) -> String {
        let path = self.path(&format!("{name}.db"));
        let connection = open(&path);
        connection.execute_batch(sql).unwrap();
        // SQLite makes no file for a database that nothing is in.
        connection.execute_batch("vacuum").unwrap();
        path.display().to_string()
    }

    /// Writes a file. Returns its path.
    pub fn write(&self, file: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(file);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// Adds words to the command line.
    pub fn args(mut self, words: &[&str]) -> Self {
        self.args.extend(words.iter().map(|&word| word.to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds `--setting NAME VALUE`.
    pub fn setting(self, name: &str, value: &str) -> Self {
        self.args(&["--setting", name, value])
    }

    /// Writes a configuration file and names it on the command line.
    pub fn config(self, config: &Value) -> Self {
        let path = self.write("config.json", config.to_string());
        self.args(&["--config", &path])
    }

    /// The path of a file of this site.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Starts the program and waits until it listens.
    pub fn start(self) -> Server {
        Server::start(self)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turntable"));
        command
            .args(&self.args)
            .current_dir(self.folder.path())
            .env_remove("RUST_LOG")
            .env_remove("TURNTABLE_LOG")
            .env("DATASETTE_SECRET", SECRET)
            .env_remove("DATASETTE_LOAD_EXTENSION")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the program with no port of its own and gives its first line.
    pub fn spawn(&self) -> (Running, String) {
        let mut child = self.command().spawn().unwrap();
        let (line, _) = first_lines(child.stdout.take().unwrap(), 1);
        (Running(child), line)
    }

    /// Runs the program where it should stop by itself.
    pub fn run_to_end(&self) -> Ended {
        self.run_with(&[])
    }

    /// The same with more words on the command line.
    pub fn run_with(&self, words: &[&str]) -> Ended {
        let mut child = self.command().args(words).spawn().unwrap();
        let code = wait(&mut child).expect("the program did not stop by itself");
        let read = |pipe: &mut dyn std::io::Read| {
            let mut text = String::new();
            pipe.read_to_string(&mut text).unwrap();
            text
        };
        Ended {
            code,
            stdout: read(child.stdout.as_mut().unwrap()),
            stderr: read(child.stderr.as_mut().unwrap()),
        }
    }
}

/// A program that is told to stop when it is dropped, and waited for.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let kill = format!("kill -TERM {}", self.0.id());
        Command::new("sh").args(["-c", &kill]).status().unwrap();
        let code = wait(&mut self.0);
        if !thread::panicking() {
            assert_eq!(code, Some(Some(0)), "the exit code");
        }
    }
}

/// How a program ended that did not serve.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

/// The exit code of a child that ends in time; one that does not is killed.
#[expect(
    clippy::option_option,
    reason = "it may not have ended, and may have ended without a code"
)]
fn wait(child: &mut Child) -> Option<Option<i32>> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code());
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// The program while it serves. When dropped it is told to stop, and fails the
/// test if it does not stop with 0 or if it logged what nobody expected.
pub struct Server {
    site: Site,
    child: Child,
    address: SocketAddr,
    root_line: String,
    agent: ureq::Agent,
    log: Arc<Mutex<Vec<String>>>,
    log_reader: Option<JoinHandle<()>>,
    expected: Mutex<Vec<String>>,
    ended: bool,
}

impl Server {
    fn start(site: Site) -> Self {
        let mut child = site.command().args(["-p", "0", "--root"]).spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let lines = Arc::clone(&log);
        let log_reader = thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        let (line, root_line) = first_lines(child.stdout.take().unwrap(), 2);
        let Some(address) = address(&line) else {
            child.kill().unwrap();
            child.wait().unwrap();
            log_reader.join().unwrap();
            panic!(
                "no address in {line:?}; the log: {:#?}",
                log.lock().unwrap()
            );
        };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections_per_host(16)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        Self {
            site,
            child,
            address,
            root_line,
            agent,
            log,
            log_reader: Some(log_reader),
            expected: Mutex::default(),
            ended: false,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The path of a file of the site.
    pub fn path(&self, file: &str) -> PathBuf {
        self.site.path(file)
    }

    /// Another program's connection to one of the databases.
    pub fn open(&self, file: &str) -> Connection {
        open(&self.path(file))
    }

    /// Asks for a path, or for an absolute URL that the server gave.
    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[])
    }

    /// The same with headers.
    pub fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.agent.get(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::read(request.call(), path)
    }

    /// Asks for the headers alone.
    pub fn head(&self, path: &str) -> Answer {
        Answer::read(self.agent.head(self.url(path)).call(), path)
    }

    /// The same with headers.
    pub fn head_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.agent.head(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::read(request.call(), path)
    }

    /// Posts a form.
    pub fn post(&self, path: &str, form: &str) -> Answer {
        let request = self.agent.post(self.url(path));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        Answer::read(request.send(form), path)
    }

    /// Posts a form with headers.
    pub fn post_with(&self, path: &str, form: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.agent.post(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::read(request.send(form), path)
    }

    /// The path that `--root` printed.
    pub fn root_path(&self) -> String {
        let (_, path) = self
            .root_line
            .split_once(&self.address.to_string())
            .unwrap();
        path.trim().to_owned()
    }

    /// The JSON of a page that must be there.
    pub fn json(&self, path: &str) -> Value {
        self.get(path).ok().json()
    }

    /// One column of the rows of a JSON page that must be there.
    pub fn column(&self, path: &str, column: &str) -> Vec<Value> {
        column_of(&self.json(path), column)
    }

    /// The column `id` of the rows of a JSON page that must be there.
    pub fn ids(&self, path: &str) -> Vec<i64> {
        let ids = self.column(path, "id");
        ids.iter().map(|id| id.as_i64().unwrap()).collect()
    }

    /// The text of a page that must be there.
    pub fn text(&self, path: &str) -> String {
        self.get(path).ok().text()
    }

    fn url(&self, path: &str) -> String {
        if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("http://{}{path}", self.address)
        }
    }

    /// Says that the log will hold a WARN or ERROR line with `part` in it.
    pub fn expect_log(&self, part: &str) {
        self.expected.lock().unwrap().push(part.to_owned());
    }

    /// Waits until `/-/threads.json` says what `done` looks for in its engine.
    pub fn wait_for_engine(&self, what: &str, done: impl Fn(&Value) -> bool) {
        let began = Instant::now();
        loop {
            let engine = self.engine();
            if done(&engine) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "never {what}: {engine}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// What `/-/threads.json` says of the engine, to root.
    pub fn engine(&self) -> Value {
        let answer = self.get_with("/-/threads.json", &[("cookie", ROOT)]);
        answer.ok().json()["engine"].take()
    }

    /// Waits until something is so.
    pub fn wait_until(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !done(self) {
            assert!(began.elapsed() < PATIENCE, "it never came that {what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether the log has a line with `part` in it.
    pub fn has_logged(&self, part: &str) -> bool {
        let log = self.log.lock().unwrap();
        log.iter().any(|line| line.contains(part))
    }

    /// Sends a signal: `TERM`, `INT` …
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(sent.success(), "{kill}");
    }

    /// Waits for the end. Its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let code = wait(&mut self.child).expect("the server did not stop");
        self.ended = true;
        self.join_log();
        code
    }

    /// Stops it, and returns its log.
    pub fn stop(mut self) -> Vec<String> {
        self.signal("TERM");
        assert_eq!(self.wait(), Some(0));
        self.log.lock().unwrap().clone()
    }

    fn join_log(&mut self) {
        if let Some(reader) = self.log_reader.take() {
            reader.join().unwrap();
        }
    }

    fn check_log(&self) {
        let log = self.log.lock().unwrap();
        let expected = self.expected.lock().unwrap();
        let bad = |line: &&String| {
            let loud = [" WARN ", " ERROR ", "panicked at"];
            loud.iter().any(|word| line.contains(word))
        };
        for line in log.iter().filter(bad) {
            let known = expected.iter().any(|part| line.contains(part));
            assert!(known, "nobody expected this in the log: {line}");
        }
        for part in expected.iter() {
            let said = log.iter().filter(bad).any(|line| line.contains(part));
            assert!(said, "the log should say {part:?}: {log:#?}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.child.kill();
            let _ = self.child.wait();
            self.join_log();
            let log = self.log.lock().unwrap();
            if !log.is_empty() {
                eprintln!("the server's log: {log:#?}");
            }
            return;
        }
        if !self.ended {
            self.signal("TERM");
            assert_eq!(self.wait(), Some(0), "the exit code");
        }
        self.check_log();
    }
}

/// The first line, or two, that a program prints; nothing if it ends before or prints none in time.
fn first_lines(stdout: ChildStdout, count: usize) -> (String, String) {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut lines = (String::new(), String::new());
        // The receiver may have lost its patience.
        let _ = stdout.read_line(&mut lines.0);
        if count > 1 {
            let _ = stdout.read_line(&mut lines.1);
        }
        let _ = sender.send(lines);
    });
    lines.recv_timeout(PATIENCE).unwrap_or_default()
}

/// The address in `Serving on http://ADDRESS/…`.
fn address(line: &str) -> Option<SocketAddr> {
    let url = line.trim_end().strip_prefix("Serving on http://")?;
    url.split('/').next()?.parse().ok()
}

/// A connection that waits long for a lock and lets keys point at nothing.
#[allow(
    clippy::disallowed_methods,
    reason = "this is another program than the server"
)]
pub fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_update(None, "foreign_keys", false)
        .unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    connection
}

/// What the server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, unpacked.
    pub body: Vec<u8>,
    path: String,
}

impl Answer {
    fn read(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>, path: &str) -> Self {
        let mut answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        let headers = answer.headers().iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        });
        let mut headers: Vec<_> = headers.collect();
        // Those of one name stay in their order.
        headers.sort_by(|(a, _), (b, _)| a.cmp(b));
        let body = answer.body_mut().with_config().limit(1 << 30).read_to_vec();
        Self {
            status: answer.status().as_u16(),
            headers,
            body: body.unwrap_or_else(|error| panic!("{path}: {error}")),
            path: path.to_owned(),
        }
    }

    /// Itself, if it has this status.
    pub fn with_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.path, self.text());
        self
    }

    /// Itself, if it is a 200.
    pub fn ok(self) -> Self {
        self.with_status(200)
    }

    /// A header that comes once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(key, _)| key == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} twice in {}", self.path);
        value
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.path, self.text()))
    }

    /// The error of a JSON page, if it has the form that all errors have.
    pub fn error(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}: {}", self.path, self.text());
        let json = self.json();
        let error = json["error"].as_str().expect("a text").to_owned();
        assert_eq!(json["ok"], false);
        assert_eq!(json["status"], status);
        assert_eq!(json["errors"], serde_json::json!([error]));
        error
    }
}

/// One column of the rows of a JSON page, be it an object or a list.
pub fn column_of(page: &Value, column: &str) -> Vec<Value> {
    let rows = page.get("rows").unwrap_or(page).as_array();
    rows.expect("rows")
        .iter()
        .map(|row| row[column].clone())
        .collect()
}

/// `key=value&…`, with everything encoded that may be.
pub fn query(pairs: &[(&str, &str)]) -> String {
    let encoded = pairs
        .iter()
        .map(|(key, value)| format!("{}={}", percent(key), percent(value)));
    encoded.collect::<Vec<_>>().join("&")
}

/// A text in percent encoding.
pub fn percent(text: &str) -> String {
    encoded(text, '%')
}

/// A text as one segment of a path, in tilde encoding.
pub fn tilde(text: &str) -> String {
    encoded(text, '~')
}

fn encoded(text: &str, sign: char) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            write!(out, "{sign}{byte:02X}").unwrap();
        }
    }
    out
}

/// A connection of one's own, for what a well-behaved client would not do.
pub struct Raw(BufReader<TcpStream>);

impl Raw {
    /// Connects.
    pub fn connect(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Sends a GET request.
    pub fn ask(&mut self, path: &str) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: raw.test\r\n\r\n"));
    }

    /// Reads status and headers.
    pub fn read_head(&mut self) -> Answer {
        let status = self.line();
        let mut words = status.split(' ');
        assert_eq!(words.next(), Some("HTTP/1.1"), "{status:?}");
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        Answer {
            status: words.next().unwrap().parse().unwrap(),
            headers,
            body: Vec::new(),
            path: String::new(),
        }
    }

    /// Reads an answer with its body.
    pub fn read(&mut self) -> Answer {
        let mut answer = self.read_head();
        if let Some(length) = answer.header("content-length") {
            let mut body = vec![0; length.parse().unwrap()];
            self.0.read_exact(&mut body).unwrap();
            answer.body = body;
        } else if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.read_chunk() {
                answer.body.extend(chunk);
            }
        }
        answer
    }

    /// Reads one chunk of a body; `None` at its end.
    pub fn read_chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.line(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).unwrap();
        assert_eq!(chunk.split_off(size), b"\r\n");
        (size > 0).then_some(chunk)
    }

    /// Says that nothing more will be sent.
    pub fn close_sending(&mut self) {
        self.0
            .get_mut()
            .shutdown(std::net::Shutdown::Write)
            .unwrap();
    }

    /// Whatever the server still sends, until it closes the connection.
    pub fn read_to_end(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset is an end too.
        let _ = self.0.read_to_end(&mut rest);
        rest
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}
