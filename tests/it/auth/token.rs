//! Tokens, written and signed here and not by what is tested.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};

pub(super) const SECRET: &[u8] = b"a secret of the tests, of more than 32 bytes";
pub(super) const USER: &str = "6f9619ff-8b86-4011-b42d-00c04fc964ff";

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
        .try_into()
        .unwrap()
}

/// The claims of a token that holds for an hour, with these in addition; null takes one away.
pub(super) fn claims(more: Value) -> Value {
    let mut claims = json!({ "sub": USER, "iat": now(), "exp": now() + 3600 });
    for (name, value) in more.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(name),
            value => claims
                .as_object_mut()
                .unwrap()
                .insert(name.clone(), value.clone()),
        };
    }
    claims
}

/// A token by HS256 with the secret of the tests.
pub(super) fn token(more: Value) -> String {
    signed(
        &json!({ "alg": "HS256", "typ": "JWT" }).to_string(),
        &claims(more).to_string(),
        SECRET,
    )
}

/// A token by HS256 of any header and payload.
pub(super) fn signed(header: &str, payload: &str, secret: &[u8]) -> String {
    signed_parts(header, &URL_SAFE_NO_PAD.encode(payload), secret)
}

/// The same of a payload that is encoded already.
pub(super) fn signed_parts(header: &str, payload: &str, secret: &[u8]) -> String {
    let signed = format!("{}.{payload}", URL_SAFE_NO_PAD.encode(header));
    let signature = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, secret),
        signed.as_bytes(),
    );
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
