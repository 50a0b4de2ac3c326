//! Answers without an end in sight: the whole result of a query, sent while
//! SQLite is still making it.
//!
//! A cursor can't be laid aside: its connection, and the thread that steps it,
//! are taken until the last row, however slowly the client reads. On the pool a
//! few slow clients would stop all pages. So each export has a thread of its own
//! (there are at most [`LIMIT`]), which hands pieces over through a short queue,
//! and a client that takes nothing for a while loses its place. A maker that
//! can go on later from where it stopped gives its place up much sooner
//! ([`Sink::offer`]), and takes another when the client has caught up
//! ([`Engine::go_on`]).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::Engine;
use super::admission::Permit;
use super::offload::{CancelOnDrop, panicked};
use crate::db::Cancel;
use crate::error::{Error, Result};

/// Exports at once. Each has a thread and a connection.
pub const LIMIT: usize = 8;
/// Pieces that are made ahead of the client.
const AHEAD: usize = 4;
/// A client that takes no piece for so long is given up. Until then it keeps
/// other programs from writing to a database with a rollback journal.
const STALL: Duration = Duration::from_secs(30);
/// Where the maker of an export puts its pieces.
pub struct Sink<T> {
    sender: Sender<Result<T>>,
    /// Set when the client has gone.
    pub cancel: Cancel,
}

impl<T> Sink<T> {
    /// Hands a piece over. [`Error::Cancelled`] if nobody takes it.
    pub fn send(&self, piece: T) -> Result<()> {
        if self.offer(piece, STALL)? {
            Ok(())
        } else {
            Err(Error::Cancelled)
        }
    }

    /// Hands a piece over if the queue has room for it within `patience`, and says
    /// whether it did. [`Error::Cancelled`] if the client has gone.
    pub fn offer(&self, piece: T, patience: Duration) -> Result<bool> {
        self.put(Ok(piece), patience)
    }

    fn put(&self, piece: Result<T>, patience: Duration) -> Result<bool> {
        match wait(pin!(self.sender.reserve()), patience.min(STALL)) {
            Some(Ok(room)) => {
                room.send(piece);
                Ok(true)
            }
            Some(Err(_)) => Err(Error::Cancelled),
            None => Ok(false),
        }
    }
}

/// Waits for a future on a thread that is no part of the runtime, so long at the most.
fn wait<F: Future>(mut future: Pin<&mut F>, patience: Duration) -> Option<F::Output> {
    let began = Instant::now();
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        let left = patience.saturating_sub(began.elapsed());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The pieces of an export. Its maker stops when this is dropped.
pub struct Pieces<T> {
    receiver: Receiver<Result<T>>,
    _guard: CancelOnDrop,
}

impl<T> Pieces<T> {
    /// The next piece, or what went wrong; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<T>> {
        self.receiver.recv().await
    }
}

impl Engine {
    /// Runs `make` on a thread of its own. Fails with [`Error::Busy`] if there
    /// are too many exports. What `make` fails with comes after its pieces.
    pub async fn export<T, F>(&self, make: F) -> Result<Pieces<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Sink<T>) -> Result<()> + Send + 'static,
    {
        start(self.0.exports.enter().await?, make)
    }

    /// The same for an export whose answer has begun: it waits for a place as
    /// long as its client does.
    pub async fn go_on<T, F>(&self, make: F) -> Result<Pieces<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Sink<T>) -> Result<()> + Send + 'static,
    {
        start(self.0.exports.enter_at_last().await?, make)
    }
}

/// Runs `make` on a thread, which keeps the place until it has ended.
fn start<T, F>(permit: Permit, make: F) -> Result<Pieces<T>>
where
    T: Send + 'static,
    F: FnOnce(&Sink<T>) -> Result<()> + Send + 'static,
{
    let (sender, receiver) = channel(AHEAD);
    let cancel = Cancel::default();
    let guard = CancelOnDrop(cancel.clone());
    let sink = Sink { sender, cancel };
    let started = thread::Builder::new().name("export".into()).spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| make(&sink)))
            .unwrap_or_else(|panic| Err(panicked(&*panic)));
        // Fails when the client has gone, as does the making then.
        if let Err(error) = result {
            let _ = sink.put(Err(error), STALL);
        }
        drop(permit);
    });
    if let Err(error) = started {
        tracing::warn!("no thread for an export: {error}");
        return Err(Error::Busy {
            retry_after: Duration::from_secs(1),
        });
    }
    Ok(Pieces {
        receiver,
        _guard: guard,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{EngineOptions, ExtrasMode};
    use super::*;

    fn engine() -> Engine {
        Engine::new(&EngineOptions {
            threads: 1,
            mode: ExtrasMode::Auto,
            max_pages: 1,
            page_wait: Duration::from_millis(5),
        })
        .unwrap()
    }

    #[actix_web::test]
    async fn pieces_come_in_order_and_an_error_after_them() {
        let engine = engine();
        let made = engine.export(|sink| {
            (0..20).try_for_each(|n| sink.send(n))?;
            Err(Error::NotFound("the end".into()))
        });
        let mut pieces = made.await.unwrap();
        for n in 0..20 {
            assert_eq!(pieces.next().await, Some(Ok(n)));
        }
        assert_eq!(pieces.next().await.unwrap().unwrap_err().status(), 404);
        assert!(pieces.next().await.is_none());
    }

    #[actix_web::test]
    async fn a_piece_that_nobody_has_room_for_is_not_sent_and_the_place_comes_free() {
        let engine = engine();
        let make = |sink: &Sink<usize>| {
            let mut n = 0;
            while sink.offer(n, Duration::from_millis(5))? {
                n += 1;
            }
            Ok(())
        };
        let mut behind = Vec::new();
        for _ in 0..3 * LIMIT {
            behind.push(engine.go_on(make).await.unwrap());
        }
        for pieces in &mut behind {
            for n in 0..AHEAD {
                assert_eq!(pieces.next().await, Some(Ok(n)));
            }
        }
    }

    #[actix_web::test]
    async fn a_panic_is_an_error_at_the_end() {
        let mut pieces = engine().export(|_: &Sink<u8>| panic!("oh")).await.unwrap();
        assert!(matches!(pieces.next().await, Some(Err(Error::Internal(_)))));
    }

    #[actix_web::test]
    async fn there_are_only_so_many_and_a_place_comes_free_when_the_client_goes() {
        let engine = engine();
        let endless = |sink: &Sink<u8>| {
            loop {
                sink.send(0)?;
            }
        };
        let mut running = Vec::new();
        for _ in 0..LIMIT {
            running.push(engine.export(endless).await.unwrap());
        }
        assert!(matches!(
            engine.export(endless).await,
            Err(Error::Busy { .. })
        ));
        running.pop();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(engine.export(endless).await.is_ok());
    }
}
