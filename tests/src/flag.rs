//! Flags for which loops wait.

use std::sync::atomic::{AtomicBool, Ordering};

/// Sets a flag when it is dropped, so that a thread that loops until then ends even if the test
/// fails.
#[derive(Debug)]
pub struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
