//! User profiles, roles and permissions from an identity provider.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::IdpProvider;
use super::management::Management;
use crate::AuthError;

/// The management operations. They need a domain, and `client_id` and `client_secret` unless an
/// access token is passed: without one, the client's own token is fetched and cached until it
/// expires.
impl IdpProvider {
    /// The profile of a user at the identity provider.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] without a client, and [`AuthError::Unavailable`] if the identity
    /// provider does not answer as expected.
    pub async fn get_user_profile(
        &self,
        user_id: &str,
        access_token: Option<&str>,
    ) -> Result<Map<String, Value>, AuthError> {
        match self
            .management()?
            .get(&encoded(user_id), access_token)
            .await?
        {
            Value::Object(profile) => Ok(profile),
            _ => Err(AuthError::unavailable(
                "the management API gives no profile",
            )),
        }
    }

    /// The names of a user's roles.
    ///
    /// # Errors
    /// The errors of [`get_user_profile`](Self::get_user_profile).
    pub async fn get_user_roles(
        &self,
        user_id: &str,
        access_token: Option<&str>,
    ) -> Result<Vec<String>, AuthError> {
        let path = format!("{}/roles", encoded(user_id));
        self.management()?.names(&path, "name", access_token).await
    }

    /// The names of a user's permissions.
    ///
    /// # Errors
    /// The errors of [`get_user_profile`](Self::get_user_profile).
    pub async fn get_user_permissions(
        &self,
        user_id: &str,
        access_token: Option<&str>,
    ) -> Result<Vec<String>, AuthError> {
        let path = format!("{}/permissions", encoded(user_id));
        self.management()?
            .names(&path, "permission_name", access_token)
            .await
    }

    fn management(&self) -> Result<&Management, AuthError> {
        self.management.as_deref().ok_or(AuthError::NotSupported)
    }
}

/// Encodes a user's identifier as one path segment.
fn encoded(user_id: &str) -> String {
    utf8_percent_encode(user_id, NON_ALPHANUMERIC).to_string()
}
