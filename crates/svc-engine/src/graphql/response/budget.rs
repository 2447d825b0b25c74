//! The byte budget of a response while its fields are written: a response that gets too large is
//! abandoned before it takes memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Counts the bytes of one response.
#[derive(Debug)]
pub(crate) struct ResponseBudget {
    most: usize,
    written: AtomicUsize,
    /// Bytes of abandoned values. They cost time: of ten fields that are too large, not all are
    /// written to the end.
    wasted: AtomicUsize,
    /// Whether an error became a null in a position that has no other nulls.
    has_forced_null: AtomicBool,
}

/// The bytes of one value that is being written. Dropping it unfinished gives the counted bytes
/// back to the budget.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    answer: &'a ResponseBudget,
    counted: usize,
    /// The maximum size of the value in bytes.
    pub(crate) room: usize,
}

impl ResponseBudget {
    /// Creates the budget of a response with at most `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            written: AtomicUsize::new(0),
            wasted: AtomicUsize::new(0),
            has_forced_null: AtomicBool::new(false),
        }
    }

    /// Records that an error became a null in a position that has no other nulls.
    pub(crate) fn note_forced_null(&self) {
        self.has_forced_null.store(true, Ordering::Relaxed);
    }

    /// Whether such a null was written, also one that was abandoned later.
    pub(crate) fn has_forced_null(&self) -> bool {
        self.has_forced_null.load(Ordering::Relaxed)
    }

    /// Starts writing a value.
    pub(crate) fn begin(&self) -> Writing<'_> {
        Writing {
            answer: self,
            counted: 0,
            room: self.left(),
        }
    }

    /// Gives back the bytes of a value that are about to be written again as part of another value.
    pub(crate) fn take_back(&self, bytes: usize) {
        self.written.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The remaining bytes. In addition, as many bytes as a response may have can be abandoned.
    fn left(&self) -> usize {
        let left = self
            .most
            .saturating_sub(self.written.load(Ordering::Relaxed));
        left.min(
            self.most
                .saturating_mul(2)
                .saturating_sub(self.wasted.load(Ordering::Relaxed)),
        )
    }
}

impl Writing<'_> {
    /// Counts the bytes written so far, before other values are written in the meantime.
    pub(crate) fn count(&mut self, length: usize) {
        self.answer
            .written
            .fetch_add(length.saturating_sub(self.counted), Ordering::Relaxed);
        self.counted = length;
        self.room = length + self.answer.left();
    }

    /// Marks the value as complete.
    pub(crate) fn finish(&mut self, length: usize) {
        self.count(length);

        // `Drop` returns the counted bytes, and a complete value keeps its bytes.
        self.counted = 0;
    }

    /// Marks the value as abandoned.
    pub(crate) fn give_up(&mut self, length: usize) {
        self.answer.wasted.fetch_add(length, Ordering::Relaxed);
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if self.counted != 0 {
            self.answer.take_back(self.counted);
        }
    }
}
