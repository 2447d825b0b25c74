//! The trait for revocation stores.

use std::future::Future;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;

use super::RevocableToken;
use crate::AuthError;

/// A store of revocations.
///
/// Errors are [`AuthError::Unavailable`]. A store must never drop a revocation early to make room;
/// it rejects the new one instead.
pub trait RevocationStore: Send + Sync + 'static {
    /// Revokes the token with this [identifier](RevocableToken::id), or all tokens of a
    /// [session](RevocableToken::session_id), until a time.
    ///
    /// # Errors
    /// If the revocation may not have been saved.
    fn revoke(
        &self,
        id: &str,
        until: SystemTime,
    ) -> impl Future<Output = Result<(), AuthError>> + Send;

    /// Revokes all tokens of a subject issued before the cut-off, until a time. Of two cut-offs,
    /// the later one applies.
    ///
    /// # Errors
    /// If the revocation may not have been saved.
    fn revoke_all(
        &self,
        subject: &str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> impl Future<Output = Result<(), AuthError>> + Send;

    /// Whether a token is revoked: by one of its [identifiers](RevocableToken::ids), or by a
    /// cut-off of its subject. Requests wait for the result, so it should take one round trip.
    ///
    /// # Errors
    /// If the store does not answer.
    fn is_revoked(
        &self,
        token: &RevocableToken,
    ) -> impl Future<Output = Result<bool, AuthError>> + Send;

    /// Whether each of these tokens is revoked. Called twice a second for the tokens of open
    /// sockets; override it if the store can look up all of them at once.
    ///
    /// # Errors
    /// If the store does not answer.
    fn are_revoked(
        &self,
        tokens: &[&RevocableToken],
    ) -> impl Future<Output = Result<Vec<bool>, AuthError>> + Send {
        async move {
            let mut answers = Vec::with_capacity(tokens.len());
            for token in tokens {
                answers.push(self.is_revoked(token).await?);
            }
            Ok(answers)
        }
    }

    /// Removes expired revocations. A store that expires them by itself need not implement this.
    ///
    /// # Errors
    /// If the store does not answer.
    fn remove_expired(&self) -> impl Future<Output = Result<(), AuthError>> + Send {
        std::future::ready(Ok(()))
    }
}

/// The result of looking up several tokens.
#[derive(Debug)]
pub struct LookedUp {
    /// Whether each of the tokens is known to be revoked.
    pub revoked: Vec<bool>,
    /// The error of a store that did not answer: the other tokens may be revoked as well.
    pub failure: Option<AuthError>,
}

impl LookedUp {
    /// None of so many tokens is revoked.
    pub(super) fn none_of(count: usize) -> Self {
        Self {
            revoked: vec![false; count],
            failure: None,
        }
    }

    fn failed(count: usize, error: AuthError) -> Self {
        Self {
            failure: Some(error),
            ..Self::none_of(count)
        }
    }

    /// The results of two stores: a revocation in either of them counts.
    pub(super) fn or(mut self, other: Self) -> Self {
        for (revoked, other) in self.revoked.iter_mut().zip(other.revoked) {
            *revoked |= other;
        }

        Self {
            failure: self.failure.or(other.failure),
            ..self
        }
    }
}

/// [`RevocationStore`] for trait objects.
pub(super) trait DynStore: Send + Sync {
    fn revoke<'a>(&'a self, id: &'a str, until: SystemTime)
    -> BoxFuture<'a, Result<(), AuthError>>;
    fn revoke_all<'a>(
        &'a self,
        subject: &'a str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), AuthError>>;
    fn is_revoked<'a>(
        &'a self,
        token: &'a RevocableToken,
    ) -> BoxFuture<'a, Result<bool, AuthError>>;
    fn are_revoked<'a>(
        &'a self,
        tokens: &'a [&'a RevocableToken],
        timeout: Duration,
    ) -> BoxFuture<'a, LookedUp>;
    fn remove_expired(&self) -> BoxFuture<'_, Result<(), AuthError>>;
}

impl<S: RevocationStore> DynStore for S {
    fn revoke<'a>(
        &'a self,
        id: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), AuthError>> {
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
    fn is_revoked<'a>(
        &'a self,
        token: &'a RevocableToken,
    ) -> BoxFuture<'a, Result<bool, AuthError>> {
        Box::pin(RevocationStore::is_revoked(self, token))
    }
    fn are_revoked<'a>(
        &'a self,
        tokens: &'a [&'a RevocableToken],
        timeout: Duration,
    ) -> BoxFuture<'a, LookedUp> {
        Box::pin(async move {
            let found =
                tokio::time::timeout(timeout, RevocationStore::are_revoked(self, tokens)).await;
            let error = match found {
                Ok(Ok(revoked)) if revoked.len() == tokens.len() => {
                    return LookedUp {
                        revoked,
                        failure: None,
                    };
                }
                // Results and tokens are paired by position.
                Ok(Ok(_)) => {
                    AuthError::unavailable("the store has answered another number of tokens")
                }
                Ok(Err(error)) => error,
                Err(_) => AuthError::unavailable("no answer in time"),
            };

            LookedUp::failed(tokens.len(), error)
        })
    }
    fn remove_expired(&self) -> BoxFuture<'_, Result<(), AuthError>> {
        Box::pin(RevocationStore::remove_expired(self))
    }
}
