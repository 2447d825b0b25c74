//! The stacks of errors, if they are enabled.

use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// A stack whose functions are not resolved yet.
pub type Stack = Arc<Backtrace>;

/// The average time per captured stack: capturing one costs about as much as a small request.
const BETWEEN: Duration = Duration::from_millis(100);
/// The allowance for stacks captured ahead, so that the first ten of many errors have theirs.
const AHEAD: Duration = Duration::from_millis(900);

static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Whether the functions of a stack are being resolved. Capturing a stack in the meantime would
/// wait for that.
static IS_LOOKING_UP: AtomicBool = AtomicBool::new(false);

/// Enables the capture of stacks.
pub(super) fn want() {
    IS_WANTED.store(true, Ordering::Relaxed);
}

/// Captures the stack of this thread; `None` if stacks are not enabled, or ten were captured within
/// a second.
pub(super) fn take() -> Option<Stack> {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

    /// In milliseconds since the beginning.
    static NEXT: AtomicU64 = AtomicU64::new(0);

    if !IS_WANTED.load(Ordering::Relaxed) || IS_LOOKING_UP.load(Ordering::Relaxed) {
        return None;
    }

    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let (now, next) = (millis(BEGAN.elapsed()), NEXT.load(Ordering::Relaxed));

    // Each captured stack moves `next` ahead; `AHEAD` limits its distance from the clock.
    let after = next.max(now).saturating_add(millis(BETWEEN));
    let has_room = next.saturating_sub(now) <= millis(AHEAD);

    // There is no second try: a thread that loses the exchange only has an error without a stack.
    let is_taken = has_room
        && NEXT
            .compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();

    // `Backtrace::capture` would depend on `RUST_BACKTRACE`, which services seldom set.
    is_taken.then(|| Arc::new(Backtrace::force_capture()))
}

/// Resolves the functions of a stack, which takes long.
pub fn stack_text(stack: &Stack) -> String {
    IS_LOOKING_UP.store(true, Ordering::Relaxed);
    let text = stack.to_string();
    IS_LOOKING_UP.store(false, Ordering::Relaxed);
    text
}
