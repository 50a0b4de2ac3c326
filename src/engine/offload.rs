//! The hand-over of a page from an actix worker to the pool.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

use tokio::sync::oneshot;

use super::{Engine, ExtrasMode, Shape};
use crate::db::Cancel;
use crate::error::{Error, Result};

/// What a page knows of the engine it runs in.
pub struct Page<'e> {
    pub(super) engine: &'e Engine,
    /// Set when the client has gone.
    pub cancel: Cancel,
}

/// How the jobs of one page are run.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub(super) shape: Shape,
    /// Side by side.
    pub is_parallel: bool,
}

/// Cancels the page when its future is dropped: actix-web drops it when the client has gone.
pub(super) struct CancelOnDrop(pub(super) Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Engine {
    /// Runs `page` on the pool and waits for its result without holding a
    /// thread. Fails with [`Error::Busy`] if the engine is full. A panic in
    /// `page` becomes [`Error::Internal`]; it would abort the process if rayon
    /// saw it.
    pub async fn offload<T, F>(&self, page: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Page<'_>) -> Result<T> + Send + 'static,
    {
        let permit = self.0.admission.enter().await?;
        let cancel = Cancel::default();
        let guard = CancelOnDrop(cancel.clone());
        let (sender, receiver) = oneshot::channel();
        let engine = self.clone();
        self.0.pool.spawn(move || {
            let result = engine.run_page(cancel, page);
            drop(permit);
            // Fails when the client has gone; then nobody wants the result.
            let _ = sender.send(result);
        });
        let result = receiver.await.unwrap_or(Err(Error::Cancelled));
        drop(guard);
        result
    }

    /// Runs `page` on the pool and blocks until it is done: for callers that
    /// are no server. Not to be called on a thread of the pool.
    pub fn run<T: Send>(&self, page: impl FnOnce(&Page<'_>) -> Result<T> + Send) -> Result<T> {
        self.0
            .pool
            .install(|| self.run_page(Cancel::default(), page))
    }

    fn run_page<T>(&self, cancel: Cancel, page: impl FnOnce(&Page<'_>) -> Result<T>) -> Result<T> {
        let stats = &self.0.stats;
        if cancel.is_cancelled() {
            stats.skipped.fetch_add(1, Relaxed);
            return Err(Error::Cancelled);
        }
        stats.running.fetch_add(1, Relaxed);
        let page_of_engine = Page {
            engine: self,
            cancel,
        };
        let result = catch_unwind(AssertUnwindSafe(|| page(&page_of_engine)));
        stats.running.fetch_sub(1, Relaxed);
        stats.pages.fetch_add(1, Relaxed);
        result.unwrap_or_else(|panic| {
            stats.panicked.fetch_add(1, Relaxed);
            Err(panicked(&*panic))
        })
    }

    /// Whether a page that is running now should fan out, when it is left to the engine:
    /// while it has processors to itself.
    pub(super) fn has_idle_threads(&self) -> bool {
        self.0.stats.running.load(Relaxed) < self.0.capacity
    }
}

/// A panic as an error, with what it said.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Error::Internal(format!("a page panicked: {text}"))
}

impl Page<'_> {
    /// How a page of this shape runs its jobs: as the mode, the load and the cost of
    /// the last page of this shape say. `asked` is the request's own wish,
    /// which is granted whatever it costs.
    pub fn way(&self, shape: Shape, asked: Option<ExtrasMode>) -> Way {
        let worth = || self.engine.threads() > 1 && self.engine.0.costs.is_worth(shape);
        let is_parallel = match (asked, self.engine.mode()) {
            (Some(ExtrasMode::Parallel), _) => true,
            (Some(ExtrasMode::Sequential), _) | (None, ExtrasMode::Sequential) => false,
            (None, ExtrasMode::Parallel) => worth(),
            (Some(ExtrasMode::Auto), _) | (None, ExtrasMode::Auto) => {
                self.engine.has_idle_threads() && worth()
            }
        };
        Way { shape, is_parallel }
    }

    /// Into how many jobs work is worth being cut: more than there are processors
    /// only get in each other's way.
    pub fn lanes(&self) -> usize {
        self.engine.0.capacity
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::super::EngineOptions;
    use super::*;

    fn engine(threads: usize) -> Engine {
        Engine::new(&EngineOptions {
            threads,
            mode: ExtrasMode::Auto,
            max_pages: 8,
            page_wait: Duration::from_secs(5),
        })
        .unwrap()
    }

    #[actix_web::test]
    async fn a_panic_costs_one_response_and_the_pool_goes_on() {
        let engine = engine(1);
        let result = engine
            .offload(|_| -> Result<()> { panic!("on purpose") })
            .await;
        assert!(matches!(result, Err(Error::Internal(text)) if text.contains("on purpose")));
        assert_eq!(engine.offload(|_| Ok(1)).await, Ok(1));
        assert_eq!(engine.stats().panicked, 1);
    }

    #[actix_web::test]
    async fn a_queued_page_whose_client_has_gone_is_skipped() {
        let engine = engine(1);
        let (release, held) = mpsc::channel::<()>();
        let first = engine.offload(move |_| Ok(held.recv().is_ok()));
        let second = engine.offload(|_| Ok(()));
        let mut first = Box::pin(first);
        let mut second = Box::pin(second);
        // Both are queued, then the second client leaves.
        assert!(futures_util::poll!(&mut first).is_pending());
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(second);
        release.send(()).unwrap();
        assert_eq!(first.await, Ok(true));
        assert_eq!(engine.offload(|_| Ok(2)).await, Ok(2));
        assert_eq!(engine.stats().skipped, 1);
    }
}
