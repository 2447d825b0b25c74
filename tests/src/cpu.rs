//! The work of the thread of a test.

use std::time::Duration;

/// The CPU time of this thread, on which client and server run where a test has no other: what else
/// the machine does does not count.
pub fn cpu() -> Duration {
    let stat =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("the times of this thread");
    Duration::from_nanos(
        stat.split(' ')
            .next()
            .and_then(|time| time.parse().ok())
            .expect("a number"),
    )
}
