//! A key set (RFC 7517, section 5).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::{TokenAlgorithm, VerifyingKey};

/// The maximum number of keys read from a set.
const MAX_KEYS: usize = 100;

/// The keys of a set that can verify tokens.
#[derive(Debug)]
pub(super) struct KeySet {
    keys: Vec<Named>,
    /// The set as received, to detect changes.
    text: Value,
}

#[derive(Debug)]
struct Named {
    /// The `kid`.
    id: Option<String>,
    key: VerifyingKey,
}

impl KeySet {
    /// Parses a set. Skips keys that cannot be used: encryption keys, secrets, and keys for other
    /// algorithms.
    pub(super) fn read(set: Value, allowed: &[TokenAlgorithm]) -> Option<Self> {
        // A token without `kid` is tried with all keys, so their number bounds the work for one
        // token.
        let keys = set
            .get("keys")?
            .as_array()?
            .iter()
            .take(MAX_KEYS)
            .filter_map(Value::as_object);

        let keys = keys
            .filter(|key| is_for_signatures(key))
            .flat_map(|key| verifying(key, allowed))
            .collect();

        Some(Self { keys, text: set })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.text == other.text
    }

    /// The keys that may have signed a token. If the token names no key, all keys that fit are
    /// candidates.
    pub(super) fn candidates(
        &self,
        id: Option<&str>,
        algorithm: TokenAlgorithm,
    ) -> impl Iterator<Item = &VerifyingKey> {
        let fits = move |named: &&Named| {
            named.key.algorithm() == algorithm
                && id.is_none_or(|id| named.id.as_deref() == Some(id))
        };
        self.keys.iter().filter(fits).map(|named| &named.key)
    }

    /// Whether the set has a key with this ID.
    pub(super) fn has(&self, id: &str) -> bool {
        self.keys
            .iter()
            .any(|named| named.id.as_deref() == Some(id))
    }
}

fn is_for_signatures(key: &Map<String, Value>) -> bool {
    let verifies =
        |operations: &Vec<Value>| operations.iter().any(|operation| operation == "verify");

    // Both members are optional; a key for encryption must not verify signatures (RFC 7517,
    // sections 4.2 and 4.3).
    key.get("use").is_none_or(|usage| usage == "sig")
        && key
            .get("key_ops")
            .is_none_or(|operations| operations.as_array().is_some_and(verifies))
}

/// Builds one verifying key per algorithm that the key may be used with.
fn verifying(key: &Map<String, Value>, allowed: &[TokenAlgorithm]) -> Vec<Named> {
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok();
    let named = |key| Named {
        id: text("kid").map(str::to_owned),
        key,
    };

    let build = |algorithm: &TokenAlgorithm| match (text("kty")?, text("crv")) {
        ("RSA", _) => VerifyingKey::from_rsa(*algorithm, &bytes("n")?, &bytes("e")?).ok(),
        ("EC", Some(curve)) => {
            VerifyingKey::from_point(*algorithm, curve, &bytes("x")?, &bytes("y")?).ok()
        }
        ("OKP", Some("Ed25519")) => VerifyingKey::from_ed25519(*algorithm, &bytes("x")?).ok(),
        // This includes `oct`: a secret in a public document proves nothing.
        _ => None,
    };

    // `alg` is optional (RFC 7517, section 4.4): an RSA key without it serves all allowed RSA
    // algorithms, each as a separate verifying key.
    let is_own = |algorithm: &&TokenAlgorithm| match key.get("alg") {
        None => true,
        Some(own) => own
            .as_str()
            .is_some_and(|own| own == algorithm.as_str() || is_eddsa(own, **algorithm)),
    };

    allowed
        .iter()
        .filter(is_own)
        .filter_map(build)
        .map(named)
        .collect()
}

