//! The API keys that have opened sockets and streams, which end with their keys.

use std::collections::HashSet;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::app::users::UserDatabase;
use svc_auth::{AuthError, RevocableToken, RevocationStore, UserContext};

/// Looks up which API keys of open connections are still in force. Requests do not use it: they
/// look their key up again once its cache entry has expired.
pub(super) struct KeysInForce(pub(super) UserDatabase);

impl RevocationStore for KeysInForce {
    async fn revoke(&self, _: &str, _: SystemTime) -> Result<(), AuthError> {
        Err(AuthError::NotSupported)
    }

    async fn revoke_all(&self, _: &str, _: SystemTime, _: SystemTime) -> Result<(), AuthError> {
        Err(AuthError::NotSupported)
    }

    async fn is_revoked(&self, token: &RevocableToken) -> Result<bool, AuthError> {
        Ok(self.are_revoked(&[token]).await?.contains(&true))
    }

    async fn are_revoked(&self, tokens: &[&RevocableToken]) -> Result<Vec<bool>, AuthError> {
        let ids: HashSet<&str> = tokens
            .iter()
            .filter_map(|token| token.api_key_id())
            .collect();
        if ids.is_empty() {
            return Ok(vec![false; tokens.len()]);
        }

        // The function reads no session variables.
        let db = self.0.of_user(&UserContext::default())?;
        let found = db
            .call::<Option<Value>>("public.svc_api_keys_in_force", [json!(ids)])
            .await;
        let found = found.map_err(|error| AuthError::unavailable(error.chain()))?;
        let in_force: HashSet<&str> = found
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();

        // A key that was deleted is not in force either.
        let has_ended =
            |token: &&RevocableToken| token.api_key_id().is_some_and(|id| !in_force.contains(id));

        Ok(tokens.iter().map(has_ended).collect())
    }
}
