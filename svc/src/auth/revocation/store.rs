//! The seam for stores of revocations.

use std::future::Future;
use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::RevocableToken;
use crate::auth::AuthError;

/// A place where revocations are kept.
///
/// Errors are [`AuthError::Unavailable`]. A store must never forget a revocation before its time to make room: it then
/// refuses the new one.
pub trait RevocationStore: Send + Sync + 'static {
    /// Keeps that the token with this [identifier](RevocableToken::id), or all of a
    /// [session](RevocableToken::session_id), is revoked, until a time.
    ///
    /// # Errors
    /// When it is not kept for certain.
    fn revoke(&self, id: &str, until: SystemTime) -> impl Future<Output = Result<(), AuthError>> + Send;

    /// Keeps, until a time, that all tokens of a subject are revoked that were issued before the cut-off. Of two
    /// cut-offs the later counts.
    ///
    /// # Errors
    /// When it is not kept for certain.
    fn revoke_all(
        &self,
        subject: &str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> impl Future<Output = Result<(), AuthError>> + Send;

    /// Whether a token is revoked: by one of its [identifiers](RevocableToken::ids), or with all of its subject's. Requests wait for it, so it should be one
    /// round trip.
    ///
    /// # Errors
    /// The failure of a store that does not answer.
    fn is_revoked(&self, token: &RevocableToken) -> impl Future<Output = Result<bool, AuthError>> + Send;

    /// Whether each of these tokens is revoked. The tokens of open sockets are looked up so, twice a second, and a store
    /// that can answer for all of them at once should.
    ///
    /// # Errors
    /// The failure of a store that does not answer.
    fn are_revoked(&self, tokens: &[&RevocableToken]) -> impl Future<Output = Result<Vec<bool>, AuthError>> + Send {
        async move {
            let mut answers = Vec::with_capacity(tokens.len());
            for token in tokens {
                answers.push(self.is_revoked(token).await?);
            }
            Ok(answers)
        }
    }

    /// Removes what is kept no longer. A store that does so by itself leaves this as it is.
    ///
    /// # Errors
    /// The failure of a store that does not answer.
    fn remove_expired(&self) -> impl Future<Output = Result<(), AuthError>> + Send {
        std::future::ready(Ok(()))
    }
}

/// [`RevocationStore`] for trait objects.
pub(super) trait DynStore: Send + Sync {
    fn revoke<'a>(&'a self, id: &'a str, until: SystemTime) -> BoxFuture<'a, Result<(), AuthError>>;
    fn revoke_all<'a>(
        &'a self,
        subject: &'a str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), AuthError>>;
    fn is_revoked<'a>(&'a self, token: &'a RevocableToken) -> BoxFuture<'a, Result<bool, AuthError>>;
    fn are_revoked<'a>(&'a self, tokens: &'a [&'a RevocableToken]) -> BoxFuture<'a, Result<Vec<bool>, AuthError>>;
    fn remove_expired(&self) -> BoxFuture<'_, Result<(), AuthError>>;
}

impl<S: RevocationStore> DynStore for S {
    fn revoke<'a>(&'a self, id: &'a str, until: SystemTime) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(RevocationStore::revoke(self, id, until))
    }
    fn revoke_all<'a>(
        &'a self,
        subject: &'a str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(RevocationStore::revoke_all(self, subject, cut_off, until))
    }
    fn is_revoked<'a>(&'a self, token: &'a RevocableToken) -> BoxFuture<'a, Result<bool, AuthError>> {
        Box::pin(RevocationStore::is_revoked(self, token))
    }
    fn are_revoked<'a>(&'a self, tokens: &'a [&'a RevocableToken]) -> BoxFuture<'a, Result<Vec<bool>, AuthError>> {
        Box::pin(RevocationStore::are_revoked(self, tokens))
    }
    fn remove_expired(&self) -> BoxFuture<'_, Result<(), AuthError>> {
        Box::pin(RevocationStore::remove_expired(self))
    }
}
