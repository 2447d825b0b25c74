//! The activity of a connection: the records of its task, and the orders it receives from outside.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use axum::http::Version;
use futures_util::task::AtomicWaker;
use hyper::body::Incoming;
use hyper::rt::{Sleep, Timer};

use crate::http::{Recipient, Taken};

/// The bytes of a response that a client must accept within the write timeout.
pub(super) const ENOUGH: u64 = 32 * 1024;

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// The client has to send the head of a request: its first request, or the rest of a head.
    Head = 0,
    /// A request is being read, executed or answered.
    Busy = 1,
    /// A request has been answered, and nothing of another one has arrived.
    Idle = 2,
    /// The server has sent its last response, and reads the client's remaining bytes.
    Lingering = 3,
}

/// An order to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Order {
    None = 0,
    /// Finish the current requests, and accept no more.
    Finish = 1,
    /// Close at once.
    Close = 2,
    /// Close at once, and discard unsent bytes.
    Reset = 3,
}

/// The records of one connection. Its own task writes them without reading the clock;
/// [`super::connections`] checks them periodically and detects the connections without progress.
#[derive(Debug)]
pub(super) struct Activity {
    /// The number of requests, and in the last two bits the phase. Only the connection's task
    /// writes it.
    mark: AtomicU64,
    /// Bytes transferred: accepted by the client, or read while lingering.
    moved: AtomicU64,
    /// The transferred bytes at the last reading of the clock.
    taken: Taken,
    /// Whether bytes are waiting for the client to accept them.
    blocked: AtomicBool,
    /// Whether the last request's body was left unread.
    unread: AtomicBool,
    /// That body, until the response is ready.
    left: Mutex<Option<Incoming>>,
    http2: AtomicBool,
    /// Whether an HTTP/1.0 request has arrived.
    http10: AtomicBool,
    /// Whether the client has closed its side while the request ran.
    half_closed: AtomicBool,
    /// The reader of the request's body, if it waits for more.
    reader: AtomicWaker,
    /// HTTP/2 requests without a complete response, and HTTP/2 requests that the client has
    /// canceled.
    streams: AtomicU32,
    resets: AtomicU32,
    order: AtomicU8,
    ended: AtomicBool,
    /// The task to wake on an order. A wake leaves it here: the task may see an order before it is
    /// woken for it, and is woken for the next one too.
    task: Mutex<Option<Waker>>,
}

