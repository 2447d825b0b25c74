//! API keys.

mod in_force;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::UserDatabase;
use in_force::KeysInForce;
use svc_auth::{
    AuthError, AuthProvider, Authenticated, Claims, RevocableToken, RevocationConfig,
    TokenRevocationService, UserContext,
};

/// API keys: a table of hashed keys, each with a user, roles, scopes and an expiry time; passed to
/// [`AppOptions::api_keys`](crate::AppOptions::api_keys).
///
/// A client sends its key as a bearer token. The scopes are the user's permissions.
/// [`SCHEMA`](Self::SCHEMA) creates the table and three functions: `svc_issue_api_key`, for the
/// roles that may issue keys, and the functions that the service calls to look up a key's user and
/// the keys of open sockets. Setting `revoked_at` revokes a key.
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

/// The prefix of every key: it distinguishes keys from other tokens, and secret scanners can find a
/// leaked key by it.
const PREFIX: &str = "svc_";
/// The number of hexadecimal digits after the prefix.
const DIGITS: usize = 64;

impl Default for ApiKeys {
    fn default() -> Self {
        Self::new()
    }
}

impl ApiKeys {
    /// The migration: SQL that the owner of the database can run repeatedly.
    pub const SCHEMA: &str = include_str!("schema.sql");

    /// API keys with the default cache time: a key is cached for a minute after it was looked up.
    pub fn new() -> Self {
        Self {
            keep_for: Duration::from_secs(60),
        }
    }

    /// Sets how long a key is cached after it was looked up; a revoked key is rejected within this
    /// time. With zero, every request looks its key up. Sockets and streams that a key has opened
    /// end within about a second.
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.keep_for = time;
        self
    }

    pub(in crate::app) fn provider(self, database: UserDatabase) -> ApiKeyProvider {
        ApiKeyProvider {
            keys: self,
            database,
        }
    }

    /// Returns the revocations of keys that have opened sockets and streams.
    pub(in crate::app) fn revocation(database: UserDatabase) -> TokenRevocationService {
        let mut config = RevocationConfig::default();

        // While the pool is busy, no connection ends: without the database they get no rows anyway.
        config.allow_when_away = true;
        TokenRevocationService::new(KeysInForce(database), config)
    }
}

/// The provider of API keys.
pub(in crate::app) struct ApiKeyProvider {
    keys: ApiKeys,
    database: UserDatabase,
}

/// A key found in the database.
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
        let digits = token
            .strip_prefix(PREFIX)
            .ok_or_else(|| AuthError::invalid("it is not an API key"))?;

        // Checked first, so that a flood of invalid tokens costs no statements.
        if digits.len() != DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(AuthError::invalid("it is not of the form of an API key"));
        }

        // Only the hash leaves the process: a log of statements or a copy of the table reveals no
        // key.
        let hash = hex::encode(Sha256::digest(token));

        // The user is not identified yet, so session variables are empty; the function does not
        // read them.
        let db = self.database.of_user(&UserContext::default())?;
        let found = db
            .call::<Option<Value>>("public.svc_api_key_user", [json!(hash)])
            .await;
        let found = found.map_err(|error| AuthError::unavailable(error.chain()))?;
        let found = found
            .ok_or_else(|| AuthError::invalid("there is no such API key, or it was revoked"))?;
        let found: Found = serde_json::from_value(found).map_err(AuthError::unavailable)?;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();

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
            (RevocableToken::API_KEY, json!(self.id)),
            ("iat", json!(self.issued_at)),
            ("exp", json!(self.expires_at)),
            ("scope", json!(self.scopes.join(" "))),
        ];

        Claims::new(
            claims
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>(),
        )
    }

    fn user(self) -> UserContext {
        let user = UserContext::new(self.user_id)
            .roles(self.roles)
            .permissions(self.scopes);
        let mut user = user.metadata("api_key_id", self.id);
        user.name = self.name;
        user
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
        // The time before the look-up: a key that is revoked during it is rejected within
        // `keep_for` as well.
        let asked = SystemTime::now();
        let found = self.find(token).await?;
        let authenticated = Authenticated::new(found.claims(), found.user());
        let keep_for = self.keys.keep_for;

        Ok(if keep_for.is_zero() {
            authenticated
        } else {
            authenticated.keep_until(asked + keep_for)
        })
    }
}
