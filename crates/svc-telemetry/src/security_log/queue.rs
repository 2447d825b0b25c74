//! The queue of lines to be written.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chrono::{DateTime, Utc};

use super::line;
use super::{SecurityEvent, SecurityEventType};

/// The maximum number of bytes in the queue; as many again may be on their way to the output.
const MAX_BYTES: usize = 4 << 20;

/// The lines that wait to be written. An accepted line is written eventually; if there is no room,
/// a line is dropped and counted, and the log reports how many were.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
    written: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// The time of the last line: the log's times never go back, even if the clock does.
    last: DateTime<Utc>,
    /// The bytes accepted since the start, and how many of them are written or given up.
    accepted: u64,
    done: u64,
    /// The bytes that the writer is writing.
    taken: usize,
    /// The lines dropped since the log last reported that.
    unsaid: u64,
    lost: u64,
    /// The error that currently prevents writing.
    failure: Option<String>,
    /// The log is closed: no more lines are added.
    is_closed: bool,
    /// The writer has stopped: lines are no longer written.
    is_abandoned: bool,
}

/// The state of a queue.
pub(super) struct Standing {
    pub(super) waiting: usize,
    pub(super) lost: u64,
    pub(super) failure: Option<String>,
}

impl Queue {
    /// Adds the line of an event, if there is room.
    pub(super) fn push(&self, time: DateTime<Utc>, fields: &[u8]) {
        let mut state = self.lock();
        if state.is_abandoned || state.lines.len() + fields.len() > MAX_BYTES {
            state.lost += 1;
            state.unsaid += 1;
            return;
        }

        state.append(time, fields);

        // Released first, so that the writer does not wake up only to wait for the lock.
        drop(state);

        self.arrived.notify_one();
    }

    /// Takes all waiting lines as soon as there are some; `None` once the log is closed and empty.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        while state.lines.is_empty() {
            if state.is_closed {
                return None;
            }
            state = self
                .arrived
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }

        // The report may exceed the bound of the queue: a loss must not go unreported.
        if state.unsaid > 0 {
            let event = SecurityEvent::new(SecurityEventType::SystemEventsLost)
                .reason("the log could not be written for too long")
                .metadata("events", std::mem::take(&mut state.unsaid));
            state.append(Utc::now(), &line::fields(&event));
        }

        let lines = std::mem::take(&mut state.lines);
        state.taken = lines.len();

        Some(lines)
    }

    /// Records that the taken lines are written.
    pub(super) fn done(&self) {
        let mut state = self.lock();
        state.done += std::mem::take(&mut state.taken) as u64;
        state.failure = None;
        drop(state);
        self.written.notify_all();
    }

    /// Records that the taken lines cannot be written now.
    pub(super) fn failed(&self, why: String) {
        self.lock().failure = Some(why);
    }

    /// Records that neither the taken lines nor others can be written any more.
    pub(super) fn abandon(&self, taken: &[u8], why: String) {
        let mut state = self.lock();
        state.lost += lines_of(taken) + lines_of(&state.lines);
        state.lines = Vec::new();

        // Otherwise `flush` would wait for lines that are never written.
        (state.taken, state.done) = (0, state.accepted);
        (state.is_abandoned, state.failure) = (true, Some(why));
        drop(state);
        self.written.notify_all();
    }

    /// Lets the writer stop once everything is written.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.arrived.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Waits until all lines accepted before are written, and returns whether they were written in
    /// time.
    pub(super) fn flush(&self, end: Instant) -> bool {
        let mut state = self.lock();
        let accepted = state.accepted;
        while state.done < accepted {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self
                .written
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }

        !state.is_abandoned
    }

    pub(super) fn standing(&self) -> Standing {
        let state = self.lock();
        Standing {
            waiting: state.lines.len() + state.taken,
            lost: state.lost,
            failure: state.failure.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn append(&mut self, time: DateTime<Utc>, fields: &[u8]) {
        self.last = time.max(self.last);
        let before = self.lines.len();
        line::append(&mut self.lines, self.last, fields);
        self.accepted += (self.lines.len() - before) as u64;
    }
}

fn lines_of(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}
