//! Revocations in PostgreSQL.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::sessions::seconds;
use super::{AccountDatabase, functions};
use crate::accounts::AccountError;
use crate::auth::{AuthError, RevocableToken, RevocationStore};

functions! {
    REVOKE: "revoke_token($1, $2)";
    REVOKE_ALL: "revoke_subject($1, $2, $3)";
    REVOCATION: "revocation($1, $2)";
    REMOVE_EXPIRED: "remove_expired()";
}

/// Revocations in the schema `svc_auth` of PostgreSQL, shared by all instances of a service.
///
/// Each request with a token costs a statement with two primary-key lookups. `RedisRevocationStore`
/// takes that load off PostgreSQL.
#[derive(Debug, Clone)]
pub struct PostgresRevocationStore(AccountDatabase);

impl PostgresRevocationStore {
    /// The revocations of a database.
    pub fn new(database: &AccountDatabase) -> Self {
        Self(database.clone())
    }
}

impl RevocationStore for PostgresRevocationStore {
    async fn revoke(&self, id: &str, until: SystemTime) -> Result<(), AuthError> {
        let args = vec![json!(id), seconds(left(until))];
        self.0.write(&REVOKE, args).await.map(drop).map_err(away)
    }

    async fn revoke_all(
        &self,
        subject: &str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> Result<(), AuthError> {
        let cut_off = cut_off.duration_since(UNIX_EPOCH).unwrap_or_default();
        let args = vec![json!(subject), seconds(cut_off), seconds(left(until))];
        self.0
            .write(&REVOKE_ALL, args)
            .await
            .map(drop)
            .map_err(away)
    }

    async fn is_revoked(&self, token: &RevocableToken) -> Result<bool, AuthError> {
        let args = vec![
            json!(token.ids().collect::<Vec<_>>()),
            json!(token.subject()),
        ];
        let found = self.0.read(&REVOCATION, args).await.map_err(away)?;
        let cut_off = found["cut_off"]
            .as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let cut_off = cut_off.map(|since| UNIX_EPOCH + since);

        // Only a clear `false` leaves the token valid: an unexpected value counts as revoked.
        Ok(found["revoked"] != Value::Bool(false)
            || cut_off.is_some_and(|cut_off| token.is_before(cut_off)))
    }

    async fn remove_expired(&self) -> Result<(), AuthError> {
        self.0
            .write(&REMOVE_EXPIRED, Vec::new())
            .await
            .map(drop)
            .map_err(away)
    }
}

fn left(until: SystemTime) -> Duration {
    until.duration_since(SystemTime::now()).unwrap_or_default()
}

fn away(error: AccountError) -> AuthError {
    AuthError::unavailable(error)
}
