//! The options for authentication.

use std::future::Future;
use std::time::Duration;

use super::AppOptions;
use crate::app::{ApiKeys, AuthenticatedUser, UserLoader};

impl AppOptions {
    /// Sets the provider that verifies tokens and identifies their users, instead of the provider
    /// of the settings.
    pub fn auth_provider(mut self, provider: impl svc_auth::AuthProvider) -> Self {
        self.provider = Some(std::sync::Arc::new(provider));
        self
    }

    /// Sets a function that completes a user with application data, such as memberships, or rejects
    /// a suspended user: `None` leaves the request without a user, as an invalid token does. An
    /// error is logged, and the response is 503.
    ///
    /// The loaded user is cached with the token for at most `keep_for`, so a role that was revoked
    /// is gone within that time.
    ///
    /// Without a provider and without API keys, the function never runs, and the start logs a
    /// warning.
    ///
    /// ```
    /// use std::time::Duration;
    /// use svc::db::col;
    /// use svc::prelude::*;
    ///
    /// #[svc_type(sql_source = "v_membership")]
    /// struct Membership {
    ///     id: Uuid,
    ///     user_id: Uuid,
    ///     role: String,
    /// }
    ///
    /// let options = AppOptions::new().internal_types(types![Membership]).load_user(
    ///     Duration::from_secs(60),
    ///     |user| async move {
    ///         let id: Uuid = user.user().user_id.parse()?;
    ///         let memberships = user.db().find::<Membership>().filter(col("user_id").eq(id)).await?;
    ///         Ok(Some(user.into_user().roles(memberships.into_iter().map(|membership| membership.role))))
    ///     },
    /// );
    /// ```
    pub fn load_user<F, R>(mut self, keep_for: Duration, load: F) -> Self
    where
        F: Fn(AuthenticatedUser) -> R + Send + Sync + 'static,
        R: Future<Output = svc_core::Result<Option<svc_auth::UserContext>>> + Send + 'static,
    {
        self.user_loader = Some(UserLoader::new(keep_for, load));
        self
    }

    /// Accepts API keys, in addition to the provider's tokens.
    pub fn api_keys(mut self, keys: ApiKeys) -> Self {
        self.api_keys = Some(keys);
        self
    }

    /// Sets the service that revokes tokens before they expire; each request with a token checks
    /// it.
    pub fn token_revocation(mut self, revocation: svc_auth::TokenRevocationService) -> Self {
        self.revocation = Some(revocation);
        self
    }

    /// Sets the database of native accounts, if they are in the application's database.
    #[cfg(feature = "native-auth")]
    pub fn accounts(mut self, accounts: &svc_auth::accounts::AccountDatabase) -> Self {
        self.accounts = Some(accounts.clone());
        self
    }

    /// Whether requests without a user are rejected with 401, regardless of their operations.
    pub fn auth_required(mut self, required: bool) -> Self {
        self.config.auth.required = required;
        self
    }
}
