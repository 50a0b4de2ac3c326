//! From the headers of a request to the actor who sent it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{ACTOR_COOKIE, Actor, Signer, cookie, token};
use crate::config::Settings;
use crate::error::{Error, Result};

/// What a request says of its sender.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity<'h> {
    /// The `Cookie` header.
    pub cookie: Option<&'h str>,
    /// The `Authorization` header.
    pub authorization: Option<&'h str>,
}

/// Who sent a request: nobody known, or the actor of its token, or of its cookie.
/// A cookie that is not valid is as good as none, since browsers keep old ones.
///
/// # Errors
/// [`Error::Unauthorized`] for a token that is not valid.
pub fn identify(
    signer: &Signer,
    settings: &Settings,
    identity: Identity<'_>,
) -> Result<Option<Arc<Actor>>> {
    if identity.cookie.is_none() && identity.authorization.is_none() {
        return Ok(None);
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    if let Some(bearer) = identity.authorization.and_then(bearer)
        && let Some(actor) = token::actor(signer, settings, bearer, now)
    {
        return actor.map(Arc::new).map(Some).map_err(Error::Unauthorized);
    }
    let value = identity
        .cookie
        .and_then(|header| cookie::find(header, ACTOR_COOKIE));
    Ok(value
        .and_then(|value| cookie::actor(signer, value, now))
        .map(Arc::new))
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask(cookie: Option<&str>, authorization: Option<&str>) -> Result<Option<Arc<Actor>>> {
        let identity = Identity {
            cookie,
            authorization,
        };
        let signer = Signer::new("s".to_owned());
        identify(&signer, &Settings::default(), identity)
    }

    #[test]
    fn a_token_comes_before_a_cookie_and_must_be_valid() {
        let signer = Signer::new("s".to_owned());
        let cookie = format!(
            "ds_actor={}",
            signer.sign(&json!({"a": {"id": "cook"}}), "actor")
        );
        let token = signer.sign(&json!({"a": "tok", "t": 1}), "token");
        let token = format!("bearer dstok_{token}");
        let id = |actor: Result<Option<Arc<Actor>>>| actor.unwrap().and_then(|a| a.id());
        assert_eq!(id(ask(None, None)), None);
        assert_eq!(id(ask(Some(&cookie), None)).as_deref(), Some("cook"));
        assert_eq!(id(ask(Some(&cookie), Some(&token))).as_deref(), Some("tok"));
        assert_eq!(
            id(ask(Some(&cookie), Some("Basic x"))).as_deref(),
            Some("cook")
        );
        let error = ask(Some(&cookie), Some("Bearer dstok_notvalid")).unwrap_err();
        assert_eq!(error.status(), 401);
    }
}
