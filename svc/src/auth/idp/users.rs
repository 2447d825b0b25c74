//! The users of an identity provider, as it knows them.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::IdpProvider;
use super::management::Management;
use crate::auth::AuthError;

/// The management operations. They need a domain, and `client_id` and `client_secret` unless a token is given: without
/// one, the client's own is fetched and kept until it expires.
impl IdpProvider {
    /// The profile of a user, as the identity provider has it.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] without a client, and [`AuthError::Unavailable`] when the identity provider does not
    /// answer as it should.
    pub async fn get_user_profile(
        &self,
        user_id: &str,
        access_token: Option<&str>,
    ) -> Result<Map<String, Value>, AuthError> {
        match self.management()?.get(&encoded(user_id), access_token).await? {
            Value::Object(profile) => Ok(profile),
            _ => Err(AuthError::unavailable("the management API gives no profile")),
        }
    }

    /// The names of a user's roles.
    ///
    /// # Errors
    /// Those of [`get_user_profile`](Self::get_user_profile).
    pub async fn get_user_roles(&self, user_id: &str, access_token: Option<&str>) -> Result<Vec<String>, AuthError> {
        let path = format!("{}/roles", encoded(user_id));
        self.management()?.names(&path, "name", access_token).await
    }

    /// The names of a user's permissions.
    ///
    /// # Errors
    /// Those of [`get_user_profile`](Self::get_user_profile).
    pub async fn get_user_permissions(
        &self,
        user_id: &str,
        access_token: Option<&str>,
    ) -> Result<Vec<String>, AuthError> {
        let path = format!("{}/permissions", encoded(user_id));
        self.management()?.names(&path, "permission_name", access_token).await
    }

    fn management(&self) -> Result<&Management, AuthError> {
        self.management.as_deref().ok_or(AuthError::NotSupported)
    }
}

/// A user's identifier as one part of a path.
fn encoded(user_id: &str) -> String {
    utf8_percent_encode(user_id, NON_ALPHANUMERIC).to_string()
}
