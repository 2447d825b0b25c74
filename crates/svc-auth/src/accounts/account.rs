//! Accounts as the application sees them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An account. It contains no password hash; `Debug` shows the identifier only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Account {
    /// The identifier.
    pub user_id: Uuid,
    /// The name to log in with, as [`UserRepository`](super::UserRepository) describes it.
    pub username: String,
    /// The email address.
    pub email: String,
    /// Whether the address was verified with a mailed token.
    #[serde(default)]
    pub email_verified: bool,
    /// The display name.
    #[serde(default)]
    pub name: Option<String>,
    /// The roles.
    #[serde(default)]
    pub roles: Vec<String>,
    /// The permissions.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// Whether it is suspended: it cannot log in, and its sessions end at their next token refresh.
    #[serde(default, skip_serializing)]
    pub disabled: bool,
    /// The time of creation.
    pub created_at: DateTime<Utc>,
}

impl Account {
    /// An account created now, without roles and permissions.
    pub fn new(user_id: Uuid, username: impl Into<String>, email: impl Into<String>) -> Self {
        Self {
            user_id,
            username: username.into(),
            email: email.into(),
            email_verified: false,
            name: None,
            roles: Vec::new(),
            permissions: Vec::new(),
            disabled: false,
            created_at: Utc::now(),
        }
    }

    /// The names and the address, which its password must not match.
    pub(super) fn names(&self) -> Vec<&str> {
        [&self.username, &self.email]
            .into_iter()
            .chain(&self.name)
            .map(String::as_str)
            .collect()
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("user_id", &self.user_id)
            .finish_non_exhaustive()
    }
}
