//! The seam for stores of sessions.

use std::future::Future;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::SessionError;

/// A place where the content of sessions is kept, by keys that give nobody a session.
///
/// Errors are [`SessionError::Unavailable`].
pub trait SessionStore: Send + Sync + 'static {
    /// Returns the content that is kept under a key; `None` when there is none, or its time is over.
    ///
    /// # Errors
    /// The failure of a store that does not answer.
    fn load(&self, key: &str) -> impl Future<Output = Result<Option<Vec<u8>>, SessionError>> + Send;

    /// Keeps a content for a time.
    ///
    /// # Errors
    /// When it is not kept for certain.
    fn save(&self, key: &str, content: Vec<u8>, ttl: Duration)
    -> impl Future<Output = Result<(), SessionError>> + Send;

    /// Keeps a content for a time in place of what is kept under a key; whether anything was. It has to be one step, as a
    /// session that ends meanwhile must not come back.
    ///
    /// # Errors
    /// When that is not certain.
    fn replace(
        &self,
        key: &str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, SessionError>> + Send;

    /// Removes what is kept under a key; whether anything was.
    ///
    /// # Errors
    /// When it is not gone for certain.
    fn delete(&self, key: &str) -> impl Future<Output = Result<bool, SessionError>> + Send;
}

/// [`SessionStore`] for trait objects.
pub(super) trait DynStore: Send + Sync {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>>;
    fn save<'a>(&'a self, key: &'a str, content: Vec<u8>, ttl: Duration) -> BoxFuture<'a, Result<(), SessionError>>;
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
    fn save<'a>(&'a self, key: &'a str, content: Vec<u8>, ttl: Duration) -> BoxFuture<'a, Result<(), SessionError>> {
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
