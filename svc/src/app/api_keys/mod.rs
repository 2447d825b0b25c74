//! API keys.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::UserDatabase;
use crate::auth::{AuthError, AuthProvider, Authenticated, Claims, UserContext};

/// API keys: a table of hashed keys, each with a user, roles, scopes and an end; given to
/// [`AppOptions::api_keys`](crate::AppOptions::api_keys).
///
/// A client sends its key as a bearer token. The scopes are the user's permissions. [`SCHEMA`](Self::SCHEMA) makes the
/// table and two functions: `svc_issue_api_key`, for those who may issue keys, and the one by which the service finds
/// whose a key is. Setting `revoked_at` ends a key.
///
/// ```
/// use std::time::Duration;
/// use svc::ApiKeys;
/// use svc::prelude::*;
///
/// let options = AppOptions::new().api_keys(ApiKeys::new().keep_for(Duration::from_secs(10)));
/// ```
#[derive(Debug, Clone)]
#[must_use = "give it to `AppOptions::api_keys`"]
pub struct ApiKeys {
    keep_for: Duration,
}

/// The beginning of every key, by which it is told from other tokens, and found where it was published by mistake.
const PREFIX: &str = "svc_";
/// The hexadecimal digits behind it.
const DIGITS: usize = 64;

impl Default for ApiKeys {
    fn default() -> Self {
        Self::new()
    }
}

impl ApiKeys {
    /// The migration: SQL that can be run again, by the owner of the database.
    pub const SCHEMA: &str = include_str!("schema.sql");

    /// Keys that are kept for a minute once they were found.
    pub fn new() -> Self {
        Self { keep_for: Duration::from_secs(60) }
    }

    /// The time for which a key is kept that was found; one that is revoked is refused within it. Zero asks for each
    /// request.
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.keep_for = time;
        self
    }

    pub(super) fn provider(self, database: UserDatabase) -> ApiKeyProvider {
        ApiKeyProvider { keys: self, database }
    }
}

/// The provider of API keys.
pub(super) struct ApiKeyProvider {
    keys: ApiKeys,
    database: UserDatabase,
}

/// A key that was found.
#[derive(Deserialize)]
struct Found {
    id: String,
    user_id: String,
    name: Option<String>,
    roles: Vec<String>,
    scopes: Vec<String>,
    issued_at: i64,
    expires_at: i64,
}

impl ApiKeyProvider {
    async fn find(&self, token: &str) -> Result<Found, AuthError> {
        let digits = token.strip_prefix(PREFIX).ok_or_else(|| AuthError::invalid("it is not an API key"))?;
        if digits.len() != DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(AuthError::invalid("it is not of the form of an API key"));
        }
        let hash = hex::encode(Sha256::digest(token));
        // Nothing is known of the user yet, so session variables are empty; the function does not read them.
        let db = self.database.of_user(&UserContext::default())?;
        let found = db.call::<Option<Value>>("public.svc_api_key_user", [json!(hash)]).await;
        let found = found.map_err(|error| AuthError::unavailable(error.chain()))?;
        let found = found.ok_or_else(|| AuthError::invalid("there is no such API key, or it was revoked"))?;
        let found: Found = serde_json::from_value(found).map_err(AuthError::unavailable)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if i64::try_from(now).is_ok_and(|now| now < found.expires_at) {
            Ok(found)
        } else {
            Err(AuthError::TokenExpired)
        }
    }
}

impl Found {
    fn claims(&self) -> Claims {
        let claims = [
            ("sub", json!(self.user_id)),
            ("jti", json!(self.id)),
            ("iat", json!(self.issued_at)),
            ("exp", json!(self.expires_at)),
            ("scope", json!(self.scopes.join(" "))),
        ];
        Claims::new(claims.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
    }

    fn user(self) -> UserContext {
        let user = UserContext::new(self.user_id).roles(self.roles).permissions(self.scopes);
        let user = user.metadata("api_key_id", self.id);
        UserContext { name: self.name, ..user }
    }
}

impl AuthProvider for ApiKeyProvider {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Ok(self.find(token).await?.claims())
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        Ok(self.find(token).await?.user())
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let asked = SystemTime::now();
        let found = self.find(token).await?;
        let authenticated = Authenticated::new(found.claims(), found.user());
        let keep_for = self.keys.keep_for;
        Ok(if keep_for.is_zero() { authenticated } else { authenticated.keep_until(asked + keep_for) })
    }
}
