//! The trait for session stores.

use std::future::Future;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::SessionError;

/// A store for the content of sessions. Its keys do not open a session.
///
/// Errors are [`SessionError::Unavailable`].
pub trait SessionStore: Send + Sync + 'static {
    /// Returns the content under a key; `None` if there is none, or it has expired.
    ///
    /// # Errors
    /// If the store does not answer.
    fn load(&self, key: &str)
    -> impl Future<Output = Result<Option<Vec<u8>>, SessionError>> + Send;

    /// Whether there is content under a key that has not expired. It is called from time to time
    /// while a socket or stream of the session is open.
    ///
    /// # Errors
    /// If the store does not answer.
    fn exists(&self, key: &str) -> impl Future<Output = Result<bool, SessionError>> + Send {
        async move { Ok(SessionStore::load(self, key).await?.is_some()) }
    }

    /// Saves content under a key, for a time.
    ///
    /// # Errors
    /// If the content may not have been saved.
    fn save(
        &self,
        key: &str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> impl Future<Output = Result<(), SessionError>> + Send;

    /// Replaces the content under a key, for a time; returns whether there was any. This must be a
    /// single atomic step, as a session that ends in the meantime must not come back.
    ///
    /// # Errors
    /// If the outcome is uncertain.
    fn replace(
        &self,
        key: &str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, SessionError>> + Send;

    /// Removes the content under a key; returns whether there was any.
    ///
    /// # Errors
    /// If the content may not have been removed.
    fn delete(&self, key: &str) -> impl Future<Output = Result<bool, SessionError>> + Send;
}

/// [`SessionStore`] for trait objects.
pub(super) trait DynStore: Send + Sync {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>>;
    fn exists<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, SessionError>>;
    fn save<'a>(
        &'a self,
        key: &'a str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), SessionError>>;
    fn replace<'a>(
        &'a self,
        key: &'a str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, SessionError>>;
    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, SessionError>>;
}

impl<S: SessionStore> DynStore for S {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>> {
        Box::pin(SessionStore::load(self, key))
    }
    fn exists<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(SessionStore::exists(self, key))
    }
    fn save<'a>(
        &'a self,
        key: &'a str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), SessionError>> {
        Box::pin(SessionStore::save(self, key, content, ttl))
    }
    fn replace<'a>(
        &'a self,
        key: &'a str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(SessionStore::replace(self, key, content, ttl))
    }
    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(SessionStore::delete(self, key))
    }
}
