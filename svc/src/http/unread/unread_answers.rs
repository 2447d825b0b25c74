//! Tracks response bytes that clients have not read yet, per client.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::runtime::Handle;

use super::client::Client;
use super::kept::{Answer, Kept};
use super::waiting::Waiting;

/// The interval between two checks while there are too many bytes.
const TICK: Duration = Duration::from_millis(200);

/// The responses that wait until their clients accept them.
#[derive(Debug)]
pub(crate) struct PendingResponses {
    /// The maximum number of waiting bytes before connections are closed.
    most: usize,
    /// The number of waiting bytes, except the bytes of dropped clients; changed under the lock.
    bytes: AtomicUsize,
    waiting: Mutex<Waiting>,
    /// Whether a task checks them.
    is_watched: AtomicBool,
    /// The requests rejected since the last check.
    refused: AtomicUsize,
}

impl PendingResponses {
    /// The minimum size of a counted response, if a client has one at a time: the kernel buffers
    /// smaller ones.
    pub(in crate::http) const MIN_SIZE: usize = 64 * 1024;
    /// The minimum size if a client may have a hundred responses at once.
    pub(in crate::http) const MIN_SIZE_OF_MANY: usize = 2 * 1024;

    /// Creates a tracker that closes connections once more than `most` bytes wait.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            bytes: AtomicUsize::new(0),
            waiting: Mutex::default(),
            is_watched: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
        })
    }

    /// Returns the same bytes, which count for a client at an address until they are dropped.
    pub(in crate::http) fn count(
        self: &Arc<Self>,
        bytes: Bytes,
        client: &Client,
        address: Option<IpAddr>,
    ) -> Bytes {
        let mut waiting = self.lock();
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        let key = waiting.add(Answer::new(bytes.len(), client.clone(), address));
        drop(waiting);
        if !self.is_within() {
            self.be_watched();
        }

        Bytes::from_owner(Counted {
            bytes,
            key,
            among: self.clone(),
        })
    }

    /// Whether there is room for the response to another request from an address. Addresses without
    /// a backlog have room up to twice the limit, so that no client can make the service reject the
    /// others.
    pub(in crate::http) fn has_room(self: &Arc<Self>, address: Option<IpAddr>) -> bool {
        if self.is_within() {
            return true;
        }

        self.be_watched();
        let keeps_none = |address| !self.lock().is_any_at(address);
        let has_room =
            self.bytes() <= self.most.saturating_mul(2) && address.is_some_and(keeps_none);
        if !has_room {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }

        has_room
    }

    fn is_within(&self) -> bool {
        self.bytes() <= self.most
    }

    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Starts the task that checks the responses, unless it is running.
    fn be_watched(self: &Arc<Self>) {
        if let Ok(runtime) = Handle::try_current()
            && !self.is_watched.swap(true, Ordering::AcqRel)
        {
            runtime.spawn(Watch(self.clone()).run());
        }
    }

    /// Closes the connections of clients that accept too little, longest without progress first.
    /// Returns their number.
    fn give_up_slow(&self) -> usize {
        let now = Instant::now();
        let mut waiting = self.lock();
        let mut clients: HashMap<usize, Kept> = HashMap::new();

        for answer in waiting.answers().filter(|answer| !answer.is_given_up) {
            let kept = clients.entry(answer.client.id());
            kept.and_modify(|kept| kept.add(answer))
                .or_insert_with(|| Kept::of(answer));
        }

        let mut slow: Vec<_> = clients
            .into_iter()
            .filter(|(_, kept)| kept.is_too_slow(now))
            .collect();
        slow.sort_by_key(|(_, kept)| kept.untouched_since());
        let (mut left, mut closed) = (self.bytes(), HashSet::new());
        for (client, kept) in slow {
            if left <= self.most {
                break;
            }
            left = left.saturating_sub(kept.bytes);
            closed.insert(client);
        }

        self.give_up(&mut waiting, &closed);

        closed.len()
    }

    /// Closes the connections of clients, and stops counting all their responses.
    fn give_up(&self, waiting: &mut Waiting, clients: &HashSet<usize>) {
        let is_theirs =
            |answer: &&mut Answer| !answer.is_given_up && clients.contains(&answer.client.id());
        for answer in waiting.answers().filter(is_theirs) {
            // Subtracted now, although the connection drops the bytes later: the next check would
            // otherwise close further connections for the same bytes.
            answer.is_given_up = true;
            answer.client.give_up();
            self.bytes.fetch_sub(answer.bytes, Ordering::Relaxed);
        }
    }

    fn forget(&self, key: usize) {
        let mut waiting = self.lock();
        let answer = waiting.remove(key);
        if !answer.is_given_up {
            self.bytes.fetch_sub(answer.bytes, Ordering::Relaxed);
        }
        drop(waiting);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that checks responses while there are too many.
struct Watch(Arc<PendingResponses>);

impl Watch {
    async fn run(self) {
        let answers = &self.0;
        while !answers.is_within() {
            tokio::time::sleep(TICK).await;
            let closed = if answers.is_within() {
                0
            } else {
                answers.give_up_slow()
            };

            let refused = answers.refused.swap(0, Ordering::Relaxed);
            if closed + refused > 0 {
                tracing::warn!(
                    closed,
                    refused,
                    "more than {} bytes of responses are unread (SVC_MAX_UNREAD_ANSWERS): closed \
                     the connections of the slowest clients, and rejected requests",
                    answers.most
                );
            }
        }

        // A caller since the last check has seen a running task and started none, so the bytes are
        // checked once more.
        let answers = self.0.clone();
        drop(self);

        if !answers.is_within() {
            answers.be_watched();
        }
    }
}

/// Also runs when the runtime shuts down; the next caller beyond the limit then starts another
/// task.
impl Drop for Watch {
    fn drop(&mut self) {
        // A swap, because it is ordered before the next read of the bytes.
        self.0.is_watched.swap(false, Ordering::AcqRel);
    }
}

/// Bytes that are counted.
struct Counted {
    bytes: Bytes,
    key: usize,
    among: Arc<PendingResponses>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.among.forget(self.key);
    }
}
