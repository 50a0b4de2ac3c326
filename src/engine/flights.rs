//! Results that are kept, and results that are on their way: equal jobs of
//! pages at the same time run once.
//!
//! Who needs a result [claims](Flights::claim) it. The first to claim one that
//! nobody has gets a [`Flight`] and computes it; those who claim it meanwhile
//! get [`Waiting`], which a page awaits without a thread or a connection.

use std::hash::Hash;
use std::sync::Arc;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use foldhash::fast::RandomState;
use moka::sync::Cache;
use tokio::sync::watch;

/// Bytes that a result takes in memory, about.
pub trait Weight {
    /// How many.
    fn weight(&self) -> usize;
}

/// Kept results and those on their way, by what they are results of.
pub struct Flights<K, V>(Arc<Inner<K, V>>);

struct Inner<K, V> {
    /// None if nothing is kept; then nothing is shared either.
    kept: Option<Cache<K, V, RandomState>>,
    flying: DashMap<K, watch::Receiver<Option<V>>, RandomState>,
}

/// What a claim gives.
pub enum Claim<K: Hash + Eq, V> {
    /// The result is there.
    Kept(V),
    /// Another page is computing it.
    Waiting(Waiting<V>),
    /// It is this page's to compute.
    Mine(Flight<K, V>),
}

impl<K, V> Flights<K, V>
where
    K: Hash + Eq + Clone + Weight + Send + Sync + 'static,
    V: Clone + Weight + Send + Sync + 'static,
{
    /// Keeps up to `bytes` bytes, those that are asked for most; 0 keeps and shares nothing.
    pub fn new(bytes: u64) -> Self {
        let kept = (bytes > 0).then(|| {
            Cache::builder()
                .max_capacity(bytes)
                .weigher(|key: &K, value: &V| {
                    u32::try_from(key.weight() + value.weight()).unwrap_or(u32::MAX)
                })
                .build_with_hasher(RandomState::default())
        });
        Self(Arc::new(Inner {
            kept,
            flying: DashMap::default(),
        }))
    }

    /// Whether there is any point in claiming.
    pub fn is_on(&self) -> bool {
        self.0.kept.is_some()
    }

    /// Claims a result. `None` where nothing is kept or shared.
    pub fn claim(&self, key: K) -> Option<Claim<K, V>> {
        let kept = self.0.kept.as_ref()?;
        if let Some(value) = kept.get(&key) {
            return Some(Claim::Kept(value));
        }
        let landing = match self.0.flying.entry(key.clone()) {
            Entry::Occupied(flying) => {
                return Some(Claim::Waiting(Waiting(flying.get().clone())));
            }
            Entry::Vacant(place) => {
                let (landing, flying) = watch::channel(None);
                place.insert(flying);
                landing
            }
        };
        let flight = Flight {
            key,
            landing,
            flights: self.0.clone(),
        };
        // It may have landed between the two looks.
        Some(match kept.get(&flight.key) {
            Some(value) => Claim::Kept(value),
            None => Claim::Mine(flight),
        })
    }
}

/// The duty to compute a result. Those who wait learn of it when this is dropped without one.
pub struct Flight<K: Hash + Eq, V> {
    key: K,
    landing: watch::Sender<Option<V>>,
    flights: Arc<Inner<K, V>>,
}

impl<K, V> Flight<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Gives the result to those who wait. `keep` if it stays right.
    pub fn land(self, value: V, keep: bool) {
        if keep && let Some(kept) = &self.flights.kept {
            kept.insert(self.key.clone(), value.clone());
        }
        self.landing.send_replace(Some(value));
    }
}

impl<K: Hash + Eq, V> Drop for Flight<K, V> {
    fn drop(&mut self) {
        self.flights.flying.remove(&self.key);
    }
}

/// A result that another page is computing.
pub struct Waiting<V>(watch::Receiver<Option<V>>);

impl<V: Clone> Waiting<V> {
    /// Waits for it. `None` if the other page gave up: its client may have left.
    pub async fn result(mut self) -> Option<V> {
        self.0.wait_for(Option::is_some).await.ok()?.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weight for &'static str {
        fn weight(&self) -> usize {
            self.len()
        }
    }

    fn flights() -> Flights<&'static str, &'static str> {
        Flights::new(1000)
    }

    #[actix_web::test]
    async fn those_who_come_while_a_result_is_computed_get_it_and_it_is_kept() {
        let flights = flights();
        let Some(Claim::Mine(flight)) = flights.claim("a") else {
            panic!("the first computes it")
        };
        let Some(Claim::Waiting(waiting)) = flights.claim("a") else {
            panic!("the second waits")
        };
        assert!(matches!(flights.claim("b"), Some(Claim::Mine(_))));
        flight.land("result", true);
        assert_eq!(waiting.result().await, Some("result"));
        assert!(matches!(flights.claim("a"), Some(Claim::Kept("result"))));
    }

    #[actix_web::test]
    async fn a_result_that_does_not_last_is_shared_and_not_kept() {
        let flights = flights();
        let Some(Claim::Mine(flight)) = flights.claim("a") else {
            panic!("the first computes it")
        };
        let Some(Claim::Waiting(waiting)) = flights.claim("a") else {
            panic!("the second waits")
        };
        flight.land("half", false);
        assert_eq!(waiting.result().await, Some("half"));
        assert!(matches!(flights.claim("a"), Some(Claim::Mine(_))));
    }

    #[actix_web::test]
    async fn who_waits_learns_that_the_other_gave_up() {
        let flights = flights();
        let first = flights.claim("a");
        let Some(Claim::Waiting(waiting)) = flights.claim("a") else {
            panic!("the second waits")
        };
        drop(first);
        assert_eq!(waiting.result().await, None);
        assert!(matches!(flights.claim("a"), Some(Claim::Mine(_))));
    }

    #[test]
    fn where_nothing_is_kept_nothing_is_shared() {
        assert!(Flights::<&str, &str>::new(0).claim("a").is_none());
    }
}
