//! The socket of a connection; it records the client's activity.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::activity::{Activity, Order, Phase};
use super::half_close::{HalfClosed, Ways};
use super::seats::Seat;

/// The maximum number of bytes that are read and discarded after a rejection.
const MAX_DISCARDED_BYTES: usize = 16 * 1024 * 1024;
/// The size of the reads that discard.
const DISCARDED: usize = 16 * 1024;

/// A client's socket.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    activity: Arc<Activity>,
    /// Whether some of the written bytes were not accepted by the client yet.
    blocked: bool,
    /// Once nothing more will be written: the number of bytes that may still be discarded.
    lingering: Option<usize>,
    /// The mark of the connection at the last write.
    written_at: Option<u64>,
    /// The mark of the connection when the client's last byte had arrived.
    ended_at: Option<u64>,
    half_closed: Option<HalfClosed>,
    half_close_timeout: Duration,
    /// Held as long as the socket is open; it counts toward the connection limit.
    _seat: Arc<Seat>,
}

impl Socket {
    pub(super) fn new(
        stream: TcpStream,
        activity: Arc<Activity>,
        seat: Arc<Seat>,
        half_close_timeout: Duration,
    ) -> Self {
        Self {
            stream,
            activity,
            blocked: false,
            lingering: None,
            written_at: None,
            ended_at: None,
            half_closed: None,
            half_close_timeout,
            _seat: seat,
        }
    }

    /// Handles the end of the client's stream. Unless a request runs, it is the end of the
    /// connection.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // HTTP/2 and the handler of an upgraded connection handle the end themselves.
        if self.activity.has_ended() || self.activity.is_http2() {
            return Poll::Ready(Ok(()));
        }

        let mark = self.activity.mark();
        if self.activity.phase() != Phase::Busy {
            if self.ended_at == Some(mark) {
                return Poll::Ready(Ok(()));
            }
            // A head that arrived with the end is handed over before the next read.
            self.ended_at = Some(mark);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }

        self.activity.half_close();
        let half_closed = match &mut self.half_closed {
            Some(half_closed) if half_closed.request == mark => half_closed,
            other => other.insert(HalfClosed::begin(mark)),
        };

        // An interim response in the middle of a response would break its framing, and an HTTP/1.0
        // client must not be sent one (RFC 9110, section 15.2).
        let ways = match (
            self.blocked,
            self.written_at == Some(mark) || self.activity.is_http10(),
        ) {
            (true, _) => Ways::Written,
            (false, true) => Ways::Silence,
            (false, false) => Ways::Interim,
        };

        half_closed.poll_gone(cx, &self.stream, ways, self.half_close_timeout)
    }

    fn written(&mut self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &result {
            Poll::Pending if !self.blocked => {
                self.blocked = true;
                self.activity.set_blocked(true);
            }
            Poll::Ready(Ok(bytes)) => {
                self.written_at = Some(self.activity.mark());
                self.activity.add_taken(*bytes);
            }
            _ => {}
        }

        result
    }

    /// Reads and discards the client's bytes until it has received the response and closes. Closing
    /// a socket with unread bytes resets the connection, and the client would lose the response.
    fn discard(&mut self, cx: &mut Context<'_>, mut left: usize) -> Poll<()> {
        let mut bytes = [0; DISCARDED];
        while left > 0 {
            self.lingering = Some(left);
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let read_bytes = buffer.filled().len();
            if read.is_err() || read_bytes == 0 {
                break;
            }
            self.activity.add_moved(read_bytes);
            left = left.saturating_sub(read_bytes);
        }

        self.lingering = Some(0);

        Poll::Ready(())
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.activity.bytes_came();
        } else if matches!(result, Poll::Ready(Ok(()))) && buffer.remaining() > 0 {
            return self.poll_end(cx);
        }
        result
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when everything has been written.
    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.blocked {
            self.blocked = false;
            self.activity.set_blocked(false);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let left = match self.lingering {
            Some(left) => left,
            None => {
                ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
                if self.activity.start_lingering() {
                    MAX_DISCARDED_BYTES
                } else {
                    0
                }
            }
        };

        if left == 0 {
            self.lingering = Some(0);
            return Poll::Ready(Ok(()));
        }

        self.discard(cx, left).map(Ok)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.activity.order() == Order::Reset {
            // Otherwise the kernel would keep trying to send bytes that the client does not accept.
            // An error means that the connection is already gone.
            let _ = self.stream.set_zero_linger();
        }
    }
}
