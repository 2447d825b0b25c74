//! Signed tokens, which the service verifies itself.

use std::time::Duration;

use uuid::Uuid;

use super::standard_user::described;
use super::{AuthProvider, Authenticated};
use crate::token::claims::time;
use crate::token::{ClaimRules, Compact};
use crate::{AuthError, Claims, KeyError, TokenAlgorithm, UserContext, VerifyingKey};
use svc_core::settings::use_value;

/// The minimum length of a secret in production: the length of the hash (RFC 7518, section 3.2).
const SECRET: usize = 32;

/// The custom provider: verifies tokens that are signed with a secret, or with a private key whose
/// public key is configured.
///
/// Signature and `exp` are always verified, `iss` and `aud` where they are configured. The user's
/// identifier is a UUID: `sub`, or else `user_id`.
///
/// ```
/// use svc::auth::{SignedTokenProvider, TokenAlgorithm, VerifyingKey};
/// use svc::prelude::*;
///
/// # fn of_key(pem: &str) -> Result<AppOptions, svc::auth::KeyError> {
/// let key = VerifyingKey::from_pem(TokenAlgorithm::EdDsa, pem)?;
/// let provider = SignedTokenProvider::new(key).issuer("https://id.example").audience("shop");
/// # Ok(AppOptions::new().auth_provider(provider)) }
/// ```
#[derive(Debug, Clone)]
#[must_use = "give it to `AppOptions::auth_provider`"]
pub struct SignedTokenProvider {
    key: VerifyingKey,
    /// The length of the secret in bytes; `None` for a public key.
    secret: Option<usize>,
    rules: ClaimRules,
}

impl SignedTokenProvider {
    /// Verifies tokens with a key.
    pub fn new(key: VerifyingKey) -> Self {
        Self {
            key,
            secret: None,
            rules: ClaimRules::default(),
        }
    }

    /// Verifies tokens signed with HS256 and a secret. In production the secret must have at least
    /// 32 bytes.
    ///
    /// # Errors
    /// A [`KeyError`] when the secret is empty or a PEM key.
    pub fn with_secret(secret: impl AsRef<[u8]>) -> Result<Self, KeyError> {
        Self::with_secret_for(TokenAlgorithm::Hs256, secret)
    }

    /// Verifies tokens signed with HS256, HS384 or HS512 and a secret. In production the secret
    /// must have at least 32 bytes.
    ///
    /// # Errors
    /// A [`KeyError`] when the algorithm takes no secret, or the secret is empty or a PEM key.
    pub fn with_secret_for(
        algorithm: TokenAlgorithm,
        secret: impl AsRef<[u8]>,
    ) -> Result<Self, KeyError> {
        let secret = secret.as_ref();
        let key = VerifyingKey::from_secret(algorithm, secret)?;
        use_value("SVC_AUTH_SECRET_KEY", &String::from_utf8_lossy(secret));
        use_value("SVC_AUTH_ALGORITHM", algorithm.as_str());

        Ok(Self {
            key,
            secret: Some(secret.len()),
            rules: ClaimRules::default(),
        })
    }

    /// The required issuer of tokens.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        let issuer = issuer.into();
        use_value("SVC_AUTH_ISSUER", &issuer);
        self.rules.issuer = Some(issuer);
        self
    }

    /// The required audience of tokens.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        let audience = audience.into();
        use_value("SVC_AUTH_AUDIENCE", &audience);
        self.rules.audience = Some(audience);
        self
    }

    /// The clock skew tolerated when checking `exp` and `nbf`, up to five minutes; none by default.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        use_value("SVC_AUTH_LEEWAY", &leeway.as_secs().to_string());
        self.rules.leeway = leeway;
        self
    }

    fn verify(&self, token: &str) -> Result<Claims, AuthError> {
        let claims = Compact::read(token)?.verify(&self.key)?;
        self.rules.check(&claims)?;
        Ok(claims)
    }
}

impl AuthProvider for SignedTokenProvider {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        self.verify(token)
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        user(&self.verify(token)?)
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let claims = self.verify(token)?;
        let (user, until) = (user(&claims)?, claims.expires_at().and_then(time));
        let authenticated = Authenticated::new(claims, user).signed();

        // The cache ends at `exp`; during the leeway after it, the token is verified for each
        // request.
        Ok(match until {
            Some(until) => authenticated.keep_until(until),
            None => authenticated,
        })
    }

    fn weakness(&self) -> Option<String> {
        let bytes = self.secret.filter(|bytes| *bytes < SECRET)?;
        Some(format!(
            "the secret of tokens has {bytes} bytes; it must have at least {SECRET}"
        ))
    }
}

/// The user of the claims.
fn user(claims: &Claims) -> Result<UserContext, AuthError> {
    let id = claims
        .get("sub")
        .or_else(|| claims.get("user_id"))
        .and_then(|id| id.as_str());
    let id = id.and_then(|id| Uuid::parse_str(id).ok());
    let id = id.ok_or_else(|| AuthError::invalid("neither `sub` nor `user_id` is a UUID"))?;

    // The canonical form: upper case, braces or missing hyphens would make another user of the same
    // UUID in policies and revocations.
    described(claims, id.to_string())
}
