//! Revocations in PostgreSQL.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::sessions::seconds;
use super::{AccountDatabase, functions};
use crate::accounts::AccountError;
use crate::{AuthError, RevocableToken, RevocationStore};
use svc_postgres::StatementText;

functions! {
    REVOKE: "revoke_token($1, $2)";
    REVOKE_ALL: "revoke_subject($1, $2, $3)";
    REVOCATION: "revocation($1, $2)";
    REMOVE_EXPIRED: "remove_expired()";
}

/// The maximum number of tokens looked up with one statement.
const TOKENS_AT_ONCE: usize = 1_000;

/// The revocations of many tokens, in their order.
static REVOCATIONS: LazyLock<StatementText> = LazyLock::new(|| {
    "SELECT jsonb_agg(svc_auth.revocation( \
         ARRAY(SELECT jsonb_array_elements_text(token -> 'ids')), token ->> 'subject' \
     ) ORDER BY place)::text \
     FROM jsonb_array_elements($1) WITH ORDINALITY AS tokens(token, place)"
        .into()
});

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
        Ok(is_revoked(token, &found))
    }

    async fn are_revoked(&self, tokens: &[&RevocableToken]) -> Result<Vec<bool>, AuthError> {
        let mut answers = Vec::with_capacity(tokens.len());
        for tokens in tokens.chunks(TOKENS_AT_ONCE) {
            answers.extend(self.look_up(tokens).await?);
        }
        Ok(answers)
    }

    async fn remove_expired(&self) -> Result<(), AuthError> {
        self.0
            .write(&REMOVE_EXPIRED, Vec::new())
            .await
            .map(drop)
            .map_err(away)
    }
}

impl PostgresRevocationStore {
    /// Looks up all tokens with one statement.
    async fn look_up(&self, tokens: &[&RevocableToken]) -> Result<Vec<bool>, AuthError> {
        let asked = tokens.iter().map(
            |token| json!({ "ids": token.ids().collect::<Vec<_>>(), "subject": token.subject() }),
        );
        let asked = Value::Array(asked.collect());
        let found = self.0.read(&REVOCATIONS, vec![asked]).await.map_err(away)?;

        // Results and tokens are paired by position.
        match found {
            Value::Array(found) if found.len() == tokens.len() => Ok(tokens
                .iter()
                .zip(&found)
                .map(|(token, found)| is_revoked(token, found))
                .collect()),
            _ => Err(AuthError::unavailable(
                "PostgreSQL has answered another number of values",
            )),
        }
    }
}

/// Whether a token is revoked, by the revocations that were found for it.
fn is_revoked(token: &RevocableToken, found: &Value) -> bool {
    let cut_off = found["cut_off"]
        .as_f64()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let cut_off = cut_off.map(|since| UNIX_EPOCH + since);

    // Only a clear `false` leaves the token valid: an unexpected value counts as revoked.
    found["revoked"] != Value::Bool(false)
        || cut_off.is_some_and(|cut_off| token.is_before(cut_off))
}

fn left(until: SystemTime) -> Duration {
    until.duration_since(SystemTime::now()).unwrap_or_default()
}

fn away(error: AccountError) -> AuthError {
    AuthError::unavailable(error)
}
