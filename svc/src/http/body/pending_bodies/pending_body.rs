//! A single arriving body.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::http::{StatusCode, header};
use futures_util::task::AtomicWaker;

use super::PendingBodies;
use crate::http::reply::Refusal;
use svc_core::ErrorCode;

/// The minimum age for a body's speed to count as measured.
const YOUNG: Duration = Duration::from_secs(1);

/// The exceeded limit that a body is dropped for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Reason {
    /// The limit of the address.
    Address = 1,
    /// A limit of the service.
    Service = 2,
}

/// The part of a body visible to the registry.
#[derive(Debug)]
pub(super) struct Share {
    address: Option<IpAddr>,
    since: Instant,
    /// The bytes that have arrived.
    received: AtomicUsize,
    /// The bytes in memory.
    bytes: AtomicUsize,
    /// A [`Reason`]; 0 until the body is dropped.
    given_up: AtomicU8,
    reader: AtomicWaker,
}

/// The order of dropping bodies: slow ones first, then young ones, oldest first, because their
/// speed is not measured yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Speed {
    is_young: bool,
    /// The bytes per second; for a young body, the microseconds until its speed counts as measured.
    measure: u64,
}

impl Share {
    pub(super) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Returns the number of bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn speed(&self, now: Instant) -> Speed {
        let age = now.saturating_duration_since(self.since);
        if let Some(left) = YOUNG.checked_sub(age) {
            return Speed {
                is_young: true,
                measure: u64::try_from(left.as_micros()).unwrap_or(u64::MAX),
            };
        }

        let millis = age.as_millis().max(1);
        let per_second = self.received.load(Ordering::Relaxed) as u128 * 1_000 / millis;

        Speed {
            is_young: false,
            measure: u64::try_from(per_second).unwrap_or(u64::MAX),
        }
    }

    /// Returns the number of bytes in memory and stops counting them. All of them are part of the
    /// total by then.
    pub(super) fn take_bytes(&self) -> usize {
        self.bytes.swap(0, Ordering::Acquire)
    }

    pub(super) fn give_up(&self, reason: Reason) {
        self.given_up.store(reason as u8, Ordering::Release);
        self.reader.wake();
    }

    fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Acquire) != 0
    }
}

/// A body that counts while it arrives; its bytes count until this value is dropped.
#[derive(Debug)]
pub(in crate::http) struct PendingBody {
    bodies: Arc<PendingBodies>,
    share: Arc<Share>,
}

impl PendingBody {
    pub(super) fn new(bodies: &Arc<PendingBodies>, address: Option<IpAddr>) -> Self {
        let share = Share {
            address,
            since: Instant::now(),
            received: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            given_up: AtomicU8::new(0),
            reader: AtomicWaker::new(),
        };

        Self {
            bodies: bodies.clone(),
            share: Arc::new(share),
        }
    }

    pub(super) fn share(&self) -> Arc<Share> {
        self.share.clone()
    }

    /// Records bytes that have arrived and stay in memory.
    pub(in crate::http) fn keep(&self, bytes: usize) {
        self.pass(bytes);
        // The total comes first: another body may make this one give its bytes back at any time,
        // and the total must not fall below zero.
        self.bodies.add_bytes(bytes);
        self.share.bytes.fetch_add(bytes, Ordering::Release);
        self.bodies.bound_bytes();
    }

    /// Records bytes that have arrived and go elsewhere, such as into a file.
    pub(in crate::http) fn pass(&self, bytes: usize) {
        self.share.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Reads the body to its end, unless it is given up before. Its bytes count until this value is
    /// dropped.
    ///
    /// # Errors
    /// The rejection of a body that is given up.
    pub(in crate::http) async fn arrive<T>(
        &self,
        read: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        let mut read = pin!(read);
        let arrived = poll_fn(|cx| {
            // Registered before the check: a body that is given up between the two steps would
            // otherwise wait for its client.
            self.share.reader.register(cx.waker());
            if self.share.is_given_up() {
                return Poll::Ready(None);
            }
            read.as_mut().poll(cx).map(Some)
        });

        let arrived = arrived.await;

        // A complete body is not slow, so it must not be dropped for others while its request waits
        // for a permit.
        self.bodies.lock().remove(&self.share);

        arrived.ok_or_else(|| self.refusal())
    }

    fn refusal(&self) -> Refusal {
        let (status, code, message) = if self.share.given_up.load(Ordering::Relaxed)
            == Reason::Address as u8
        {
            let message = "clients at this address send as many bodies at once as they may have together, and this one \
                           arrives slowest; send it again when others are done";
            (
                StatusCode::TOO_MANY_REQUESTS,
                ErrorCode::RateLimited,
                message,
            )
        } else {
            let message = "the service receives as many bodies as it can hold, and this one arrives slowest; send it \
                           again in a moment";
            (
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ServiceUnavailable,
                message,
            )
        };

        Refusal::new(status, code, message).with_header(header::RETRY_AFTER, "1")
    }
}

impl Drop for PendingBody {
    fn drop(&mut self) {
        self.bodies.lock().remove(&self.share);
        self.bodies.remove_bytes(self.share.take_bytes());
    }
}
