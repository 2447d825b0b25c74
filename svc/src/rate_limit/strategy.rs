//! The ways in which limits count.

/// The way in which a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RateLimitStrategy {
    /// The count begins anew with each window; windows are multiples of their length since 1970.
    FixedWindow,
    /// The count of the window before still weighs, by the share of it that the last `window` seconds cover.
    #[default]
    SlidingWindow,
    /// A bucket of `burst` tokens, which are refilled evenly over the window.
    TokenBucket,
}
