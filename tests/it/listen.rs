//! Where it listens: HTTPS and Unix sockets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::server::Site;

const ONE_ROW: &str = "create table t(id integer primary key); insert into t values (1)";

/// Asks for a page over a connection, which the server closes after the answer.
fn ask(mut stream: impl Read + Write, path: &str) -> String {
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: example.org\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A site with a certificate of its own, in `cert.pem` and `key.pem`.
fn site_with_certificate() -> (Site, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let site = Site::of(ONE_ROW);
    site.write("cert.pem", made.cert.pem());
    site.write("key.pem", made.signing_key.serialize_pem());
    (site, made.cert.der().clone())
}

fn secure(
    address: &str,
    certificate: CertificateDer<'static>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(client, TcpStream::connect(address).unwrap())
}

#[test]
fn pages_come_by_https_and_link_to_https() {
    let (site, certificate) = site_with_certificate();
    let site = site.args(&[
        "-p",
        "0",
        "--ssl-certfile",
        "cert.pem",
        "--ssl-keyfile",
        "key.pem",
    ]);
    let (_running, line) = site.spawn();
    let address = line
        .trim()
        .strip_prefix("Serving on https://")
        .unwrap()
        .trim_end_matches('/');
    let answer = ask(secure(address, certificate.clone()), "/data/t");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(
        answer.contains("<https://example.org/data/t.json>"),
        "{answer}"
    );
    // A client that speaks no TLS is sent away, and others are served on.
    let mut plain = TcpStream::connect(address).unwrap();
    plain
        .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    let _ = plain.read_to_end(&mut Vec::new());
    let answer = ask(secure(address, certificate), "/data/t.json?_shape=array");
    assert!(answer.ends_with("[{\"id\": 1}]"), "{answer}");
}

#[test]
fn what_is_wrong_with_a_certificate_is_told_at_the_start() {
    let (site, _) = site_with_certificate();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    site.write("other.pem", other.signing_key.serialize_pem());
    let site = site.args(&["-p", "0"]);
    for (words, part) in [
        (
            ["--ssl-certfile", "none.pem", "--ssl-keyfile", "key.pem"],
            "none.pem",
        ),
        (
            ["--ssl-certfile", "data.db", "--ssl-keyfile", "key.pem"],
            "data.db",
        ),
        (
            ["--ssl-certfile", "cert.pem", "--ssl-keyfile", "other.pem"],
            "other.pem",
        ),
    ] {
        let ended = site.run_with(&words);
        assert_eq!(ended.code, Some(1), "{words:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(part) && ended.stderr.lines().count() == 1,
            "{}",
            ended.stderr
        );
    }
    assert_eq!(site.run_with(&["--ssl-keyfile", "key.pem"]).code, Some(2));
}

#[test]
fn a_unix_socket_is_listened_on_and_removed() {
    let site = Site::of(ONE_ROW).args(&["--uds", "server.sock"]);
    let path = site.path("server.sock");
    // A server that died left this one behind.
    drop(UnixListener::bind(&path).unwrap());
    let (running, line) = site.spawn();
    assert!(line.contains("server.sock"), "{line}");
    let answer = ask(
        UnixStream::connect(&path).unwrap(),
        "/data/t.json?_shape=array",
    );
    assert!(answer.ends_with("[{\"id\": 1}]"), "{answer}");
    let taken = site.run_to_end();
    assert_eq!(taken.code, Some(1));
    assert!(taken.stderr.contains("server.sock"), "{}", taken.stderr);
    drop(running);
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let site = Site::of(ONE_ROW).args(&["--uds", "precious.txt"]);
    site.write("precious.txt", "text");
    assert_eq!(site.run_to_end().code, Some(1));
    assert_eq!(
        std::fs::read_to_string(site.path("precious.txt")).unwrap(),
        "text"
    );
}
