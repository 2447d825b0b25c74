//! How long a client may take to send the head of a request.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// When the head that a connection waits for must be there.
///
/// It is given to hyper as its timer, which a timer of tokio would cost a place in a queue that is taken and given back
/// with each request. Here a request only notes the time, and one task for each connection looks at it now and then.
#[derive(Debug, Clone)]
pub(super) struct HeadTimeout(Arc<Note>);

#[derive(Debug)]
struct Note {
    timeout: Duration,
    opened: Instant,
    /// In microseconds after `opened`; zero while no head is waited for.
    deadline: AtomicU64,
}

impl HeadTimeout {
    /// For a connection that was just opened, and must say something.
    pub(super) fn new(timeout: Duration) -> Self {
        let head = Self(Arc::new(Note { timeout, opened: Instant::now(), deadline: AtomicU64::new(0) }));
        head.0.wait_until(head.0.opened + timeout);
        head
    }

    /// Notes that a request has come.
    pub(super) fn came(&self) {
        self.0.deadline.store(0, Ordering::Relaxed);
    }

    /// Waits until a head is late.
    pub(super) async fn is_late(&self) {
        loop {
            let now = Instant::now();
            // A head that is waited for from now on has as long.
            let next = self.0.deadline().unwrap_or(now + self.0.timeout);
            if next <= now {
                return;
            }
            tokio::time::sleep_until(next.into()).await;
        }
    }
}

impl Note {
    fn wait_until(&self, deadline: Instant) {
        let after = deadline.saturating_duration_since(self.opened).as_micros();
        self.deadline.store(u64::try_from(after).unwrap_or(u64::MAX).max(1), Ordering::Relaxed);
    }

    fn deadline(&self) -> Option<Instant> {
        match self.deadline.load(Ordering::Relaxed) {
            0 => None,
            after => self.opened.checked_add(Duration::from_micros(after)),
        }
    }
}

impl Timer for HeadTimeout {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        self.0.wait_until(deadline);
        Box::pin(Awaited(self.0.clone()))
    }

    fn reset(&self, _: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        self.0.wait_until(deadline);
    }
}

/// A head that is waited for. It never says that it is late, as the connection is then closed from outside.
struct Awaited(Arc<Note>);

impl Sleep for Awaited {}

impl Future for Awaited {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.deadline.store(0, Ordering::Relaxed);
    }
}
