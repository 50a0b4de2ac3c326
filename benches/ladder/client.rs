//! A client that is cheap beside the server with which it shares the machine: one
//! thread, connections that are kept open, no parsing after the first answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// Connections, each with one request under way.
pub const CONNECTIONS: usize = 8;
/// An answer that takes longer is an error.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of `HTTP/1.1 200`.
const STATUS_LINE: usize = 12;

/// What is asked, and with which status it must be answered.
pub struct Question<'a> {
    /// Host and port.
    pub address: &'a str,
    pub path: &'a str,
    pub if_none_match: Option<String>,
    pub status: u16,
}

/// Connections that ask one question over and over.
pub struct Client {
    connections: Vec<TcpStream>,
    request: Vec<u8>,
    /// The first answer. The others must have its length, its status and its body;
    /// of the head, which tells the time, no more is compared.
    first: Answer,
    buffer: Vec<u8>,
}

struct Answer {
    bytes: Vec<u8>,
    /// Bytes before the body.
    head: usize,
}

/// The entity tag of the answer.
///
/// # Errors
/// If it has another status, or no tag.
pub fn etag(question: &Question<'_>) -> Result<String> {
    let answer = first(&mut connect(question)?, question)?;
    let tag = answer.field("etag").context("no entity tag")?;
    Ok(tag.to_owned())
}

impl Client {
    /// Connects and asks once.
    ///
    /// # Errors
    /// If the answer has another status or can't be read.
    pub fn open(question: &Question<'_>) -> Result<Self> {
        let connections: Result<Vec<_>> = (0..CONNECTIONS).map(|_| connect(question)).collect();
        let mut connections = connections?;
        let first = first(&mut connections[0], question)?;
        Ok(Self {
            connections,
            request: request(question),
            buffer: vec![0; first.bytes.len()],
            first,
        })
    }

    /// Asks on all connections for `duration`, and waits for what is under way then:
    /// the number of answers and the time they took.
    ///
    /// # Errors
    /// If an answer differs from the first.
    pub fn run(&mut self, duration: Duration) -> Result<(u64, Duration)> {
        let began = Instant::now();
        for connection in &mut self.connections {
            connection.write_all(&self.request)?;
        }
        let mut answers = 0;
        loop {
            let is_over = began.elapsed() >= duration;
            // In turn: the answers of the others wait in their sockets meanwhile.
            for connection in &mut self.connections {
                receive(connection, &self.first, &mut self.buffer)?;
                answers += 1;
                if !is_over {
                    connection.write_all(&self.request)?;
                }
            }
            if is_over {
                return Ok((answers, began.elapsed()));
            }
        }
    }
}

fn connect(question: &Question<'_>) -> Result<TcpStream> {
    let stream = TcpStream::connect(question.address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

fn request(question: &Question<'_>) -> Vec<u8> {
    let Question { address, path, .. } = question;
    let condition = match &question.if_none_match {
        Some(tag) => format!("If-None-Match: {tag}\r\n"),
        None => String::new(),
    };
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{condition}\r\n").into_bytes()
}

/// Asks once and reads the answer by the rules of HTTP.
fn first(stream: &mut TcpStream, question: &Question<'_>) -> Result<Answer> {
    stream.write_all(&request(question))?;
    let mut bytes = Vec::new();
    let head = loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            break end + 4;
        }
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece)?;
        ensure!(count > 0, "the server hung up");
        bytes.extend_from_slice(&piece[..count]);
    };
    let mut answer = Answer { bytes, head };
    let said = answer.bytes.get(..STATUS_LINE).unwrap_or_default();
    if said != format!("HTTP/1.1 {}", question.status).as_bytes() {
        bail!("{}: {}", question.path, String::from_utf8_lossy(said));
    }
    let length = match answer.field("content-length") {
        Some(length) => length.parse()?,
        None if question.status == 304 => 0,
        None => bail!("{}: no Content-Length", question.path),
    };
    let there = answer.bytes.len();
    ensure!(there <= head + length, "more than one answer");
    answer.bytes.resize(head + length, 0);
    stream.read_exact(&mut answer.bytes[there..])?;
    Ok(answer)
}

/// Reads an answer that must be like the first.
fn receive(stream: &mut TcpStream, first: &Answer, buffer: &mut [u8]) -> Result<()> {
    let mut there = 0;
    while there < buffer.len() {
        let count = stream.read(&mut buffer[there..])?;
        ensure!(count > 0, "the server hung up");
        there += count;
        let known = there.min(STATUS_LINE);
        // Looked at now: an error may be shorter than the answer, and the rest never come.
        if buffer[..known] != first.bytes[..known] {
            bail!("{}", String::from_utf8_lossy(&buffer[..known]));
        }
    }
    ensure!(
        buffer[first.head..] == first.bytes[first.head..],
        "an answer is not like the first"
    );
    Ok(())
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        let head = std::str::from_utf8(&self.bytes[..self.head]).ok()?;
        head.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}
