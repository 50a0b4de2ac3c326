//! The lowest rungs: servers that say hello and know nothing else.

use std::future::ready;
use std::net::TcpListener;
use std::time::Duration;

use actix_web::rt::System;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use anyhow::{Result, bail};
use turntable::http::listen::{self, Bound};

use crate::servers::WORKERS;

/// With a kind after it, makes this program such a server.
pub const WORD: &str = "--hello";
/// actix-web as its own documentation sets it up.
pub const BARE: &str = "bare";
/// actix-web as Turntable sets it up.
pub const OURS: &str = "ours";

/// As long as `/-/actor.json`.
const BODY: &str = r#"{"ok":true,"hello":null}"#;

/// Serves until the process ends. Prints the same line as Turntable when it listens.
///
/// # Errors
/// If it cannot listen, or there is no such kind.
pub fn serve(kind: &str) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("Serving on http://{}/", listener.local_addr()?);
    System::new().block_on(async {
        match kind {
            BARE => {
                HttpServer::new(|| App::new().default_service(web::to(|| ready(hello()))))
                    .workers(WORKERS)
                    .listen(listener)?
                    .run()
                    .await?;
            }
            OURS => {
                let answer = |_: HttpRequest| ready(hello());
                listen::server(
                    answer,
                    Some(WORKERS),
                    Bound::Tcp(listener),
                    None,
                    Duration::ZERO,
                )?
                .await?;
            }
            _ => bail!("there is no server {kind}"),
        }
        Ok(())
    })
}

fn hello() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json; charset=utf-8")
        .body(BODY)
}
