//! The strategies of counting.

/// A strategy of counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RateLimitStrategy {
    /// The count restarts with each window; windows are multiples of their length since 1970.
    FixedWindow,
    /// The count of the previous window is added, weighted by the share of it that the last
    /// `window` seconds cover.
    #[default]
    SlidingWindow,
    /// A bucket of `burst` tokens, which are refilled evenly over the window.
    TokenBucket,
}
