//! The rules that stand at root fields.

use std::any::TypeId;

use super::{Code, Guard};

/// The rules that stand at a root field.
#[derive(Debug, Clone, Copy)]
pub struct RootRules {
    /// The authorizer that decides in place of the application's.
    pub authorizer: Option<&'static dyn Code>,
    /// The conditions on the user, of which each must hold.
    pub guards: &'static [Guard],
    /// The limit of its own.
    pub rate_limit: Option<RootLimit>,
    /// The seconds for which the answer of a query may be kept.
    pub cache: Option<u32>,
    /// The types of rows that a query reads besides those of its answer, or that a mutation writes.
    pub touches: &'static [fn() -> TypeId],
}

/// The times that a client may run a root field in a window of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootLimit {
    /// The times.
    pub count: u64,
    /// The window in seconds.
    pub window: u64,
}

impl RootRules {
    /// No rules of its own.
    pub const NONE: Self = Self { authorizer: None, guards: &[], rate_limit: None, cache: None, touches: &[] };
}
