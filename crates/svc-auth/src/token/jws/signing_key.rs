//! Keys that sign tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Map, Value, json};

use super::verifying_key::hmac_key;
use super::{KeyError, VerifyingKey};
use crate::TokenAlgorithm;

/// A secret that signs tokens, for services that issue them. `Debug` shows the algorithm only.
///
/// ```
/// use svc::auth::{SigningKey, TokenAlgorithm};
/// use svc::serde_json::{Map, json};
///
/// let key = SigningKey::new(TokenAlgorithm::Hs256, b"a secret of at least thirty-two bytes")?;
/// let token = key.sign(&Map::from_iter([("sub".to_owned(), json!("9b2d"))]));
/// assert_eq!(token.split('.').count(), 3);
/// # Ok::<(), svc::auth::KeyError>(())
/// ```
#[derive(Clone)]
pub struct SigningKey {
    key: hmac::Key,
    verifying: VerifyingKey,
}

impl SigningKey {
    /// A secret for HS256, HS384 or HS512.
    ///
    /// # Errors
    /// A [`KeyError`] if the algorithm takes no secret, or the secret is empty or a PEM key.
    pub fn new(algorithm: TokenAlgorithm, secret: &[u8]) -> Result<Self, KeyError> {
        Ok(Self {
            key: hmac_key(algorithm, secret)?,
            verifying: VerifyingKey::from_secret(algorithm, secret)?,
        })
    }

    /// Signs a token with exactly these claims; the caller sets `exp`, `iat` and `jti`.
    pub fn sign(&self, claims: &Map<String, Value>) -> String {
        let header = json!({ "alg": self.verifying.algorithm().as_str(), "typ": "JWT" });
        let mut token = URL_SAFE_NO_PAD.encode(header.to_string());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(Value::from(claims.clone()).to_string(), &mut token);
        let signature = hmac::sign(&self.key, token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        token
    }

    /// The key that verifies the tokens signed by this one.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.verifying.algorithm())
            .finish_non_exhaustive()
    }
}
