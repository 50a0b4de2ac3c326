//! The app that answers: the same for as long as the program runs or, with
//! `--reload`, the one that was made last.

use std::sync::Arc;

use crossbeam::sync::ShardedLock;

use super::app::App;

/// Where each request finds its app.
pub enum Current {
    /// Always this one.
    Fixed(Arc<App>),
    /// This one, until it is replaced. All requests look here, hence a lock whose readers
    /// share no cache line.
    Changing(ShardedLock<Arc<App>>),
}

impl Current {
    /// The app that answers now. A request keeps it until it has its answer.
    pub fn get(&self) -> Arc<App> {
        match self {
            Self::Fixed(app) => Arc::clone(app),
            Self::Changing(app) => match app.read() {
                Ok(app) => Arc::clone(&app),
                Err(poisoned) => Arc::clone(&poisoned.into_inner()),
            },
        }
    }

    /// Lets another app answer from now on, if it may change at all.
    pub fn set(&self, app: App) {
        if let Self::Changing(current) = self {
            let app = Arc::new(app);
            match current.write() {
                Ok(mut current) => *current = app,
                Err(poisoned) => *poisoned.into_inner() = app,
            }
        }
    }
}
