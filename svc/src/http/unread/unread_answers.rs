//! The bytes that wait, and whose they are.

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

/// The time between two looks while there are too many bytes.
const TICK: Duration = Duration::from_millis(200);

/// The answers that wait until their clients take them.
#[derive(Debug)]
pub(crate) struct UnreadAnswers {
    /// The most bytes that wait before clients are given up.
    most: usize,
    /// The bytes of all that wait, but for those whose clients are given up; changed under the lock.
    bytes: AtomicUsize,
    waiting: Mutex<Waiting>,
    /// Whether a task looks at them.
    is_watched: AtomicBool,
    /// The requests that were refused since the task looked.
    refused: AtomicUsize,
}

impl UnreadAnswers {
    /// The least bytes of an answer that counts, where a client has one at once: what is smaller, the system takes.
    pub(in crate::http) const LEAST: usize = 64 * 1024;
    /// The same where a client may have a hundred answers at once.
    pub(in crate::http) const LEAST_OF_MANY: usize = 2 * 1024;

    /// Holds so many bytes before clients are given up.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            bytes: AtomicUsize::new(0),
            waiting: Mutex::default(),
            is_watched: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
        })
    }

    /// The same bytes for a client at an address, which count until they are dropped.
    pub(in crate::http) fn count(self: &Arc<Self>, bytes: Bytes, client: &Client, address: Option<IpAddr>) -> Bytes {
        let mut waiting = self.lock();
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        let key = waiting.add(Answer::new(bytes.len(), client.clone(), address));
        drop(waiting);
        if !self.is_within() {
            self.be_watched();
        }
        Bytes::from_owner(Counted { bytes, key, among: self.clone() })
    }

    /// Whether there is room for the answer to another request from an address: up to twice the bound for those who keep
    /// none, so that nobody has the others refused.
    pub(in crate::http) fn has_room(self: &Arc<Self>, address: Option<IpAddr>) -> bool {
        if self.is_within() {
            return true;
        }
        self.be_watched();
        let keeps_none = |address| !self.lock().is_any_at(address);
        let has_room = self.bytes() <= self.most.saturating_mul(2) && address.is_some_and(keeps_none);
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

    /// Starts the task that looks at them, unless there is one.
    fn be_watched(self: &Arc<Self>) {
        if let Ok(runtime) = Handle::try_current()
            && !self.is_watched.swap(true, Ordering::AcqRel)
        {
            runtime.spawn(Watch(self.clone()).run());
        }
    }

    /// Gives clients up who take too little, first those who have taken nothing for longest. Returns how many.
    fn give_up_slow(&self) -> usize {
        let now = Instant::now();
        let mut waiting = self.lock();
        let mut clients: HashMap<usize, Kept> = HashMap::new();
        for answer in waiting.answers().filter(|answer| !answer.is_given_up) {
            let kept = clients.entry(answer.client.id());
            kept.and_modify(|kept| kept.add(answer)).or_insert_with(|| Kept::of(answer));
        }
        let mut slow: Vec<_> = clients.into_iter().filter(|(_, kept)| kept.is_too_slow(now)).collect();
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

    /// Gives clients up, with all of their answers.
    fn give_up(&self, waiting: &mut Waiting, clients: &HashSet<usize>) {
        let is_theirs = |answer: &&mut Answer| !answer.is_given_up && clients.contains(&answer.client.id());
        for answer in waiting.answers().filter(is_theirs) {
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

/// The task that looks at answers while there are too many.
struct Watch(Arc<UnreadAnswers>);

impl Watch {
    async fn run(self) {
        let answers = &self.0;
        while !answers.is_within() {
            tokio::time::sleep(TICK).await;
            let closed = if answers.is_within() { 0 } else { answers.give_up_slow() };
            let refused = answers.refused.swap(0, Ordering::Relaxed);
            if closed + refused > 0 {
                tracing::warn!(
                    closed,
                    refused,
                    "more than {} bytes of answers wait for clients to take them (SVC_MAX_UNREAD_ANSWERS): closed the \
                     connections of those that have taken nothing for longest, and refused requests",
                    answers.most
                );
            }
        }
        // What has come in the meantime has seen that there is a task.
        let answers = self.0.clone();
        drop(self);
        if !answers.is_within() {
            answers.be_watched();
        }
    }
}

/// Also when its runtime ends; whoever finds too much then starts another one.
impl Drop for Watch {
    fn drop(&mut self) {
        // A swap, as it is ordered before the next look at the bytes.
        self.0.is_watched.swap(false, Ordering::AcqRel);
    }
}

/// Bytes that count.
struct Counted {
    bytes: Bytes,
    key: usize,
    among: Arc<UnreadAnswers>,
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
