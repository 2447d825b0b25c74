//! The allocations of one request, taken from many.

use std::env;

use crate::counter::{Counter, Counts};
use crate::trace;

/// Set to print every allocation with its place.
const TRACE: &str = "ALLOCATIONS_TRACE";

/// The number of requests before the first count: plans are made, statements are prepared, buffers
/// have grown.
const WARM_UP: usize = 60;

/// The number of counted requests.
const SAMPLES: usize = 64;

/// The place, among the sorted counts, of the one that is taken. Background tasks and buffers that
/// run full add to some counts, so that a low one is taken. It is not the lowest: a single count is
/// no proof that requests need no more.
const RANK: usize = SAMPLES / 8;

/// The number of traced requests; the one with the fewest allocations is printed.
const TRACED: usize = 8;

/// A request and its counts.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) name: &'static str,
    pub(crate) counts: Counts,
}

/// Counts the allocations of the server for one request, which `send` sends and whose response it
/// reads.
pub(crate) fn measure(name: &'static str, counter: &Counter, mut send: impl FnMut()) -> Counted {
    let mut count = || {
        let before = counter.counts();
        send();
        counter.until_idle();
        counter.counts() - before
    };

    for _ in 0..WARM_UP {
        count();
    }
    let mut counts: Vec<Counts> = (0..SAMPLES).map(|_| count()).collect();
    counts.sort_unstable();
    let counts = counts[RANK];

    if env::var_os(TRACE).is_some() {
        let traces = (0..TRACED).map(|_| counter.trace(&mut send));
        let shortest = traces.min_by_key(Vec::len).unwrap_or_default();
        trace::print(name, counts, &shortest);
    }

    Counted { name, counts }
}
