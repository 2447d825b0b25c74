//! The rows that a subscription has sent.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of rows that a subscription remembers.
const MAX_ROWS: usize = 100;

/// The rows that a subscription has sent and its client may hold, by id. They are few, so a list in
/// sending order is searched as fast as a table, and takes no memory before the first row.
#[derive(Default)]
pub(super) struct SentRows(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    rows: Vec<(Box<str>, LastLook)>,
    /// The row that is being read.
    reading: Option<Reading>,
}

/// A row that is being read. Later events may arrive before the response, which does not reflect
/// them.
struct Reading {
    id: Box<str>,
    /// What these events show.
    shown: Option<Shown>,
}

/// What an event shows about a row that was seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// The subscriber no longer sees it.
    Unseen,
    /// The subscriber no longer requests it.
    Forgotten,
}

/// The last look at a row that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLook {
    /// It was sent, with the hash of its response.
    Sent(u64),
    /// The subscriber no longer saw it: the row was deleted, or is no longer visible to the
    /// subscriber.
    Unseen,
}

impl SentRows {
    /// Records that a row is being read, until [`end_reading`](Self::end_reading).
    pub(super) fn begin_reading(&self, id: &str) {
        self.lock().reading = Some(Reading {
            id: id.into(),
            shown: None,
        });
    }

    pub(super) fn end_reading(&self) {
        self.lock().reading = None;
    }

    /// Adds the row that was read, unless an event has shown meanwhile that it is no longer
    /// requested.
    pub(super) fn put(&self, id: &str, hash: u64) {
        let mut inner = self.lock();
        let look = match inner
            .reading_of(id)
            .and_then(|reading| reading.shown.take())
        {
            None => LastLook::Sent(hash),
            Some(Shown::Unseen) => LastLook::Unseen,
            Some(Shown::Forgotten) => return,
        };

        let rows = &mut inner.rows;
        let id = match position(rows, id) {
            Some(at) => rows.remove(at).0,
            None => id.into(),
        };

        // The row sent longest ago is forgotten: neither its deletion nor a change during a gap is
        // reported then.
        if rows.len() >= MAX_ROWS {
            rows.remove(0);
        }

        rows.push((id, look));
    }

    /// Marks a row as no longer seen, if it was sent or is being read.
    pub(super) fn lose(&self, id: &str) {
        let mut inner = self.lock();
        if let Some(reading) = inner.reading_of(id) {
            // A row that is no longer requested stays so, even if it is no longer seen either.
            reading.shown.get_or_insert(Shown::Unseen);
        }
        if let Some(at) = position(&inner.rows, id) {
            inner.rows[at].1 = LastLook::Unseen;
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<LastLook> {
        let inner = self.lock();
        position(&inner.rows, id).map(|at| inner.rows[at].1)
    }

    /// Whether a row was sent or is being read.
    pub(super) fn may_have(&self, id: &str) -> bool {
        let mut inner = self.lock();
        position(&inner.rows, id).is_some() || inner.reading_of(id).is_some()
    }

    /// Forgets a row, and returns the last look at it.
    pub(super) fn forget(&self, id: &str) -> Option<LastLook> {
        let mut inner = self.lock();
        if let Some(reading) = inner.reading_of(id) {
            reading.shown = Some(Shown::Forgotten);
        }
        position(&inner.rows, id).map(|at| inner.rows.remove(at).1)
    }

    /// The ids, in sending order.
    pub(super) fn ids(&self) -> Vec<String> {
        self.lock()
            .rows
            .iter()
            .map(|(id, _)| id.to_string())
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing under the lock can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn reading_of(&mut self, id: &str) -> Option<&mut Reading> {
        self.reading.as_mut().filter(|reading| *reading.id == *id)
    }
}

/// The position of a row, which is usually one of the last.
fn position(rows: &[(Box<str>, LastLook)], id: &str) -> Option<usize> {
    rows.iter().rposition(|(known, _)| **known == *id)
}

#[cfg(test)]
mod tests {
    use super::{LastLook, SentRows};

    /// Returns the last look at a row that was read while other things happened.
    fn look_after(meanwhile: impl FnOnce(&SentRows)) -> Option<LastLook> {
        let sent = SentRows::default();
        sent.put("1", 6);
        sent.begin_reading("1");
        meanwhile(&sent);
        sent.put("1", 7);
        sent.end_reading();
        sent.get("1")
    }

    #[test]
    fn events_during_a_read_override_its_result() {
        assert_eq!(look_after(|_| {}), Some(LastLook::Sent(7)));
        assert_eq!(look_after(|sent| sent.lose("1")), Some(LastLook::Unseen));
        let gone = |sent: &SentRows| {
            sent.forget("1");
        };

        assert_eq!(look_after(gone), None);
        let of_another = |sent: &SentRows| {
            sent.lose("2");
            sent.forget("2");
        };

        assert_eq!(look_after(of_another), Some(LastLook::Sent(7)));
        let both = |sent: &SentRows| {
            sent.forget("1");
            sent.lose("1");
        };

        assert_eq!(look_after(both), None);
    }

    #[test]
    fn an_event_before_a_read_does_not_affect_it() {
        let sent = SentRows::default();
        sent.begin_reading("1");
        sent.lose("1");
        assert!(sent.may_have("1") && !sent.may_have("2"));
        sent.end_reading();
        assert!(!sent.may_have("1"));
        sent.begin_reading("1");
        sent.put("1", 7);

        assert_eq!(sent.get("1"), Some(LastLook::Sent(7)));
    }
}