/// RFC 9864 introduces `Ed25519` as a separate algorithm name.
fn is_eddsa(own: &str, algorithm: TokenAlgorithm) -> bool {
    own == "Ed25519" && algorithm == TokenAlgorithm::EdDsa
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn key(more: &Value) -> Value {
        let mut key = json!({ "kty": "OKP", "crv": "Ed25519", "x": X, "kid": "a" });
        key.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        key
    }

    fn count(keys: &[Value]) -> usize {
        KeySet::read(
            json!({ "keys": keys }),
            &[TokenAlgorithm::EdDsa, TokenAlgorithm::Rs256],
        )
        .unwrap()
        .keys
        .len()
    }

    #[test]
    fn only_verifying_keys_are_accepted() {
        for good in [
            json!({}),
            json!({ "use": "sig" }),
            json!({ "key_ops": ["verify"] }),
            json!({ "alg": "EdDSA" }),
        ] {
            assert_eq!(count(&[key(&good), json!(7), json!({})]), 1, "{good}");
        }

        for bad in [
            json!({ "use": "enc" }),
            json!({ "use": 7 }),
            json!({ "key_ops": ["sign"] }),
            json!({ "key_ops": "verify" }),
            json!({ "alg": "RS256" }),
            json!({ "alg": null }),
            json!({ "crv": "Ed448" }),
            json!({ "x": "AAAA" }),
            json!({ "x": null }),
            json!({ "kty": "RSA" }),
            json!({ "kty": "oct", "k": X }),
        ] {
            assert_eq!(count(&[key(&bad)]), 0, "{bad}");
        }

        let many = vec![key(&json!({})); 1_000];
        assert_eq!(count(&many), MAX_KEYS);
    }

    /// The number of keys that can verify.
    fn usable(key: &Value) -> usize {
        use TokenAlgorithm::{EdDsa, Es256, Es384, Rs256};
        KeySet::read(json!({ "keys": [key] }), &[EdDsa, Es256, Es384, Rs256])
            .unwrap()
            .keys
            .len()
    }

    #[test]
    fn keys_of_each_family_are_taken_in_their_sizes() {
        let bytes = |zeros: usize, size: usize| {
            URL_SAFE_NO_PAD.encode([vec![0; zeros], vec![7; size]].concat())
        };

        let rsa = |n: String, e: String| json!({ "kty": "RSA", "n": n, "e": e });
        assert_eq!(usable(&rsa(bytes(0, 256), bytes(0, 3))), 1);
        assert_eq!(
            usable(&rsa(bytes(1, 1_024), bytes(5, 8))),
            1,
            "zeros in front count for nothing"
        );

        for (n, e) in [(255, 3), (1_025, 3), (256, 0), (256, 9)] {
            assert_eq!(usable(&rsa(bytes(1, n), bytes(0, e))), 0, "{n} {e}");
        }

        let point = |curve: &str, x: usize, y: usize| json!({ "kty": "EC", "crv": curve, "x": bytes(0, x), "y": bytes(0, y) });
        assert_eq!(
            (
                usable(&point("P-256", 32, 32)),
                usable(&point("P-384", 48, 48))
            ),
            (1, 1)
        );

        for (curve, x, y) in [
            ("P-256", 48, 48),
            ("P-256", 31, 33),
            ("P-384", 48, 47),
            ("P-521", 66, 66),
        ] {
            assert_eq!(usable(&point(curve, x, y)), 0, "{curve} {x} {y}");
        }

        assert_eq!(usable(&key(&json!({ "alg": "Ed25519" }))), 1);

        assert_eq!(
            usable(&json!({ "kty": "RSA", "n": bytes(0, 256), "e": "AQAB", "alg": "Ed25519" })),
            0
        );
    }

    #[test]
    fn a_set_is_an_object_with_a_list() {
        for bad in [
            json!(null),
            json!([]),
            json!({}),
            json!({ "keys": {} }),
            json!({ "keys": null }),
        ] {
            assert!(
                KeySet::read(bad.clone(), &[TokenAlgorithm::EdDsa]).is_none(),
                "{bad}"
            );
        }
    }
}
