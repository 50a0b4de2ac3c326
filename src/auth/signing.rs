//! Signed texts, in the format of Python's itsdangerous (`URLSafeSerializer`), so
//! that cookies and tokens are the same for Datasette and for us.
//! <https://itsdangerous.palletsprojects.com/>
//!
//! A text is `PAYLOAD.SIGNATURE`: the payload is JSON in base64url, compressed
//! with zlib where it begins with a dot; the signature is HMAC-SHA1 under a key
//! made of the secret and a namespace.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hmac::{Hmac, Mac as _};
use serde_json::Value;
use sha1::{Digest as _, Sha1};

/// A payload may unfold to this much: far more than fits into a cookie.
const LARGEST: u64 = 64 * 1024;

/// Signs, and reads what it has signed.
#[derive(Clone)]
pub struct Signer {
    secret: String,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer(…)")
    }
}

impl Signer {
    /// Signs with `secret`.
    pub fn new(secret: String) -> Self {
        Self { secret }
    }

    /// Signs with a secret that nobody has ever known: nothing signed outlasts the program.
    pub fn with_random_secret() -> Self {
        Self::new(random_word())
    }

    /// `value` as a signed text. What is signed in one namespace is not valid in another.
    pub fn sign(&self, value: &Value, namespace: &str) -> String {
        let payload = encode(&value.to_string());
        let signature = self.mac(&payload, namespace).finalize().into_bytes();
        format!("{payload}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// What was signed; `None` if this signer has not signed it in this namespace.
    pub fn unsign(&self, text: &str, namespace: &str) -> Option<Value> {
        let (payload, signature) = text.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        // In constant time.
        self.mac(payload, namespace).verify_slice(&signature).ok()?;
        serde_json::from_slice(&decode(payload)?).ok()
    }

    fn mac(&self, payload: &str, namespace: &str) -> Hmac<Sha1> {
        let key = Sha1::new()
            .chain_update(namespace)
            .chain_update("signer")
            .chain_update(&self.secret)
            .finalize();
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha1>::new_from_slice(&key).expect("a key");
        mac.update(payload.as_bytes());
        mac
    }
}

/// 64 hexadecimal digits that nobody can guess.
pub fn random_word() -> String {
    use std::fmt::Write as _;
    let bytes: [u8; 32] = rand::random();
    bytes.iter().fold(String::new(), |mut word, byte| {
        let _ = write!(word, "{byte:02x}");
        word
    })
}

/// Compresses where that makes it shorter, as itsdangerous does.
fn encode(json: &str) -> String {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    let compressed = zlib.write_all(json.as_bytes()).and_then(|()| zlib.finish());
    match compressed {
        Ok(compressed) if compressed.len() < json.len().saturating_sub(1) => {
            format!(".{}", URL_SAFE_NO_PAD.encode(compressed))
        }
        _ => URL_SAFE_NO_PAD.encode(json),
    }
}

fn decode(payload: &str) -> Option<Vec<u8>> {
    let Some(compressed) = payload.strip_prefix('.') else {
        return URL_SAFE_NO_PAD.decode(payload).ok();
    };
    let compressed = URL_SAFE_NO_PAD.decode(compressed).ok()?;
    let mut json = Vec::new();
    let mut unfolded = ZlibDecoder::new(compressed.as_slice()).take(LARGEST + 1);
    unfolded.read_to_end(&mut json).ok()?;
    (json.len() as u64 <= LARGEST).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn signer() -> Signer {
        Signer::new("case-secret".to_owned())
    }

    #[test]
    fn a_text_that_itsdangerous_signed_is_read_and_written() {
        let signed = "eyJhIjp7ImlkIjoicm9vdCJ9fQ.T2ii4TSqJIm-RJA0wacrcfcma4I";
        let value = json!({"a": {"id": "root"}});
        assert_eq!(signer().unsign(signed, "actor"), Some(value.clone()));
        assert_eq!(signer().sign(&value, "actor"), signed);
    }

    #[test]
    fn another_secret_namespace_or_payload_is_not_valid() {
        let signed = signer().sign(&json!({"a": 1}), "actor");
        assert_eq!(signer().unsign(&signed, "token"), None);
        let other = Signer::new("other".to_owned());
        assert_eq!(other.unsign(&signed, "actor"), None);
        for wrong in [
            "",
            ".",
            "a.b",
            "eyJhIjoxfQ",
            "eyJhIjoxfQ.",
            "é.é",
            &signed[1..],
        ] {
            assert_eq!(signer().unsign(wrong, "actor"), None, "{wrong}");
        }
    }

    #[test]
    fn a_long_payload_is_compressed_and_comes_back_whole() {
        let value = json!({"a": {"id": "x".repeat(2000)}});
        let signed = signer().sign(&value, "actor");
        assert!(signed.starts_with('.') && signed.len() < 200, "{signed}");
        assert_eq!(signer().unsign(&signed, "actor"), Some(value));
    }

    #[test]
    fn a_payload_that_would_unfold_without_end_is_refused() {
        let value = json!("x".repeat(1_000_000));
        let signed = signer().sign(&value, "actor");
        assert_eq!(signer().unsign(&signed, "actor"), None);
    }

    #[test]
    fn random_secrets_differ() {
        assert_ne!(random_word(), random_word());
        assert_eq!(random_word().len(), 64);
    }
}