impl Activity {
    /// A connection that was just opened; its client must send a request.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            mark: AtomicU64::new(0),
            taken: Taken::default(),
            moved: AtomicU64::new(0),
            blocked: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            left: Mutex::default(),
            http2: AtomicBool::new(false),
            http10: AtomicBool::new(false),
            half_closed: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            streams: AtomicU32::new(0),
            resets: AtomicU32::new(0),
            order: AtomicU8::new(Order::None as u8),
            ended: AtomicBool::new(false),
            task: Mutex::default(),
        })
    }

    /// Changes whenever the phase changes or another request arrives.
    pub(super) fn mark(&self) -> u64 {
        self.mark.load(Ordering::Relaxed)
    }

    pub(super) fn phase(&self) -> Phase {
        match self.mark() & 3 {
            0 => Phase::Head,
            1 => Phase::Busy,
            2 => Phase::Idle,
            _ => Phase::Lingering,
        }
    }

    pub(super) fn requests(&self) -> u64 {
        self.mark() >> 2
    }

    fn enter(&self, phase: Phase) {
        self.mark
            .store(self.mark() & !3 | phase as u64, Ordering::Relaxed);
    }

    /// Records the arrival of a request.
    pub(super) fn request_came(&self, version: Version) {
        let requests = (self.mark() & !3).wrapping_add(4);
        self.mark
            .store(requests | Phase::Busy as u64, Ordering::Relaxed);
        if version == Version::HTTP_2 {
            self.http2.store(true, Ordering::Relaxed);
            return;
        }

        if version == Version::HTTP_10 {
            self.http10.store(true, Ordering::Relaxed);
        }

        for last in [&self.unread, &self.half_closed] {
            if last.load(Ordering::Relaxed) {
                last.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Records the arrival of bytes.
    pub(super) fn bytes_came(&self) {
        if self.phase() == Phase::Idle {
            self.enter(Phase::Head);
        }
    }

    /// Records that the client sends no more; the running request may lack a part of its body.
    pub(super) fn half_close(&self) {
        self.half_closed.store(true, Ordering::Release);
        self.reader.wake();
    }

    /// Whether a body that waits for more will get none; otherwise `reader` is woken once that is
    /// certain.
    pub(super) fn is_body_cut(&self, reader: &Waker) -> bool {
        self.reader.register(reader);
        self.half_closed.load(Ordering::Acquire)
    }

    pub(super) fn is_http10(&self) -> bool {
        self.http10.load(Ordering::Relaxed)
    }

    /// Records that the body of the request was not read to its end. Without the body, its rest
    /// will not arrive.
    pub(super) fn leave_unread(&self, body: Option<Incoming>) {
        *self.left() = body;
        self.unread.store(true, Ordering::Relaxed);
    }

    /// Whether the last request's body was left unread.
    pub(super) fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// Takes that body; its rest may still arrive.
    pub(super) fn take_left(&self) -> Option<Incoming> {
        self.left().take()
    }

    /// Records that the body has been read to its end.
    pub(super) fn read_on(&self) {
        self.unread.store(false, Ordering::Relaxed);
    }

    fn left(&self) -> MutexGuard<'_, Option<Incoming>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the server has sent its last response; returns whether the client may still be
    /// sending.
    pub(super) fn start_lingering(&self) -> bool {
        // hyper itself rejects a head that it cannot read, so no request has been recorded.
        let is_refused = self.phase() == Phase::Head && self.order() == Order::None;
        let lingers = is_refused || self.unread.load(Ordering::Relaxed);
        if lingers {
            self.enter(Phase::Lingering);
        }
        lingers
    }

    pub(super) fn set_blocked(&self, blocked: bool) {
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    pub(super) fn add_moved(&self, bytes: usize) {
        // Only the connection's task writes it.
        self.moved
            .store(self.moved().wrapping_add(bytes as u64), Ordering::Relaxed);
    }

    /// Records bytes accepted by the client.
    pub(super) fn add_taken(&self, bytes: usize) {
        self.add_moved(bytes);
        let moved = self.moved();

        // A record needs the time, and reading the clock with each small write would cost too much.
        if moved.wrapping_sub(self.taken.bytes()) >= ENOUGH {
            self.taken.note(moved);
        }
    }

    pub(super) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    pub(super) fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }

    pub(super) fn stream_opened(&self) {
        self.streams.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the end of a stream. A client that cancels most of its requests only causes work, so
    /// it loses the connection.
    pub(super) fn stream_closed(&self, given_up: bool, most: u32) {
        self.streams.fetch_sub(1, Ordering::Relaxed);
        if !given_up {
            return;
        }

        let resets = self
            .resets
            .fetch_add(1, Ordering::Relaxed)
            .saturating_add(1);

        // A browser cancels requests as well when its user leaves a page, so both the number and
        // the share count.
        if resets > most && u64::from(resets) * 2 > self.requests() {
            self.tell(Order::Close);
        }
    }

    pub(super) fn open_streams(&self) -> u32 {
        self.streams.load(Ordering::Relaxed)
    }

    pub(super) fn order(&self) -> Order {
        match self.order.load(Ordering::Acquire) {
            0 => Order::None,
            1 => Order::Finish,
            2 => Order::Close,
            _ => Order::Reset,
        }
    }

    /// Gives an order, unless the current order is at least as strong.
    pub(super) fn tell(&self, order: Order) {
        if self.order.fetch_max(order as u8, Ordering::AcqRel) >= order as u8 {
            return;
        }

        // Woken after the lock is released, because waking may run foreign code.
        let task = self.task().clone();
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Registers the task to wake on this and all later orders.
    pub(super) fn register(&self, task: &Waker) {
        let before = self.task().replace(task.clone());
        // Dropping a waker may run foreign code.
        drop(before);
    }

    fn task(&self) -> MutexGuard<'_, Option<Waker>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

impl Recipient for Activity {
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// HTTP/2 streams wait for their clients before the socket does.
    fn is_waited_for(&self) -> bool {
        self.is_blocked() || self.is_http2()
    }

    fn taken(&self) -> (u64, Option<Instant>) {
        (self.taken.bytes(), self.taken.at())
    }

    fn give_up(&self) {
        self.tell(Order::Reset);
    }
}

/// Detects when hyper starts to wait for a head: hyper sets this timer then.
///
/// A tokio timer would enter and leave a queue with each request. This one costs no more than a
/// store, and never fires: a late connection is closed from outside.
#[derive(Debug, Clone)]
pub(super) struct HeadTimer {
    activity: Arc<Activity>,
    opened: Instant,
}

impl HeadTimer {
    pub(super) fn new(activity: Arc<Activity>) -> Self {
        Self {
            activity,
            opened: Instant::now(),
        }
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.opened)
    }

    fn sleep_until(&self, _: Instant) -> Pin<Box<dyn Sleep>> {
        if self.activity.phase() == Phase::Busy {
            self.activity.enter(Phase::Idle);
        }
        Box::pin(Never)
    }

    /// The deadline is never read, so it needs no clock.
    fn now(&self) -> Instant {
        self.opened
    }
}

/// A sleep that never ends. It is zero-sized, so boxing it needs no allocation.
struct Never;

impl Sleep for Never {}

impl Future for Never {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use svc_core::task::wake_flag::WakeFlag;

    use super::*;

    #[test]
    fn each_stronger_order_wakes_a_task_that_has_registered_once() {
        let (activity, woken) = (Activity::new(), Arc::<WakeFlag>::default());
        activity.register(&Waker::from(woken.clone()));

        for order in [Order::Finish, Order::Close, Order::Reset] {
            activity.tell(order);
            assert!(woken.take_wake(Waker::noop()), "{order:?}");
            activity.tell(order);
            assert!(!woken.take_wake(Waker::noop()), "{order:?} again");
        }
    }
}
