//! The `ds_actor` cookie.

use serde_json::{Value, json};

use super::{Actor, Signer};

/// The name of the cookie that says who is asking.
pub const ACTOR_COOKIE: &str = "ds_actor";
const NAMESPACE: &str = "actor";
/// The digits of a time of expiry, which Datasette writes in base 62.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The value of `Set-Cookie` that makes the client this actor until it is closed.
/// `secure` for a site that is reached by HTTPS; `base` is its `base_url`: what else is on the
/// same host gets no cookie.
pub fn signed_cookie(signer: &Signer, actor: &Actor, secure: bool, base: &str) -> String {
    let value = signer.sign(&json!({"a": actor.facts()}), NAMESPACE);
    let secure = if secure { "; Secure" } else { "" };
    let path = path(base);
    format!("{ACTOR_COOKIE}={value}; HttpOnly; Path={path}; SameSite=lax{secure}")
}

/// The values of `Set-Cookie` that make the client nobody: a cookie for the whole host
/// would be sent to this site too.
pub fn expired_cookies(base: &str) -> impl Iterator<Item = String> {
    let own = Some(path(base)).filter(|path| *path != "/");
    own.into_iter()
        .chain(["/"])
        .map(|path| format!("{ACTOR_COOKIE}=\"\"; Max-Age=0; Path={path}; SameSite=lax"))
}

/// The path of a cookie; all paths where a cookie could not have this one.
fn path(base: &str) -> &str {
    if base.bytes().all(|b| b.is_ascii_graphic() && b != b';') {
        base
    } else {
        "/"
    }
}

/// The actor of a cookie's value: `None` if it was not signed here, or was valid
/// until before `now` (seconds since 1970).
pub(super) fn actor(signer: &Signer, value: &str, now: u64) -> Option<Actor> {
    let content = signer.unsign(value, NAMESPACE)?;
    if let Some(expires) = content.get("e")
        && now > base62(expires.as_str()?)?
    {
        return None;
    }
    match content.get("a")? {
        Value::Object(facts) => Some(Actor::new(facts.clone())),
        _ => None,
    }
}

fn base62(text: &str) -> Option<u64> {
    text.bytes().try_fold(0_u64, |number, byte| {
        let digit = DIGITS.iter().position(|&d| d == byte)?;
        number.checked_mul(62)?.checked_add(digit as u64)
    })
}

/// The value of the cookie called `name` in a `Cookie` header.
pub fn find<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    header.split(';').find_map(|pair| {
        let value = pair.trim().strip_prefix(name)?.strip_prefix('=')?;
        Some(value.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer::new("s".to_owned())
    }

    #[test]
    fn a_cookie_is_read_back() {
        let actor = Actor::with_id("root");
        let set = signed_cookie(&signer(), &actor, false, "/");
        let value = find(set.split(';').next().unwrap(), ACTOR_COOKIE).unwrap();
        assert_eq!(super::actor(&signer(), value, 0), Some(actor));
        assert!(!set.contains("Secure"));
        assert!(set.contains("; Path=/;"));
    }

    #[test]
    fn a_cookie_is_for_the_prefix_of_the_site_alone() {
        let set = |base| signed_cookie(&signer(), &Actor::with_id("root"), true, base);
        assert!(set("/data/").contains("; Path=/data/; "));
        assert!(set("/a;b/").contains("; Path=/; "));
        let gone: Vec<String> = expired_cookies("/data/").collect();
        assert_eq!(gone.len(), 2);
        assert!(gone[0].contains("Path=/data/;") && gone[1].contains("Path=/;"));
        assert_eq!(expired_cookies("/").count(), 1);
    }

    #[test]
    fn a_cookie_is_valid_until_the_time_that_it_names() {
        // 10 * 62 + 5 seconds.
        let value = signer().sign(&json!({"a": {"id": "x"}, "e": "A5"}), NAMESPACE);
        assert!(actor(&signer(), &value, 625).is_some());
        assert!(actor(&signer(), &value, 626).is_none());
        for wrong in [json!("!"), json!(5), json!("zzzzzzzzzzzzzzz")] {
            let value = signer().sign(&json!({"a": {"id": "x"}, "e": wrong}), NAMESPACE);
            assert!(actor(&signer(), &value, 0).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others_by_its_whole_name() {
        let header = "xds_actor=1; ds_actor_2=2; other=%%%; ds_actor=a.b ; z";
        assert_eq!(find(header, ACTOR_COOKIE), Some("a.b"));
        assert_eq!(find("ds_actors=1", ACTOR_COOKIE), None);
    }
}
