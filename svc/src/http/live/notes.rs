//! The notes of one connection: the records of its task, and the orders that it receives.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::task::AtomicWaker;
use serde_json::{Value, json};

use crate::http::unread::{Recipient, Taken};
use svc_core::ErrorCode;

/// An order to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Order {
    /// Send a ping, to show that the connection is alive.
    Ping,
    /// End the operations that run under an earlier token that has ended.
    #[cfg(feature = "auth")]
    EndOperations,
    /// Check whether the user has changed.
    #[cfg(feature = "auth")]
    CheckUser,
    /// End the connection.
    End(Ending),
}

/// A reason to end a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::http) enum Ending {
    /// The client has sent no `connection_init` in time.
    InitTimeout = 1,
    /// Nothing has arrived since a ping.
    Silent = 2,
    /// The connection had no operation for too long.
    Idle = 3,
    /// The client does not accept the messages sent to it.
    SlowReader = 4,
    /// Its token has expired.
    TokenExpired = 5,
    /// Its token was revoked.
    TokenRevoked = 6,
    /// Nothing can determine any longer whether its token was revoked, or who its user is.
    RevocationUnknown = 7,
    /// The server is shutting down.
    GoingAway = 8,
    /// The server has stopped: there is no time for the client to answer.
    Stopped = 9,
    /// Its user has changed since its operation began.
    UserChanged = 10,
    /// A layer identified its user too long ago.
    UserTooOld = 11,
    /// The session of its browser has ended.
    SessionEnded = 12,
}

impl Ending {
    const ALL: [Self; 12] = [
        Self::InitTimeout,
        Self::Silent,
        Self::Idle,
        Self::SlowReader,
        Self::TokenExpired,
        Self::TokenRevoked,
        Self::RevocationUnknown,
        Self::GoingAway,
        Self::Stopped,
        Self::UserChanged,
        Self::UserTooOld,
        Self::SessionEnded,
    ];

    /// Returns the error that reports the end of a token, a session or a user; `None` for other reasons.
    pub(in crate::http) fn token_error(self) -> Option<Value> {
        let (code, message, reason) = match self {
            Self::TokenExpired => (
                ErrorCode::Unauthenticated,
                "the token has expired",
                Some("TOKEN_EXPIRED"),
            ),
            Self::TokenRevoked => (
                ErrorCode::Unauthenticated,
                "the token is not valid",
                Some("TOKEN_INVALID"),
            ),
            Self::UserChanged => (
                ErrorCode::Unauthenticated,
                "the user has changed; subscribe again",
                Some("USER_CHANGED"),
            ),
            Self::SessionEnded => (
                ErrorCode::Unauthenticated,
                "the session has ended; connect again",
                Some("SESSION_ENDED"),
            ),
            Self::RevocationUnknown => (
                ErrorCode::ServiceUnavailable,
                "who asks cannot be verified at the moment; try again later",
                None,
            ),
            _ => return None,
        };

        let mut extensions = json!({ "code": code.as_str() });
        if let Some(reason) = reason {
            extensions["reason"] = reason.into();
        }

        Some(json!({ "message": message, "extensions": extensions }))
    }
}

