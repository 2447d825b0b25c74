use super::{Code, Guard};

/// The rules of authorization that stand at a root field.
#[derive(Debug, Clone, Copy)]
pub struct RootRules {
    /// The authorizer that decides in place of the application's.
    pub authorizer: Option<&'static dyn Code>,
    /// The conditions on the user, of which each must hold.
    pub guards: &'static [Guard],
}

impl RootRules {
    /// No rules of its own.
    pub const NONE: Self = Self { authorizer: None, guards: &[] };
}
