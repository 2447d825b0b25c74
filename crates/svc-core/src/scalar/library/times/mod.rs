//! Spans of time.

mod date_range;
mod duration;

pub use date_range::DateRange;
pub use duration::Duration;