/// The notes of a connection. Its own task writes them without reading the clock: the
/// [watch](super::watch) detects connections without changes since its last check.
#[derive(Debug, Default)]
pub(in crate::http) struct Notes {
    /// The number of messages received.
    pub(super) heard: AtomicU32,
    /// The number of running operations.
    pub(super) operations: AtomicU32,
    /// Whether the client has sent `connection_init`, or needs none.
    pub(super) is_initialised: AtomicBool,
    /// An odd number while a message waits for the client to accept it.
    pub(super) writing: AtomicU32,
    /// The bytes accepted of long messages, and of messages that had to wait.
    taken: Taken,
    pinged: AtomicBool,
    #[cfg(feature = "auth")]
    has_ended_tokens: AtomicBool,
    #[cfg(feature = "auth")]
    must_check_user: AtomicBool,
    ending: AtomicU8,
    task: AtomicWaker,
    /// Held until the connection has ended.
    held: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Notes {
    /// Gives an order. The first ending stays, unless the server has stopped since.
    pub(super) fn tell(&self, order: Order) {
        match order {
            Order::Ping => self.pinged.store(true, Ordering::Release),
            #[cfg(feature = "auth")]
            Order::EndOperations => self.has_ended_tokens.store(true, Ordering::Release),
            #[cfg(feature = "auth")]
            Order::CheckUser => self.must_check_user.store(true, Ordering::Release),
            Order::End(Ending::Stopped) => {
                self.ending.store(Ending::Stopped as u8, Ordering::Release);
            }
            Order::End(ending) => {
                let _ = self.ending.compare_exchange(
                    0,
                    ending as u8,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
            }
        }

        self.task.wake();
    }

    /// Returns the ending that was ordered.
    pub(super) fn ending(&self) -> Option<Ending> {
        let told = self.ending.load(Ordering::Acquire);
        Ending::ALL.into_iter().find(|ending| *ending as u8 == told)
    }

    /// Is ready with the next order.
    pub(in crate::http) fn poll_order(&self, cx: &mut Context<'_>) -> Poll<Order> {
        if let Poll::Ready(ending) = self.poll_ending(cx) {
            return Poll::Ready(Order::End(ending));
        }

        #[cfg(feature = "auth")]
        if self.has_ended_tokens.swap(false, Ordering::AcqRel) {
            return Poll::Ready(Order::EndOperations);
        }

        #[cfg(feature = "auth")]
        if self.must_check_user.load(Ordering::Relaxed)
            && self.must_check_user.swap(false, Ordering::AcqRel)
        {
            return Poll::Ready(Order::CheckUser);
        }

        if self.pinged.swap(false, Ordering::AcqRel) {
            Poll::Ready(Order::Ping)
        } else {
            Poll::Pending
        }
    }

    /// Is ready when the connection must end.
    pub(in crate::http) fn poll_ending(&self, cx: &mut Context<'_>) -> Poll<Ending> {
        // Registered before the read: an order between the two steps would otherwise wake no task.
        self.task.register(cx.waker());
        self.ending().map_or(Poll::Pending, Poll::Ready)
    }

    /// Records the arrival of a message.
    pub(in crate::http) fn hear(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that the client has been initialised.
    pub(in crate::http) fn initialise(&self) {
        self.is_initialised.store(true, Ordering::Relaxed);
    }

    /// Sets the number of running operations.
    pub(in crate::http) fn set_operations(&self, count: usize) {
        self.operations
            .store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Sets whether a message is waiting for the client.
    #[cfg(feature = "websocket")]
    pub(in crate::http) fn set_writing(&self, is_writing: bool) {
        // The number grows with each change, so the watch can distinguish one long wait from two
        // short waits for different messages.
        if (self.writing.load(Ordering::Relaxed) & 1 == 1) != is_writing {
            self.writing.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records that the client has accepted a part of a long message, or a message that had to
    /// wait.
    #[cfg(feature = "websocket")]
    pub(in crate::http) fn note_taken(&self, more: usize) {
        self.taken.note(self.taken.bytes() + more as u64);
    }

    fn hold(&self, value: Option<Box<dyn Any + Send>>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }

    /// Drops the value held until the end.
    pub(super) fn end(&self) {
        self.hold(None);
    }
}

/// The handle of a connection that outlives its request, for the server to end it; in the
/// extensions of its response.
#[derive(Debug, Clone)]
pub(crate) struct LongLived(pub(super) Weak<Notes>);

impl LongLived {
    /// Whether the connection is still open.
    pub(crate) fn is_open(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Holds a value until the connection has ended.
    pub(crate) fn hold(&self, value: impl Any + Send) {
        if let Some(notes) = self.0.upgrade() {
            notes.hold(Some(Box::new(value)));
        }
    }

    /// Ends the connection, so that its client reconnects to another instance.
    pub(crate) fn go_away(&self) {
        self.tell(Ending::GoingAway);
    }

    /// Ends the connection at once.
    pub(crate) fn stop(&self) {
        self.tell(Ending::Stopped);
    }

    fn tell(&self, ending: Ending) {
        if let Some(notes) = self.0.upgrade() {
            notes.tell(Order::End(ending));
        }
    }
}

impl Recipient for LongLived {
    fn id(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// A socket with a pending response sends it, or another one before it.
    fn is_waited_for(&self) -> bool {
        true
    }

    fn taken(&self) -> (u64, Option<Instant>) {
        self.0
            .upgrade()
            .map_or((0, None), |notes| (notes.taken.bytes(), notes.taken.at()))
    }

    fn give_up(&self) {
        self.tell(Ending::SlowReader);
    }
}
