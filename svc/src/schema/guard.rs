use std::fmt;

/// A condition on the user who asks; without it a field is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// There is a user: `requires_auth`.
    Auth,
    /// The user has a permission: `requires_permission`.
    Permission(&'static str),
    /// The user has a role: `requires_role`.
    Role(&'static str),
    /// The user has one of these permissions: `requires_any_permission`.
    AnyPermission(&'static [&'static str]),
    /// The user has one of these roles: `requires_any_role`.
    AnyRole(&'static [&'static str]),
}

/// The condition as the schema tells it.
impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        match self {
            Self::Auth => f.write_str("Requires a user."),
            Self::Permission(name) => write!(f, "Requires the permission `{name}`."),
            Self::Role(name) => write!(f, "Requires the role `{name}`."),
            Self::AnyPermission(names) => write!(f, "Requires the permission {}.", list(names)),
            Self::AnyRole(names) => write!(f, "Requires the role {}.", list(names)),
        }
    }
}

/// A description with what the guards require.
pub(super) fn described(description: Option<String>, guards: &[Guard]) -> Option<String> {
    if guards.is_empty() {
        return description;
    }
    let required = guards.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    Some(match description {
        Some(description) => format!("{description}\n\n{required}"),
        None => required,
    })
}
