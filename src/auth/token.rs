//! Signed API tokens, `dstok_…`, as Datasette's `create-token` makes them.

use serde_json::{Map, Value, json};

use super::{Actor, Signer};
use crate::config::Settings;

const PREFIX: &str = "dstok_";
const NAMESPACE: &str = "token";

/// The actor of a token. `None`: it is no token of this kind.
///
/// # Errors
/// One sentence, if it is one and is not valid.
pub(super) fn actor(
    signer: &Signer,
    settings: &Settings,
    token: &str,
    now: u64,
) -> Option<Result<Actor, String>> {
    let text = token.strip_prefix(PREFIX)?;
    if !settings.allow_signed_tokens {
        return Some(Err("Signed tokens are not enabled".to_owned()));
    }
    Some(read(signer, settings, text, now))
}

fn read(signer: &Signer, settings: &Settings, text: &str, now: u64) -> Result<Actor, String> {
    let invalid = || "Invalid token".to_owned();
    let content = signer.unsign(text, NAMESPACE).ok_or_else(invalid)?;
    let created = content
        .get("t")
        .and_then(Value::as_u64)
        .ok_or_else(invalid)?;
    let id = content
        .get("a")
        .filter(|id| !id.is_null())
        .ok_or_else(invalid)?;
    let duration = match content.get("d") {
        None | Some(Value::Null) => None,
        Some(duration) => Some(duration.as_u64().ok_or_else(invalid)?),
    };
    let longest = Some(settings.max_signed_tokens_ttl).filter(|&ttl| ttl > 0);
    let lives = duration.into_iter().chain(longest).min();
    let expires = lives.map(|seconds| created.saturating_add(seconds));
    if expires.is_some_and(|expires| now > expires) {
        return Err("Token has expired".to_owned());
    }
    let mut facts = Map::new();
    facts.insert("id".to_owned(), id.clone());
    facts.insert("token".to_owned(), json!("dstok"));
    if let Some(restrictions) = content.get("_r") {
        facts.insert("_r".to_owned(), restrictions.clone());
    }
    if duration.is_some()
        && let Some(expires) = expires
    {
        facts.insert("token_expires".to_owned(), expires.into());
    }
    Ok(Actor::new(facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(value: &Value, settings: &Settings, now: u64) -> Result<Value, String> {
        let signer = Signer::new("s".to_owned());
        let token = format!("dstok_{}", signer.sign(value, NAMESPACE));
        let actor = actor(&signer, settings, &token, now).expect("one of ours");
        actor.map(|actor| Value::Object(actor.facts().clone()))
    }

    #[test]
    fn a_token_is_its_actor_and_says_so() {
        let settings = Settings::default();
        assert_eq!(
            ask(&json!({"a": "ann", "t": 100}), &settings, 10_000_000),
            Ok(json!({"id": "ann", "token": "dstok"}))
        );
        let narrow = json!({"a": "ann", "t": 100, "d": 50, "_r": {"a": ["vi"]}});
        assert_eq!(
            ask(&narrow, &settings, 150),
            Ok(json!({"id": "ann", "token": "dstok", "_r": {"a": ["vi"]}, "token_expires": 150}))
        );
        assert_eq!(
            ask(&narrow, &settings, 151),
            Err("Token has expired".to_owned())
        );
    }

    #[test]
    fn settings_can_shorten_its_life_or_refuse_it() {
        let settings = Settings {
            max_signed_tokens_ttl: 10,
            ..Settings::default()
        };
        assert!(ask(&json!({"a": "ann", "t": 100}), &settings, 110).is_ok());
        assert!(ask(&json!({"a": "ann", "t": 100, "d": 99}), &settings, 111).is_err());
        let settings = Settings {
            allow_signed_tokens: false,
            ..Settings::default()
        };
        assert!(ask(&json!({"a": "ann", "t": 100}), &settings, 100).is_err());
    }

    #[test]
    fn what_is_not_signed_here_is_an_error_and_other_tokens_are_not_ours() {
        let signer = Signer::new("s".to_owned());
        let ask = |token: &str| actor(&signer, &Settings::default(), token, 0);
        assert!(ask("dstok_notvalid").is_some_and(|actor| actor.is_err()));
        assert!(ask("something").is_none());
        for wrong in [
            json!({}),
            json!({"a": "x"}),
            json!({"a": "x", "t": "y"}),
            json!(5),
        ] {
            let token = format!("dstok_{}", signer.sign(&wrong, NAMESPACE));
            assert!(ask(&token).is_some_and(|actor| actor.is_err()), "{wrong}");
        }
    }
}
