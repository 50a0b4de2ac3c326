//! Who is asking, and what that one may do.
//!
//! [`identify`] makes an [`Actor`] of a request's cookie or token, which
//! [`Signer`] has signed; [`Access`] holds the rules of the configuration and
//! says what an actor may. A rule is an `allow` block ([`allow`]); a token may be
//! narrower than its actor ([`restrictions`]). All of it works in memory.

mod access;
mod action;
mod actor;
mod allow;
mod asker;
mod cookie;
mod identify;
mod restrictions;
mod signing;
mod token;

pub use access::{Access, AccessOptions};
pub use action::{Action, Resource};
pub use actor::Actor;
pub use allow::matches as allows;
pub use asker::Asker;
pub use cookie::{ACTOR_COOKIE, expired_cookies, find as find_cookie, signed_cookie};
pub use identify::{Identity, identify};
pub use signing::{Signer, random_word};
