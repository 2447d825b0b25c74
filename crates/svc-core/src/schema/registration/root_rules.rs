//! The rules of root fields: authorization, rate limit, cache and atomic operations.

use std::any::TypeId;

use super::{Code, Guard};

/// The rules of a root field.
#[derive(Debug, Clone, Copy)]
pub struct RootRules {
    /// An authorizer that overrides the application's.
    pub authorizer: Option<&'static dyn Code>,
    /// The conditions on the user; all must hold.
    pub guards: &'static [Guard],
    /// The root field's own rate limit.
    pub rate_limit: Option<RootLimit>,
    /// How long the response of a query may be cached, in seconds.
    pub cache: Option<u32>,
    /// The row types that a query reads in addition to those of its result, or that a mutation
    /// writes.
    pub touches: &'static [fn() -> TypeId],
    /// Whether clients may run the mutation in one transaction with others, with `@atomic`. A
    /// failure of any of them then undoes its writes.
    pub atomic: bool,
}

/// The number of times that a client may run a root field per window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootLimit {
    /// The maximum number of calls.
    pub count: u64,
    /// The length of the window in seconds.
    pub window: u64,
}

impl RootRules {
    /// No rules.
    pub const NONE: Self = Self {
        authorizer: None,
        guards: &[],
        rate_limit: None,
        cache: None,
        touches: &[],
        atomic: false,
    };
}
