//! Reads from a client, with a buffer that exists only while it contains bytes.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The maximum number of bytes per read.
const AT_ONCE: usize = 4096;

/// The connection of a client. A socket that waits for a message reads only a few bytes, because
/// its buffer is small; they are served from a larger read.
pub(super) struct ReadAhead {
    connection: TokioIo<Upgraded>,
    /// The bytes that were read from the connection and not requested yet.
    rest: Bytes,
}

impl ReadAhead {
    pub(super) fn new(connection: TokioIo<Upgraded>) -> Self {
        Self {
            connection,
            rest: Bytes::new(),
        }
    }

    fn take_rest(&mut self, into: &mut ReadBuf<'_>) {
        let count = self.rest.len().min(into.remaining());
        into.put_slice(&self.rest[..count]);
        self.rest.advance(count);
        if self.rest.is_empty() {
            // Frees the memory.
            self.rest = Bytes::new();
        }
    }
}

impl AsyncRead for ReadAhead {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            let mut bytes = [MaybeUninit::uninit(); AT_ONCE];
            let mut read = ReadBuf::uninit(&mut bytes);
            ready!(Pin::new(&mut self.connection).poll_read(cx, &mut read))?;
            let (now, later) = read
                .filled()
                .split_at(read.filled().len().min(into.remaining()));
            into.put_slice(now);
            self.rest = Bytes::copy_from_slice(later);
        } else {
            self.take_rest(into);
        }

        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ReadAhead {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }
}
