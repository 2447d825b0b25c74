//! The compact form of a token: header, payload and signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::VerifyingKey;
use crate::token::claims::Unique;
use crate::{AuthError, Claims, TokenAlgorithm};

/// A token split into its parts; nothing is verified yet.
pub(crate) struct Compact<'a> {
    algorithm: TokenAlgorithm,
    /// The key ID (`kid`).
    #[cfg_attr(
        not(feature = "idp"),
        allow(dead_code, reason = "key sets find their keys by it")
    )]
    pub(crate) key_id: Option<String>,
    /// Whether the header marks it as an access token (RFC 9068, section 2.1).
    #[cfg_attr(
        not(feature = "idp"),
        allow(dead_code, reason = "identity providers issue others too")
    )]
    pub(crate) is_marked_access: bool,
    /// Header and payload as they were signed.
    signed: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

/// The accepted values of `typ`; issuers sign other tokens (events, proofs, log-outs) with the same
/// keys.
const TYPES: [&str; 4] = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"];

impl<'a> Compact<'a> {
    /// Parses a token.
    pub(crate) fn read(token: &'a str) -> Result<Self, AuthError> {
        let malformed = || AuthError::invalid("it is not of the form header.payload.signature");
        let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;

        // Five parts are an encrypted token (RFC 7516, section 3.1).
        if payload.contains('.') {
            return Err(malformed());
        }

        let Unique(header) = serde_json::from_slice(&decode(header)?).map_err(|_| {
            AuthError::invalid("the header is not a JSON object whose names are different")
        })?;

        // RFC 7515, section 4.1.11: an extension that is not understood makes the token invalid.
        if header.contains_key("crit") {
            return Err(AuthError::invalid(
                "the header has `crit`, and no extension is understood",
            ));
        }

        // `b64` changes the text that is signed (RFC 7797); `zip` and `enc` belong to encrypted
        // tokens (RFC 7516, section 4.1).
        if header.contains_key("b64") || header.contains_key("zip") || header.contains_key("enc") {
            return Err(AuthError::invalid(
                "the payload is in a form that is not understood",
            ));
        }

        let algorithm = header
            .get("alg")
            .and_then(Value::as_str)
            .and_then(|name| name.parse().ok());
        let algorithm = algorithm
            .ok_or_else(|| AuthError::invalid("the header names no algorithm that is known"))?;

        // Media types are compared without regard to case (RFC 9110, section 8.3.1).
        let is_marked_access = match header
            .get("typ")
            .map(|typ| typ.as_str().map(str::to_ascii_lowercase))
        {
            None => false,
            Some(Some(typ)) if TYPES.contains(&typ.as_str()) => typ.ends_with("at+jwt"),
            Some(_) => {
                return Err(AuthError::invalid(
                    "the header's `typ` is not that of an access token",
                ));
            }
        };

        let key_id = match header.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(_) => return Err(AuthError::invalid("the header's `kid` is not a string")),
        };

        Ok(Self {
            algorithm,
            key_id,
            is_marked_access,
            signed,
            payload,
            signature: decode(signature)?,
        })
    }

    /// The algorithm that the header names.
    pub(crate) fn algorithm(&self) -> TokenAlgorithm {
        self.algorithm
    }

    /// Returns the claims if the signature was made with the key.
    pub(crate) fn verify(&self, key: &VerifyingKey) -> Result<Claims, AuthError> {
        // The sender chooses the header: it must not select how the key is used (RFC 8725, section
        // 2.1).
        if self.algorithm() != key.algorithm() {
            return Err(AuthError::invalid(
                "the header names another algorithm than that of the key",
            ));
        }

        if !key.has_signed(self.signed.as_bytes(), &self.signature) {
            return Err(AuthError::invalid("the signature does not fit"));
        }

        // The payload is parsed last, so that the parser never sees an unsigned one.
        Claims::read(&decode(self.payload)?)
    }
}

/// Decodes base64url without padding, accepting only the canonical form (RFC 7515, section 2).
fn decode(text: &str) -> Result<Vec<u8>, AuthError> {
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|_| AuthError::invalid("a part is not base64url"))
}
