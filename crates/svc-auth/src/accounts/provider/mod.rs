//! The provider of native accounts.

mod attempt_limits;
mod attempts;
mod change;
mod factory;
mod login;
mod mail;
mod mail_permits;
mod networks;
mod new_password;
mod revoked_sessions;

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use ring::hmac;
use uuid::Uuid;

pub use attempt_limits::AttemptLimits;
pub use factory::{NativeAuthError, NativeAuthFactory};
use mail_permits::MailPermits;
use revoked_sessions::PendingRevocations;

use super::audit::{self, Event};
use super::client::{Client, ClientAddress};
use super::mailer::DynMailer;
use super::password::{DynBreached, PasswordHasher};
use super::refused::Refused;
use super::repository::DynUsers;
use super::tokens::{SessionToken, TokenType, Tokens};
use super::{AccountDatabase, PasswordRules};
use crate::{
    AuthError, AuthProvider, Authenticated, Claims, RevocableToken, TokenRevocationService,
    UserContext,
};

/// The minimum length of a secret in production: the length of the hash (RFC 7518, section 3.2).
const SECRET: usize = 32;
/// The timeout for the revocation store.
const PATIENCE: Duration = Duration::from_secs(5);

/// The provider of native accounts: users with names and passwords, their sessions and tokens;
/// created by [`NativeAuthFactory`](super::NativeAuthFactory), and cheap to clone.
///
/// Pass it to `AppOptions::auth_provider`, which verifies access tokens, and to
/// [`create_auth_router`](super::create_auth_router), which provides the routes.
#[derive(Clone)]
pub struct NativeAuthProvider(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) users: Box<dyn DynUsers>,
    pub(super) database: AccountDatabase,
    /// Whether `database` also has the passwords, so that one transaction can change both.
    has_passwords: bool,
    pub(super) hasher: PasswordHasher,
    pub(super) rules: PasswordRules,
    /// The words of the service that no password may consist of.
    context_words: Vec<String>,
    breached: Option<Box<dyn DynBreached>>,
    pub(super) tokens: Tokens,
    pub(super) revocation: TokenRevocationService,
    pending: PendingRevocations,
    pub(super) limits: AttemptLimits,
    pub(super) mailer: Option<Box<dyn DynMailer>>,
    mails: MailPermits,
    pub(super) address: ClientAddress,
    /// Computes the MACs under which mailed tokens and attempts are stored.
    pub(super) mac_key: hmac::Key,
    /// The length of the secret in bytes.
    pub(super) secret: usize,
}

impl NativeAuthProvider {
    /// Returns the user of an access token that is not revoked, for the application's own routes.
    ///
    /// # Errors
    /// [`AuthError::TokenExpired`] and [`AuthError::InvalidToken`] for an invalid token, and
    /// [`AuthError::Unavailable`] if it cannot be verified at the moment.
    pub async fn verify(&self, access_token: &str) -> Result<UserContext, AuthError> {
        Ok(self.verified(access_token).await?.user())
    }

    /// Ends the session of an access token: its access and refresh tokens are no longer valid.
    ///
    /// # Errors
    /// [`AuthError::TokenExpired`] and [`AuthError::InvalidToken`] for an invalid token, and
    /// [`AuthError::Unavailable`] if some of the session's tokens may still be valid.
    pub async fn logout(&self, access_token: &str) -> Result<(), AuthError> {
        let token = self.verified(access_token).await?;
        Ok(self.end_session(&token).await?)
    }

    /// Ends all sessions of a user: no token issued before remains valid.
    ///
    /// # Errors
    /// [`AuthError::Unavailable`] if some sessions may not have ended; the call can be repeated.
    pub async fn logout_all_sessions(&self, user_id: Uuid) -> Result<(), AuthError> {
        self.end_all(user_id).await?;
        audit::note(
            Event::LoggedOutEverywhere,
            Some(user_id),
            &Client::default(),
        );
        Ok(())
    }

    /// Deletes an account and ends its sessions; returns whether there was one.
    ///
    /// # Errors
    /// [`AuthError::Unavailable`] if the outcome is uncertain; the call can be repeated.
    pub async fn delete_user(&self, user_id: Uuid) -> Result<bool, AuthError> {
        self.remove(user_id, &Client::default()).await
    }

    /// Deletes an account and ends its sessions, at the request of a client; returns whether there
    /// was one.
    pub(super) async fn remove(&self, user_id: Uuid, client: &Client) -> Result<bool, AuthError> {
        // The account goes first: in the other order, a log-in in between would leave a session.
        let deleted = self
            .0
            .users
            .delete(user_id)
            .await
            .map_err(AuthError::unavailable)?;

        // Also without an account: an earlier call may have deleted it and failed after that.
        self.end_all(user_id).await?;
        audit::note(Event::Deleted, Some(user_id), client);

        Ok(deleted)
    }

    /// Verifies an access token, and checks that it is not revoked.
    pub(super) async fn verified(&self, token: &str) -> Result<SessionToken, AuthError> {
        let token = self.0.tokens.verify(token, TokenType::Access)?;
        let revocable = RevocableToken::new(&token.claims, &token.user());
        let revoked =
            tokio::time::timeout(PATIENCE, self.0.revocation.is_revoked(&revocable)).await;
        match revoked.map_err(|_| AuthError::unavailable("no answer in time"))?? {
            true => Err(AuthError::invalid("it was revoked")),
            false => Ok(token),
        }
    }

    /// Ends the session of a token. The call can be repeated if a dependency was unavailable.
    pub(super) async fn end_session(&self, token: &SessionToken) -> Result<(), Refused> {
        // Whether the session was still open does not matter: a repeated call has to revoke its
        // tokens all the same.
        self.0
            .database
            .end_session(token.user_id, token.session)
            .await?;
        self.revoke_session(token.session).await
    }
}

impl AuthProvider for NativeAuthProvider {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Ok(self.0.tokens.verify(token, TokenType::Access)?.claims)
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        Ok(self.0.tokens.verify(token, TokenType::Access)?.user())
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let token = self.0.tokens.verify(token, TokenType::Access)?;
        let ends = token
            .claims
            .expires_at()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let user = token.user();
        let authenticated = Authenticated::new(token.claims, user);

        Ok(match ends {
            Some(ends) => authenticated.keep_until(UNIX_EPOCH + ends),
            None => authenticated,
        })
    }

    async fn refresh_token(&self, refresh_token: &str) -> Result<(String, String), AuthError> {
        let tokens = self.exchange(refresh_token, &Client::default()).await?;
        Ok((tokens.access_token, tokens.refresh_token))
    }

    /// Ends the session of an access or refresh token.
    async fn revoke_token(&self, token: &str) -> Result<(), AuthError> {
        let tokens = &self.0.tokens;
        let token = tokens
            .verify(token, TokenType::Access)
            .or_else(|_| tokens.verify(token, TokenType::Refresh))?;
        Ok(self.end_session(&token).await?)
    }

    fn weakness(&self) -> Option<String> {
        let bytes = Some(self.0.secret).filter(|bytes| *bytes < SECRET)?;
        Some(format!(
            "the secret of tokens has {bytes} bytes; it must have at least {SECRET}"
        ))
    }

    fn revocation(&self) -> Option<TokenRevocationService> {
        Some(self.0.revocation.clone())
    }
}

impl std::fmt::Debug for NativeAuthProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeAuthProvider")
            .field("tokens", &self.0.tokens)
            .finish_non_exhaustive()
    }
}
