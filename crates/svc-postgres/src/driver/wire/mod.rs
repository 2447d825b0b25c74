//! The socket of a connection, written and read by the request that uses the connection, in its own
//! task.

#[cfg(all(unix, feature = "sqlx"))]
mod dial;
#[cfg(all(unix, feature = "sqlx"))]
mod stream;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
pub(super) mod tls;
mod watch;

#[cfg(all(unix, feature = "sqlx"))]
pub(super) use dial::dial;
#[cfg(all(unix, feature = "sqlx"))]
pub(super) use stream::BoxStream;
pub(super) use watch::{Watch, Watches};

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Notification, Socket};

use tls::Connector;

use super::DriverError;

/// How long a closed connection may wait for outstanding responses.
const FAREWELL: Duration = Duration::from_secs(1);

type Stream = tokio_postgres::Connection<Socket, <Connector as MakeTlsConnect<Socket>>::Stream>;

/// The socket and the waker it notifies, which wakes the task that is waiting now. The driver's
/// channels remember the last waiting task, and would wake that task, or this one once more, with
/// each message.
pub(super) struct Wire {
    stream: Stream,
    watch: Arc<Watch>,
    waker: Waker,
    /// The notifications not yet consumed; `None` where the connection does not collect any.
    notifications: Option<VecDeque<Notification>>,
}

impl Wire {
    pub(super) fn new(stream: Stream) -> Self {
        let watch = Arc::<Watch>::default();
        Self {
            stream,
            waker: watch.clone().into(),
            watch,
            notifications: None,
        }
    }

    /// Returns the watchdog's record of the connection.
    pub(super) fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// Writes and reads until the work is done. The work must wait for messages only.
    ///
    /// # Errors
    /// [`DriverError::Unanswered`] when the watchdog reports the statement as late.
    pub(super) async fn drive<T, E>(
        &mut self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, DriverError>
    where
        DriverError: From<E>,
    {
        let mut work = pin!(work);
        let mut waits = false;
        poll_fn(|cx| {
            // The work is polled after each message, so it needs no waker.
            let nobody = &mut Context::from_waker(Waker::noop());
            if waits {
                // The task is also woken for other parts of its request, when the socket has
                // nothing to read.
                if !self.watch.woken.take_wake(cx.waker()) {
                    return Poll::Pending;
                }
            } else {
                // Sends the pending messages.
                if let Poll::Ready(done) = work.as_mut().poll(nobody) {
                    return Poll::Ready(done.map_err(DriverError::from));
                }
                self.watch.woken.take_wake(cx.waker());
                waits = true;
            }

            let ended = self.poll();
            let done = match (work.as_mut().poll(nobody), ended) {
                // A complete result counts even if the server closed the connection right behind
                // it.
                (Poll::Ready(Ok(done)), _) => Ok(done),
                // The reason why the connection ended takes precedence over the error of the work.
                (_, Some(error)) => Err(error),
                (Poll::Ready(Err(error)), None) => Err(error.into()),
                (Poll::Pending, None) if self.watch.is_late() => Err(DriverError::Unanswered),
                (Poll::Pending, None) => return Poll::Pending,
            };

            self.watch.woken.leave();

            Poll::Ready(done)
        })
        .await
    }

    /// Drives work, and sends other work right behind it. The result of the first does not depend
    /// on the second.
    pub(super) async fn drive_both<T, U, E>(
        &mut self,
        work: impl Future<Output = T>,
        behind: impl Future<Output = Result<U, E>>,
    ) -> Result<(T, Result<U, DriverError>), DriverError>
    where
        DriverError: From<E>,
    {
        let (mut work, mut behind) = (pin!(work), pin!(behind));
        let mut second = None;
        let both = poll_fn(|cx| {
            // First, as messages are sent in the order of polling.
            let first = work.as_mut().poll(cx);
            if second.is_none()
                && let Poll::Ready(done) = behind.as_mut().poll(cx)
            {
                second = Some(done.map_err(DriverError::from));
            }
            first.map(Ok::<_, DriverError>)
        });

        let first = self.drive::<_, DriverError>(both).await?;
        let second = match second {
            Some(done) => done,
            None => self.drive(behind).await,
        };

        Ok((first, second))
    }

    /// Writes and reads as much as possible without waiting. Returns the reason if the connection
    /// has ended.
    fn poll(&mut self) -> Option<DriverError> {
        let cx = &mut Context::from_waker(&self.waker);
        loop {
            match self.stream.poll_message(cx) {
                Poll::Pending => return None,
                Poll::Ready(Some(Ok(AsyncMessage::Notification(notification)))) => {
                    self.notifications
                        .iter_mut()
                        .for_each(|kept| kept.push_back(notification.clone()));
                }
                // A notice.
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => return Some(DriverError::Postgres(error)),
                Poll::Ready(None) => return Some(DriverError::Closed),
            }
        }
    }

    /// Keeps the notifications that arrive from now on.
    pub(super) fn keep_notifications(&mut self) {
        self.notifications.get_or_insert_default();
    }

    /// Waits for the next notification.
    pub(super) async fn notified(&mut self) -> Result<Notification, DriverError> {
        poll_fn(|cx| {
            if let Some(kept) = self.notifications.as_mut().and_then(VecDeque::pop_front) {
                return Poll::Ready(Ok(kept));
            }

            // Registers the task before the socket is polled, so that no wake is missed in between.
            self.watch.woken.take_wake(cx.waker());
            let ended = self.poll();
            match (
                self.notifications.as_mut().and_then(VecDeque::pop_front),
                ended,
            ) {
                (Some(notification), _) => Poll::Ready(Ok(notification)),
                (None, Some(error)) => Poll::Ready(Err(error)),
                (None, None) => Poll::Pending,
            }
        })
        .await
    }

    /// Whether the connection is open, as far as is visible without a round trip.
    pub(super) fn is_alive(&mut self) -> bool {
        self.poll().is_none()
    }

    /// Sends the pending messages, and ends the connection in the background once the responses
    /// have arrived: PostgreSQL logs a connection that is closed before.
    pub(super) fn close(self) {
        let mut stream = self.stream;
        let is_done = (&mut stream).now_or_never().is_some();
        if let (false, Ok(runtime)) = (is_done, Handle::try_current()) {
            runtime.spawn(timeout(FAREWELL, stream));
        }
    }
}
