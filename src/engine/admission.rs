//! The bounded way into the engine. rayon's queue has no bound of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;

/// A place in the engine; given back when dropped.
pub type Permit = OwnedSemaphorePermit;

/// Lets a set number of pages in; the others wait, for a set time.
pub struct Admission {
    places: Arc<Semaphore>,
    limit: usize,
    wait: Duration,
}

impl Admission {
    /// `limit` pages at once, each waiting at most `wait`.
    pub fn new(limit: usize, wait: Duration) -> Self {
        Self {
            places: Arc::new(Semaphore::new(limit)),
            limit,
            wait,
        }
    }

    /// Waits for a place, first come, first served. [`Error::Busy`] (503) when none came free in time.
    pub async fn enter(&self) -> Result<Permit, Error> {
        if let Ok(permit) = self.places.clone().try_acquire_owned() {
            return Ok(permit);
        }
        match tokio::time::timeout(self.wait, self.places.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Error::Busy {
                retry_after: self.wait.max(Duration::from_secs(1)),
            }),
        }
    }

    /// Waits for a place without a limit: for what has begun and can't be turned away.
    pub async fn enter_at_last(&self) -> Result<Permit, Error> {
        let place = self.places.clone().acquire_owned().await;
        place.map_err(|_| Error::Internal("the engine has no places any more".into()))
    }

    /// Places in all.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Pages inside now.
    pub fn inside(&self) -> usize {
        self.limit - self.places.available_permits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn a_full_engine_turns_the_next_page_away_after_the_wait() {
        let admission = Admission::new(1, Duration::from_millis(5));
        let permit = admission.enter().await.unwrap();
        assert!(matches!(admission.enter().await, Err(Error::Busy { .. })));
        drop(permit);
        assert!(admission.enter().await.is_ok());
    }
}
