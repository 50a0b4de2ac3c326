//! `--open`: the site in a browser, as soon as it can be reached.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// Opens a page in the browser of whoever started the program.
pub fn open(scheme: &str, mut address: SocketAddr, path: &str) {
    if address.ip().is_unspecified() {
        // All addresses of this machine: a browser wants one.
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    let url = format!("{scheme}://{address}{path}");
    // Finding a browser may take its time, and the server is not to wait for it.
    std::thread::spawn(move || {
        if let Err(error) = ::open::that_detached(&url) {
            tracing::warn!("--open: no browser to be had for {url}: {error}");
        }
    });
}
