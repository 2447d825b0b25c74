//! Clients that close their side of a connection while their request runs.
//!
//! A client that has only shut down its side, as `nc -N` does, waits for the response. A client
//! that has closed the connection does not, and its statement should be canceled. Both look alike:
//! the stream ends. So the client is probed with an interim response: it skips one that it did not
//! expect (RFC 9110, section 15.2.1), and answers with a reset if it is gone.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::time::Sleep;

/// The interim response that probes the client.
const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// The first and the longest interval between two checks for a reset.
const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

/// The ways to detect that a client is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ways {
    /// An interim response: in HTTP/1.1, before the response begins.
    Interim,
    /// The response, if a part of it waits to be sent. It has its own timeout.
    Written,
    /// None.
    Silence,
}

/// The wait of a request whose client sends no more.
#[derive(Debug)]
pub(super) struct HalfClosed {
    /// The mark of the request.
    pub(super) request: u64,
    /// Whether the client was probed, so that it answers with a reset if it is gone.
    asked: bool,
    since: Instant,
    pause: Duration,
    next_look: Pin<Box<Sleep>>,
}

impl HalfClosed {
    pub(super) fn begin(request: u64) -> Self {
        let pause = PAUSES[0];
        let next_look = Box::pin(tokio::time::sleep(pause));
        Self {
            request,
            asked: false,
            since: Instant::now(),
            pause,
            next_look,
        }
    }

    /// Is ready when the client is gone, or presumed gone: after the `timeout`, if it cannot be
    /// probed.
    pub(super) fn poll_gone(
        &mut self,
        cx: &mut Context<'_>,
        stream: &TcpStream,
        ways: Ways,
        timeout: Duration,
    ) -> Poll<io::Result<()>> {
        loop {
            // A read returns only the end of the stream again; a reset is visible in the socket's
            // pending error (`SO_ERROR`).
            if let Some(error) = stream.take_error()? {
                return Poll::Ready(Err(error));
            }

            if ways == Ways::Silence && !self.asked && self.since.elapsed() >= timeout {
                return Poll::Ready(Ok(()));
            }

            // A request that is answered at once needs no probe.
            ready!(self.next_look.as_mut().poll(cx));
            if ways == Ways::Interim && !self.asked {
                self.asked = ask(stream)?;
            }

            self.pause = (self.pause * 2).min(PAUSES[1]);

            self.next_look
                .as_mut()
                .reset(tokio::time::Instant::now() + self.pause);
        }
    }
}

/// Sends the interim response; returns whether it was sent.
fn ask(stream: &TcpStream) -> io::Result<bool> {
    match stream.try_write(INTERIM) {
        Ok(written) if written == INTERIM.len() => Ok(true),
        // No response can follow a partial one.
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
