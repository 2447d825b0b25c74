//! The reader of a request's body, which the service counts among its pending ones.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::future::BoxFuture;

/// A function that reads at most so many bytes in at most so long.
type Read =
    dyn Fn(Body, usize, Duration) -> BoxFuture<'static, Result<Bytes, StatusCode>> + Send + Sync;

/// Reads the bodies of a client; an extension of its requests.
#[derive(Clone)]
pub struct BodyReader(Arc<Read>);

impl BodyReader {
    /// A reader, from the function that reads.
    pub fn new(
        read: impl Fn(Body, usize, Duration) -> BoxFuture<'static, Result<Bytes, StatusCode>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(read))
    }

    /// Returns the whole body, if it arrives in time.
    ///
    /// # Errors
    /// The status of the rejection: 429 and 503 if the body was given up for others.
    pub(crate) async fn read(
        &self,
        body: Body,
        limit: usize,
        timeout: Duration,
    ) -> Result<Bytes, StatusCode> {
        (self.0)(body, limit, timeout).await
    }
}

impl fmt::Debug for BodyReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BodyReader")
    }
}
