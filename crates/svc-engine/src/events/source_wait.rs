//! Waits for the source of events, during which a request keeps no permit that others need.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};

thread_local! {
    /// Whether the future that this thread polls waits for the source of events.
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
}

/// Waits for the source of events, and makes [`hold_until_wait`] around it drop its value.
pub(super) async fn waiting<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() {
            IS_WAITING.set(true);
        }
        polled
    })
    .await
}

/// Runs a future, and drops `held` when the future has ended or waits for the source of events: a
/// lost source decides how long that takes.
pub async fn hold_until_wait<T, F: Future>(held: T, mut future: Pin<&mut F>) -> F::Output {
    let mut held = Some(held);
    poll_fn(|cx| {
        // One such future may run inside of another on the same thread, so the flag of the outer
        // one is kept.
        let outer = IS_WAITING.replace(false);
        let polled = future.as_mut().poll(cx);
        if IS_WAITING.replace(outer) {
            drop(held.take());
        }
        polled
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn held_values_are_dropped_at_a_wait_for_the_source_only() {
        let held = Arc::new(());
        let anything = pin!(std::future::pending::<()>());
        let mut other = pin!(hold_until_wait(held.clone(), anything));
        assert!((&mut other).now_or_never().is_none());
        assert_eq!(Arc::strong_count(&held), 2);

        let source = pin!(waiting(std::future::pending::<()>()));
        let mut lost = pin!(hold_until_wait(held.clone(), source));
        assert!((&mut lost).now_or_never().is_none());
        assert_eq!(Arc::strong_count(&held), 2, "only the other one holds it");

        assert!((&mut other).now_or_never().is_none());
        assert_eq!(Arc::strong_count(&held), 2, "it does not wait for that");
    }
}
