//! The notes of one connection: what its task writes, and what it is told.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::task::AtomicWaker;
use serde_json::{Value, json};

use crate::ErrorCode;
use crate::http::unread::{Recipient, Taken};

/// An order to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Order {
    /// Show that the connection lives.
    Ping,
    /// End the operations that run under an earlier token which has ended.
    #[cfg(feature = "auth")]
    EndOperations,
    /// End.
    End(Ending),
}

/// A reason to end a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::http) enum Ending {
    /// The client has sent no `connection_init` in time.
    InitTimeout = 1,
    /// Nothing has come since a ping.
    Silent = 2,
    /// It had no operation for too long.
    Idle = 3,
    /// The client does not take what is sent.
    SlowReader = 4,
    /// The time of its token is over.
    TokenExpired = 5,
    /// Its token was revoked.
    TokenRevoked = 6,
    /// Whether its token was revoked cannot be told any more.
    RevocationUnknown = 7,
    /// The server stops.
    GoingAway = 8,
    /// The server has stopped: there is no time left for words.
    Stopped = 9,
}

impl Ending {
    const ALL: [Self; 9] = [
        Self::InitTimeout,
        Self::Silent,
        Self::Idle,
        Self::SlowReader,
        Self::TokenExpired,
        Self::TokenRevoked,
        Self::RevocationUnknown,
        Self::GoingAway,
        Self::Stopped,
    ];

    /// The error that tells of the end of a token; `None` for other reasons.
    pub(in crate::http) fn token_error(self) -> Option<Value> {
        let (code, message, reason) = match self {
            Self::TokenExpired => (ErrorCode::Unauthenticated, "the token has expired", Some("TOKEN_EXPIRED")),
            Self::TokenRevoked => (ErrorCode::Unauthenticated, "the token is not valid", Some("TOKEN_INVALID")),
            Self::RevocationUnknown => {
                (ErrorCode::ServiceUnavailable, "who asks cannot be verified at the moment; try again later", None)
            }
            _ => return None,
        };
        let mut extensions = json!({ "code": code.as_str() });
        if let Some(reason) = reason {
            extensions["reason"] = reason.into();
        }
        Some(json!({ "message": message, "extensions": extensions }))
    }
}

/// The notes of a connection. Its own task writes them without looking at the clock, as the
/// [watch](super::watch) sees what has not changed since it looked last.
#[derive(Debug, Default)]
pub(in crate::http) struct Notes {
    /// The number of messages that have come.
    pub(super) heard: AtomicU32,
    /// The number of operations that run.
    pub(super) operations: AtomicU32,
    /// Whether the client has sent `connection_init`, or needs none.
    pub(super) is_initialised: AtomicBool,
    /// An odd number while a message waits for the client to take it.
    pub(super) writing: AtomicU32,
    /// The bytes of long messages, and of those for which it was waited.
    taken: Taken,
    pinged: AtomicBool,
    #[cfg(feature = "auth")]
    has_ended_tokens: AtomicBool,
    ending: AtomicU8,
    task: AtomicWaker,
    /// Held until the connection has ended.
    held: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Notes {
    /// Gives an order. The last word on an ending is the first one, but for that of a server that has stopped.
    pub(super) fn tell(&self, order: Order) {
        match order {
            Order::Ping => self.pinged.store(true, Ordering::Release),
            #[cfg(feature = "auth")]
            Order::EndOperations => self.has_ended_tokens.store(true, Ordering::Release),
            Order::End(Ending::Stopped) => self.ending.store(Ending::Stopped as u8, Ordering::Release),
            Order::End(ending) => {
                let _ = self.ending.compare_exchange(0, ending as u8, Ordering::AcqRel, Ordering::Relaxed);
            }
        }
        self.task.wake();
    }

    /// The ending that was ordered.
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
        if self.pinged.swap(false, Ordering::AcqRel) { Poll::Ready(Order::Ping) } else { Poll::Pending }
    }

    /// Is ready when the connection has to end.
    pub(in crate::http) fn poll_ending(&self, cx: &mut Context<'_>) -> Poll<Ending> {
        self.task.register(cx.waker());
        self.ending().map_or(Poll::Pending, Poll::Ready)
    }

    /// A message has come.
    pub(in crate::http) fn hear(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// The client has said who it is.
    pub(in crate::http) fn initialise(&self) {
        self.is_initialised.store(true, Ordering::Relaxed);
    }

    /// The number of operations that run now.
    pub(in crate::http) fn set_operations(&self, count: usize) {
        self.operations.store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Whether a message waits for the client from now on.
    #[cfg(feature = "websocket")]
    pub(in crate::http) fn set_writing(&self, is_writing: bool) {
        if (self.writing.load(Ordering::Relaxed) & 1 == 1) != is_writing {
            self.writing.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The client has taken a part of a long message, or a message for which it was waited.
    #[cfg(feature = "websocket")]
    pub(in crate::http) fn note_taken(&self, more: usize) {
        self.taken.note(self.taken.bytes() + more as u64);
    }

    fn hold(&self, value: Option<Box<dyn Any + Send>>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }

    /// Lets go of what is held until the end.
    pub(super) fn end(&self) {
        self.hold(None);
    }
}

/// A connection that outlives its request, for the server that has to end it; in the extensions of its response.
#[derive(Debug, Clone)]
pub(crate) struct LongLived(pub(super) Weak<Notes>);

impl LongLived {
    /// Whether it has not ended yet.
    pub(crate) fn is_open(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Keeps a value until the connection has ended.
    pub(crate) fn hold(&self, value: impl Any + Send) {
        if let Some(notes) = self.0.upgrade() {
            notes.hold(Some(Box::new(value)));
        }
    }

    /// Has it end, so that its client goes elsewhere.
    pub(crate) fn go_away(&self) {
        self.tell(Ending::GoingAway);
    }

    /// Has it end at once.
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

    /// A socket that has an answer sends it, or another one before.
    fn is_waited_for(&self) -> bool {
        true
    }

    fn taken(&self) -> (u64, Option<Instant>) {
        self.0.upgrade().map_or((0, None), |notes| (notes.taken.bytes(), notes.taken.at()))
    }

    fn give_up(&self) {
        self.tell(Ending::SlowReader);
    }
}
