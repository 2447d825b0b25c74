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
/// It is given to hyper as its timer. A timer of tokio would take a place in a queue and give it back with each request;
/// here a request notes the time, and one task for each connection looks at it now and then.
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

    /// Notes that a request has come. hyper does so as well, but not for HTTP/2.
    pub(super) fn came(&self) {
        self.0.deadline.store(0, Ordering::Relaxed);
    }

    /// Waits until a head is late.
    pub(super) async fn late(&self) {
        loop {
            match self.0.deadline() {
                Some(deadline) if deadline <= Instant::now() => {
                    // What has arrived in time is read first.
                    tokio::task::yield_now().await;
                    if self.0.deadline() == Some(deadline) {
                        return;
                    }
                }
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                // A head that is waited for from now on has as long.
                None => tokio::time::sleep(self.0.timeout.max(SHORTEST)).await,
            }
        }
    }
}

/// How long to wait at least before looking again.
const SHORTEST: Duration = Duration::from_millis(1);

impl Note {
    /// A head that is waited for already is due no later.
    fn wait_until(&self, deadline: Instant) {
        let micros = deadline.saturating_duration_since(self.opened).as_micros();
        let micros = u64::try_from(micros).unwrap_or(u64::MAX).max(1);
        let _ = self.deadline.compare_exchange(0, micros, Ordering::Relaxed, Ordering::Relaxed);
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
