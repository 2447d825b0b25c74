use std::fmt;

use serde_json::Value;

/// A condition on the requesting user; the field is denied unless it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// There is an authenticated user: `requires_auth`.
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

/// The condition as described in the schema.
impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[&str]| {
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(" or ")
        };

        match self {
            Self::Auth => f.write_str("Requires a user."),
            Self::Permission(name) => write!(f, "Requires the permission `{name}`."),
            Self::Role(name) => write!(f, "Requires the role `{name}`."),
            Self::AnyPermission(names) => write!(f, "Requires the permission {}.", list(names)),
            Self::AnyRole(names) => write!(f, "Requires the role {}.", list(names)),
        }
    }
}

/// The definitions of the directives that show guards.
pub(in crate::schema) const DIRECTIVES: &str = "\
\"There has to be a user.\"
directive @requiresAuth on FIELD_DEFINITION

\"The user has to have the permission.\"
directive @requiresPermission(permission: String!) repeatable on FIELD_DEFINITION

\"The user has to have the role.\"
directive @requiresRole(role: String!) repeatable on FIELD_DEFINITION

\"The user has to have one of the permissions.\"
directive @requiresAnyPermission(permissions: [String!]!) repeatable on FIELD_DEFINITION

\"The user has to have one of the roles.\"
directive @requiresAnyRole(roles: [String!]!) repeatable on FIELD_DEFINITION
";

impl Guard {
    /// The directive for the guard, preceded by a space.
    pub(in crate::schema) fn directive(&self) -> String {
        // JSON strings and lists are also valid GraphQL.
        match *self {
            Self::Auth => " @requiresAuth".to_owned(),
            Self::Permission(name) => {
                format!(" @requiresPermission(permission: {})", Value::from(name))
            }
            Self::Role(name) => format!(" @requiresRole(role: {})", Value::from(name)),
            Self::AnyPermission(names) => format!(
                " @requiresAnyPermission(permissions: {})",
                Value::from(names)
            ),
            Self::AnyRole(names) => format!(" @requiresAnyRole(roles: {})", Value::from(names)),
        }
    }
}

/// A description, extended by the requirements of the guards.
pub(in crate::schema) fn described(
    description: Option<String>,
    guards: &[Guard],
) -> Option<String> {
    if guards.is_empty() {
        return description;
    }

    let required = guards
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ");

    Some(match description {
        Some(description) => format!("{description}\n\n{required}"),
        None => required,
    })
}
