//! One HTTP/1.1 connection that is kept open, as cheap as can be: it shares a
//! machine with the server whose time is taken.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::client::authority;

/// An answer that takes longer is an error.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A connection to a server; it is made anew by the next request after an error
/// and after an answer that ends it.
pub struct Connection {
    address: String,
    stream: Option<BufReader<TcpStream>>,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    /// Connects to the host and port of `base`, such as `http://127.0.0.1:8001/`.
    pub fn open(base: &str) -> Result<Self> {
        let address = authority(base).to_owned();
        Ok(Connection {
            stream: Some(connect(&address)?),
            address,
            line: String::new(),
            body: Vec::new(),
        })
    }

    /// Asks for `path` and reads the answer to its end; its status.
    ///
    /// # Errors
    /// If the connection fails or what comes is not HTTP with a `Content-Length`,
    /// which all but streams have.
    pub fn get(&mut self, path: &str) -> Result<u16> {
        self.exchange(path).with_context(|| format!("GET {path}"))
    }

    /// Like [`Connection::get`], but any status but 200 is an error; the body.
    pub fn get_ok(&mut self, path: &str) -> Result<&[u8]> {
        let status = self.get(path)?;
        if status != 200 {
            let said = String::from_utf8_lossy(&self.body);
            let said: String = said.chars().take(200).collect();
            bail!("GET {path}: status {status}, {said:?}");
        }
        Ok(&self.body)
    }

    fn exchange(&mut self, path: &str) -> Result<u16> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect(&self.address)?,
        };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        stream.get_mut().write_all(request.as_bytes())?;
        let head = read_head(&mut stream, &mut self.line)?;
        self.body.resize(head.length, 0);
        stream
            .read_exact(&mut self.body)
            .context("the body ended early")?;
        if head.is_kept {
            self.stream = Some(stream);
        }
        Ok(head.status)
    }
}

fn connect(address: &str) -> Result<BufReader<TcpStream>> {
    let stream =
        TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(BufReader::new(stream))
}

/// What is needed of the lines before a body.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Bytes of the body.
    length: usize,
    /// Whether the server takes another request on this connection.
    is_kept: bool,
}

fn read_head(from: &mut impl BufRead, line: &mut String) -> Result<Head> {
    let mut next = |line: &mut String| -> Result<()> {
        line.clear();
        ensure!(from.read_line(line)? > 0, "the server hung up");
        Ok(())
    };
    next(line)?;
    let status = line
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .and_then(|digits| digits.parse().ok())
        .with_context(|| format!("not an HTTP/1.1 answer: {line:?}"))?;
    let (mut length, mut is_kept) = (None, true);
    loop {
        next(line)?;
        let field = line.trim_end();
        if field.is_empty() {
            break;
        }
        let Some((name, value)) = field.split_once(':') else {
            continue;
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.parse()?);
        } else if name.eq_ignore_ascii_case("connection") {
            is_kept = !value.eq_ignore_ascii_case("close");
        }
    }
    Ok(Head {
        status,
        length: length.context("the answer has no Content-Length")?,
        is_kept,
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    fn head(text: &str) -> Result<Head> {
        read_head(&mut text.as_bytes(), &mut String::new())
    }

    #[test]
    fn a_head_says_status_length_and_whether_more_may_come() {
        let kept = head("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n").unwrap();
        let expected = Head {
            status: 200,
            length: 12,
            is_kept: true,
        };
        assert_eq!(kept, expected);
        let last = "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        assert!(!head(last).unwrap().is_kept);
    }

    #[test]
    fn what_is_not_an_answer_is_an_error() {
        for (text, told) in [
            ("", "hung up"),
            ("HTTP/1.1 200 OK\r\n", "hung up"),
            ("SSH-2.0\r\n", "not an HTTP/1.1 answer"),
            ("HTTP/1.1 200 OK\r\n\r\n", "no Content-Length"),
        ] {
            let error = head(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_connection_that_was_ended_is_made_anew() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            for answer in [
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi",
                "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone",
                "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut",
            ] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 100];
                assert!(stream.read(&mut request).unwrap() > 0);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let mut connection = Connection::open(&base).unwrap();
        assert_eq!(connection.get_ok("/a").unwrap(), b"hi");
        let error = connection.get_ok("/b").unwrap_err().to_string();
        assert!(error.contains("404") && error.contains("gone"), "{error}");
        // The server has gone from the second connection; the one after it cuts its answer off.
        assert!(connection.get("/c").is_err());
        assert!(connection.get("/d").is_err());
        server.join().unwrap();
    }
}
