//! Stopping: the first signal lets running requests finish, the second does not.

use std::io;
use std::pin::pin;
use std::time::Duration;

use actix_web::dev::Server;
use futures_util::future::{Either, select};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All requests that were running got their answer.
    Finished,
    /// The grace was over before they had.
    GraceOver,
    /// A second signal came.
    AtOnce,
}

/// SIGTERM, and SIGINT, which is Ctrl-C.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens for both, from now on.
    ///
    /// # Errors
    /// The system's.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        select(pin!(self.terminate.recv()), pin!(self.interrupt.recv())).await;
    }
}

/// Runs a server until it is told to stop and has stopped. `grace` bounds how
/// long it waits for running requests.
///
/// # Errors
/// When the server breaks.
pub async fn run(server: Server, mut signals: Signals, grace: Duration) -> io::Result<Stopped> {
    let handle = server.handle();
    let mut server = pin!(server);
    if let Either::Left((ended, _)) = select(server.as_mut(), pin!(signals.next())).await {
        return ended.map(|()| Stopped::Finished);
    }
    tracing::info!("stopping: running requests may finish");
    // The command is sent here; what it returns would only tell when it is done.
    drop(handle.stop(true));
    let grace_over = pin!(tokio::time::sleep(grace));
    let second = pin!(signals.next());
    match select(server, select(grace_over, second)).await {
        Either::Left((ended, _)) => ended.map(|()| Stopped::Finished),
        Either::Right((Either::Left(_), _)) => {
            tracing::warn!("stopped with requests unanswered: the grace was over");
            Ok(Stopped::GraceOver)
        }
        Either::Right((Either::Right(_), _)) => Ok(Stopped::AtOnce),
    }
}
