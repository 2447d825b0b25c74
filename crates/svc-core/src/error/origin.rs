//! The origin of an error, as far as the security log and the errors of mutations distinguish it.

/// The origin of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// Any other.
    #[default]
    Other,
    /// Code that has panicked.
    Panic,
    /// A denial by a rule of the gate.
    Gate(Denied),
    /// A temporary failure of the database, such as a conflict with concurrent changes. Errors that
    /// the program creates never have this origin.
    Passing,
}

/// The kinds of rules for a denial by the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// A guard, which requires a user, a role or a permission.
    ByGuard,
    /// An authorizer, about a root field.
    ByAuthorizer,
    /// A rule about a gated field.
    Field,
}
