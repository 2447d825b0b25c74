//! Networks where accounts have logged in, in PostgreSQL.

use std::time::Duration;

use serde_json::json;

use super::sessions::seconds;
use super::{AccountDatabase, functions};
use crate::accounts::AccountError;

functions! {
    IS_KNOWN: "is_known_network($1, $2)";
    KNOW: "know_network($1, $2, $3)";
}

/// An account, and the network of a client that names it, as keys that reveal neither.
pub(in crate::accounts) struct Visit {
    pub(in crate::accounts) account: String,
    pub(in crate::accounts) network: String,
}

impl AccountDatabase {
    /// Whether the account has logged in from this network before.
    pub(in crate::accounts) async fn is_known_network(
        &self,
        visit: &Visit,
    ) -> Result<bool, AccountError> {
        let known = self
            .read(&IS_KNOWN, vec![json!(visit.account), json!(visit.network)])
            .await?;
        Ok(known.as_bool() == Some(true))
    }

    /// Records that the account has logged in from this network.
    pub(in crate::accounts) async fn know_network(
        &self,
        visit: &Visit,
        keep_for: Duration,
    ) -> Result<(), AccountError> {
        let args = vec![
            json!(visit.account),
            json!(visit.network),
            seconds(keep_for),
        ];
        self.write(&KNOW, args).await.map(drop)
    }
}
