//! The lines that wait to be written.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chrono::{DateTime, Utc};

use super::line;
use super::{SecurityEvent, SecurityEventType};

/// The most bytes that wait; as many again may be on their way to the output.
const MOST: usize = 4 << 20;

/// The lines that wait to be written. A line that was accepted is written some time; one that comes when there is no room
/// is counted, and the log says how many were.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
    written: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// The time of the last line: the log's times do not go back, though the clock may.
    last: DateTime<Utc>,
    /// The bytes that were accepted since the start, and those of them that are done with.
    accepted: u64,
    done: u64,
    /// The bytes that the writer has taken.
    taken: usize,
    /// The lines that found no room since the log has said so.
    unsaid: u64,
    lost: u64,
    /// Why nothing is written at the moment.
    failure: Option<String>,
    /// No more lines come.
    is_closed: bool,
    /// Nobody takes lines any more.
    is_abandoned: bool,
}

/// The state of a queue, as others see it.
pub(super) struct Standing {
    pub(super) waiting: usize,
    pub(super) lost: u64,
    pub(super) failure: Option<String>,
}

impl Queue {
    /// Adds the line of an event, if there is room.
    pub(super) fn push(&self, time: DateTime<Utc>, fields: &[u8]) {
        let mut state = self.lock();
        if state.is_abandoned || state.lines.len() + fields.len() > MOST {
            state.lost += 1;
            state.unsaid += 1;
            return;
        }
        state.append(time, fields);
        drop(state);
        self.arrived.notify_one();
    }

    /// Takes all lines that wait, as soon as there are some; `None` once the log is closed and empty.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        while state.lines.is_empty() {
            if state.is_closed {
                return None;
            }
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
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

    /// Notes that what was taken is written.
    pub(super) fn done(&self) {
        let mut state = self.lock();
        state.done += std::mem::take(&mut state.taken) as u64;
        state.failure = None;
        drop(state);
        self.written.notify_all();
    }

    /// Notes that what was taken cannot be written now.
    pub(super) fn failed(&self, why: String) {
        self.lock().failure = Some(why);
    }

    /// Notes that neither what was taken nor anything else can be written any more.
    pub(super) fn abandon(&self, taken: &[u8], why: String) {
        let mut state = self.lock();
        state.lost += lines_of(taken) + lines_of(&state.lines);
        state.lines = Vec::new();
        (state.taken, state.done) = (0, state.accepted);
        (state.is_abandoned, state.failure) = (true, Some(why));
        drop(state);
        self.written.notify_all();
    }

    /// Lets the writer end when all is written.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.arrived.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Waits until the lines are written that were accepted before; whether they are in time.
    pub(super) fn flush(&self, end: Instant) -> bool {
        let mut state = self.lock();
        let accepted = state.accepted;
        while state.done < accepted {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.written.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        !state.is_abandoned
    }

    pub(super) fn standing(&self) -> Standing {
        let state = self.lock();
        Standing { waiting: state.lines.len() + state.taken, lost: state.lost, failure: state.failure.clone() }
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
