//! The bytes that an answer may still get while its fields are written, so that one that gets too large is given up
//! before it takes memory.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes of one answer.
#[derive(Debug)]
pub(crate) struct AnswerBytes {
    most: usize,
    written: AtomicUsize,
    /// Those that were given up. They cost time: ten fields that are too large are not all written to their end.
    wasted: AtomicUsize,
}

/// The bytes of one value that is being written. Those that were counted are given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    answer: &'a AnswerBytes,
    counted: usize,
    /// The bytes that the value may have.
    pub(crate) room: usize,
}

impl AnswerBytes {
    /// Those of an answer with at most so many.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, written: AtomicUsize::new(0), wasted: AtomicUsize::new(0) }
    }

    /// Begins to write a value.
    pub(crate) fn begin(&self) -> Writing<'_> {
        Writing { answer: self, counted: 0, room: self.left() }
    }

    /// Takes back bytes that will be written again, in what they become a part of.
    pub(crate) fn take_back(&self, bytes: usize) {
        self.written.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The bytes for which there is room. As many as an answer may have can be given up besides.
    fn left(&self) -> usize {
        let left = self.most.saturating_sub(self.written.load(Ordering::Relaxed));
        left.min(self.most.saturating_mul(2).saturating_sub(self.wasted.load(Ordering::Relaxed)))
    }
}

impl Writing<'_> {
    /// Counts what is written so far, before others write meanwhile.
    pub(crate) fn count(&mut self, length: usize) {
        self.answer.written.fetch_add(length.saturating_sub(self.counted), Ordering::Relaxed);
        self.counted = length;
        self.room = length + self.answer.left();
    }

    /// The value is written.
    pub(crate) fn finish(&mut self, length: usize) {
        self.count(length);
        self.counted = 0;
    }

    /// The value is not written to its end.
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
