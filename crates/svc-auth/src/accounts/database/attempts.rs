//! Failed attempts in PostgreSQL.

use std::time::Duration;

use serde_json::json;

use super::sessions::seconds;
use super::{AccountDatabase, functions};
use crate::accounts::AccountError;

functions! {
    COUNT: "count_attempt($1, $2, $3)";
    FORGIVE: "forgive_attempt($1)";
}

impl AccountDatabase {
    /// Counts an attempt for each of these keys, in this order, up to the first one over its limit.
    /// Returns the time to wait in that case.
    pub(in crate::accounts) async fn count_attempt(
        &self,
        keys: &[(String, u32)],
        window: Duration,
    ) -> Result<Option<Duration>, AccountError> {
        let names: Vec<_> = keys.iter().map(|(key, _)| key).collect();
        let limits: Vec<_> = keys.iter().map(|(_, limit)| limit.to_string()).collect();
        let wait = self
            .write(&COUNT, vec![json!(names), json!(limits), seconds(window)])
            .await?;

        Ok(wait
            .as_u64()
            .filter(|wait| *wait > 0)
            .map(Duration::from_secs))
    }

    /// Takes an attempt back.
    pub(in crate::accounts) async fn forgive_attempt(
        &self,
        keys: &[(String, u32)],
    ) -> Result<(), AccountError> {
        let names: Vec<_> = keys.iter().map(|(key, _)| key).collect();
        self.write(&FORGIVE, vec![json!(names)]).await.map(drop)
    }
}
