//! The origin of an error, as far as the security log tells it.

/// The origin of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// Any other.
    #[default]
    Other,
    /// Code that has panicked.
    Panic,
    /// The gate, which denies by a rule.
    Gate(Denied),
}

/// The kinds of rules by which the gate denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// A guard, which asks for a user, a role or a permission.
    ByGuard,
    /// An authorizer, about a root field.
    ByAuthorizer,
    /// A rule about a gated field.
    Field,
}
