//! Connections as byte streams.

use tokio::io::{AsyncRead, AsyncWrite};

/// A connection to a server, encrypted or not.
pub(in crate::driver) trait Stream:
    AsyncRead + AsyncWrite + Send + Unpin
{
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A boxed [`Stream`].
pub(in crate::driver) type BoxStream = Box<dyn Stream>;
