//! Lets other programs write to a rollback-journal database that is read without pause.
//!
//! In this mode a commit needs a moment without any reader. SQLite keeps *new*
//! readers out while a writer waits, but counts all connections of one process
//! as one reader: as long as any page of ours is under way, the next one gets
//! in too, and on a busy site the writer waits for ever. So every half second
//! the pages under way are let out before new ones come in; a waiting writer
//! then has its turn. WAL and immutable databases need none of this.
//! <https://www.sqlite.org/lockingv3.html#writer_starvation>

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::time::timeout;

/// How long pages may follow each other without a pause.
const STRETCH: Duration = Duration::from_millis(500);

/// Under overload pages take their time. One waits for the end of a stretch no
/// longer than this, then comes in without a turn: visitors before writers.
const PATIENCE: Duration = Duration::from_secs(1);

/// A page's part in the present stretch; ends when dropped.
pub type Turn = OwnedRwLockReadGuard<()>;

/// The stretches of one database.
pub struct Turns {
    /// Read-locked by every page. It is fair: who asks for the write lock gets
    /// it when the pages before have ended, and pages that come later wait.
    pages: Arc<RwLock<()>>,
    began: Instant,
    /// When the present stretch began, in milliseconds after `began`.
    stretch: AtomicU64,
    /// Whether a commit needs a moment without readers.
    needed: AtomicBool,
}

impl Turns {
    /// For a database whose journal mode is not known yet.
    pub fn new() -> Self {
        Self {
            pages: Arc::default(),
            began: Instant::now(),
            stretch: AtomicU64::new(0),
            needed: AtomicBool::new(false),
        }
    }

    /// Notes what a page saw of the journal mode.
    pub fn set_needed(&self, needed: bool) {
        if self.needed.load(Relaxed) != needed {
            self.needed.store(needed, Relaxed);
        }
    }

    /// Begins a page. To be awaited before the page holds anything.
    pub async fn enter(&self) -> Option<Turn> {
        if !self.needed.load(Relaxed) {
            return None;
        }
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let stretch = self.stretch.load(Relaxed);
        let is_over =
            now.saturating_sub(stretch) >= u64::try_from(STRETCH.as_millis()).unwrap_or(0);
        if is_over
            && self
                .stretch
                .compare_exchange(stretch, now, Relaxed, Relaxed)
                .is_ok()
        {
            // One page ends the stretch for all: it waits for those under way.
            drop(timeout(PATIENCE, self.pages.write()).await);
        }
        timeout(PATIENCE, self.pages.clone().read_owned())
            .await
            .ok()
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn a_stretch_ends_when_its_pages_have_ended_and_later_pages_wait() {
        let turns = Turns::new();
        assert!(turns.enter().await.is_none(), "not needed in WAL mode");
        turns.set_needed(true);
        let first = turns.enter().await;
        // As if half a second had passed.
        turns.stretch.store(0, Relaxed);
        tokio::time::sleep(STRETCH).await;
        let mut second = Box::pin(turns.enter());
        assert!(
            futures_util::poll!(&mut second).is_pending(),
            "the first page is under way"
        );
        let mut third = Box::pin(turns.enter());
        assert!(
            futures_util::poll!(&mut third).is_pending(),
            "it came later than the second"
        );
        drop(first);
        assert!(second.await.is_some());
        assert!(third.await.is_some());
    }
}
