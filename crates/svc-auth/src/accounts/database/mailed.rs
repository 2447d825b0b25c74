//! Mailed tokens in PostgreSQL.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::sessions::seconds;
use super::{AccountDatabase, EndedSessions, functions};
use crate::accounts::{AccountError, PasswordHash};

functions! {
    KEEP: "keep_mailed_token($1, $2, $3, $4, $5)";
    RECIPIENT: "mailed_token_recipient($1, $2)";
    USE: "use_mailed_token($1, $2)";
    RESET_PASSWORD: "reset_password($1, $2, $3)";
}

/// The recipient of a mailed token.
#[derive(Debug, Deserialize)]
pub(in crate::accounts) struct Recipient {
    pub(in crate::accounts) user_id: Uuid,
    pub(in crate::accounts) email: String,
}

impl AccountDatabase {
    /// Stores the MAC of a token, replacing the last one for the same purpose.
    pub(in crate::accounts) async fn keep_mailed_token(
        &self,
        purpose: &str,
        mac: &str,
        to: &Recipient,
        ttl: Duration,
    ) -> Result<(), AccountError> {
        let args = vec![
            json!(to.user_id),
            json!(purpose),
            json!(mac),
            json!(to.email),
            seconds(ttl),
        ];
        self.write(&KEEP, args).await.map(drop)
    }

    /// Returns the recipient of a token without using it up; `None` if it is not, or no longer,
    /// valid.
    pub(in crate::accounts) async fn mailed_token_recipient(
        &self,
        purpose: &str,
        mac: &str,
    ) -> Result<Option<Recipient>, AccountError> {
        let args = vec![json!(purpose), json!(mac)];
        let recipient = self.read(&RECIPIENT, args).await?;
        serde_json::from_value(recipient).map_err(AccountError::unavailable)
    }

    /// Uses a token up; `None` if it is not, or no longer, valid.
    pub(in crate::accounts) async fn use_mailed_token(
        &self,
        purpose: &str,
        mac: &str,
    ) -> Result<Option<Recipient>, AccountError> {
        let used = self.write(&USE, vec![json!(purpose), json!(mac)]).await?;
        serde_json::from_value(used).map_err(AccountError::unavailable)
    }

    /// Uses a token up, sets the password of its recipient and ends all of their sessions, in one
    /// transaction. Returns `None` if the token is not, or no longer, valid.
    pub(in crate::accounts) async fn reset_password(
        &self,
        purpose: &str,
        mac: &str,
        hash: &PasswordHash,
    ) -> Result<Option<EndedSessions>, AccountError> {
        let args = vec![json!(purpose), json!(mac), json!(hash.as_str())];
        let ended = self.write(&RESET_PASSWORD, args).await?;
        serde_json::from_value(ended).map_err(AccountError::unavailable)
    }
}
