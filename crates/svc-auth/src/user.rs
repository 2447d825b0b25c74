//! The user of a request.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::token::claims::pointed;

/// The claims that differ between tokens of the same user.
pub const OF_TOKENS: [&str; 4] = ["exp", "iat", "jti", "nbf"];

/// The authenticated user of a request.
///
/// Roles and permissions are compared exactly, including case. `Debug` shows the identifier, and
/// only the number of roles and permissions: names and addresses do not belong in logs.
///
/// ```
/// use svc::auth::UserContext;
///
/// let user = UserContext::new("9b2d").roles(["editor"]).permissions(["posts:write", "posts:read"]);
/// assert!(user.has_role("editor") && !user.has_role("Editor"));
/// assert!(user.has_any_permission(["posts:delete", "posts:read"]));
/// assert!(!user.has_all_permissions(["posts:delete", "posts:read"]));
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserContext {
    /// The identifier.
    pub user_id: String,
    /// The email address.
    #[serde(default)]
    pub email: Option<String>,
    /// The display name.
    #[serde(default)]
    pub name: Option<String>,
    /// The roles.
    #[serde(default)]
    pub roles: Vec<String>,
    /// The permissions, `resource:action` by convention.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// Additional data, such as other claims of the token.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// All fields of a user: in contrast to [`UserContext`], a new one is an error where they are listed.
#[derive(Clone, Copy)]
pub struct UserFacts<'a> {
    pub user_id: &'a String,
    pub email: &'a Option<String>,
    pub name: &'a Option<String>,
    pub roles: &'a Vec<String>,
    pub permissions: &'a Vec<String>,
    pub metadata: &'a Map<String, Value>,
}

impl UserContext {
    /// Returns all fields.
    #[doc(hidden)]
    pub fn facts(&self) -> UserFacts<'_> {
        let Self {
            user_id,
            email,
            name,
            roles,
            permissions,
            metadata,
        } = self;

        UserFacts {
            user_id,
            email,
            name,
            roles,
            permissions,
            metadata,
        }
    }

    /// A user with only an identifier.
    pub fn new(user_id: impl Into<String>) -> Self {
        Self {
            user_id: user_id.into(),
            ..Self::default()
        }
    }

    /// Whether another token describes the same user, ignoring its time of issue, its validity
    /// period, and the order of roles and permissions.
    #[doc(hidden)]
    pub fn is_same_but_for_times(&self, other: &Self) -> bool {
        let UserFacts {
            user_id,
            email,
            name,
            roles,
            permissions,
            metadata,
        } = self.facts();

        (user_id, email, name) == (&other.user_id, &other.email, &other.name)
            && is_same_set(roles, &other.roles)
            && is_same_set(permissions, &other.permissions)
            && lasting(metadata).count() == lasting(&other.metadata).count()
            && lasting(metadata).all(|(name, value)| other.metadata.get(name) == Some(value))
    }

    /// The same user with an email address.
    #[must_use]
    pub fn email(mut self, email: impl Into<String>) -> Self {
        self.email = Some(email.into());
        self
    }

    /// The same user with a name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same user with these roles in addition.
    #[must_use]
    pub fn roles<T: Into<String>>(mut self, roles: impl IntoIterator<Item = T>) -> Self {
        self.roles.extend(roles.into_iter().map(Into::into));
        self
    }

    /// The same user with these permissions in addition.
    #[must_use]
    pub fn permissions<T: Into<String>>(
        mut self,
        permissions: impl IntoIterator<Item = T>,
    ) -> Self {
        self.permissions
            .extend(permissions.into_iter().map(Into::into));
        self
    }

    /// The same user with an entry of metadata.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Returns a claim as text: `email`, `name`, or a metadata entry, where providers put the other
    /// claims of a token. Metadata is looked up by name, or by a JSON pointer (RFC 6901) such as
    /// `/tenant/id`. Numbers and booleans are written as in JSON; anything else is `None`.
    ///
    /// ```
    /// use svc::auth::UserContext;
    /// use svc::serde_json::json;
    ///
    /// let user = UserContext::new("9b2d").metadata("tenant", json!({ "id": 7 }));
    /// assert_eq!(user.claim("/tenant/id").as_deref(), Some("7"));
    /// assert_eq!(user.claim("tenant"), None);
    /// ```
    pub fn claim(&self, name: &str) -> Option<String> {
        let value = match (name, name.starts_with('/')) {
            ("email", _) => return self.email.clone(),
            ("name", _) => return self.name.clone(),
            (pointer, true) => pointed(&self.metadata, pointer)?,
            (name, false) => self.metadata.get(name)?,
        };

        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        }
    }

    /// Whether the user has the role.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| own == role)
    }

    /// Whether the user has the permission.
    pub fn has_permission(&self, permission: &str) -> bool {
        self.permissions.iter().any(|own| own == permission)
    }

    /// Whether the user has at least one of the roles; `false` if `roles` is empty.
    pub fn has_any_role<T: AsRef<str>>(&self, roles: impl IntoIterator<Item = T>) -> bool {
        roles.into_iter().any(|role| self.has_role(role.as_ref()))
    }

    /// Whether the user has at least one of the permissions; `false` if `permissions` is empty.
    pub fn has_any_permission<T: AsRef<str>>(
        &self,
        permissions: impl IntoIterator<Item = T>,
    ) -> bool {
        permissions
            .into_iter()
            .any(|permission| self.has_permission(permission.as_ref()))
    }

    /// Whether the user has all of the roles; `true` if `roles` is empty.
    pub fn has_all_roles<T: AsRef<str>>(&self, roles: impl IntoIterator<Item = T>) -> bool {
        roles.into_iter().all(|role| self.has_role(role.as_ref()))
    }

    /// Whether the user has all of the permissions; `true` if `permissions` is empty.
    pub fn has_all_permissions<T: AsRef<str>>(
        &self,
        permissions: impl IntoIterator<Item = T>,
    ) -> bool {
        permissions
            .into_iter()
            .all(|permission| self.has_permission(permission.as_ref()))
    }
}

/// Whether two lists have the same names, in any order. A statement without `ORDER BY` returns its
/// rows in another order at times.
fn is_same_set(names: &[String], others: &[String]) -> bool {
    if names == others {
        return true;
    }

    let own: BTreeSet<&String> = names.iter().collect();
    own == others.iter().collect::<BTreeSet<&String>>()
}

/// The metadata without the claims that differ between tokens of the same user.
fn lasting(metadata: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    metadata
        .iter()
        .filter(|(name, _)| !OF_TOKENS.contains(&name.as_str()))
}

impl std::fmt::Debug for UserContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserContext")
            .field("user_id", &self.user_id)
            .field("roles", &self.roles.len())
            .field("permissions", &self.permissions.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_roles_and_the_times_of_tokens_make_no_other_user() {
        let user = UserContext::new("ada")
            .roles(["editor", "author"])
            .permissions(["posts:read", "posts:write"])
            .metadata("tenant", 7)
            .metadata("iat", 1);
        let same = UserContext::new("ada")
            .roles(["author", "editor", "author"])
            .permissions(["posts:write", "posts:read"])
            .metadata("iat", 2)
            .metadata("exp", 3)
            .metadata("tenant", 7);
        assert!(user.is_same_but_for_times(&same) && same.is_same_but_for_times(&user));

        for other in [
            user.clone().roles(["admin"]),
            user.clone().permissions(["posts:delete"]),
            user.clone().email("ada@example.com"),
            user.clone().name("Ada"),
            user.clone().metadata("tenant", 8),
            user.clone().metadata("region", "north"),
            UserContext {
                user_id: "bob".to_owned(),
                ..user.clone()
            },
        ] {
            assert!(!user.is_same_but_for_times(&other), "{other:?}");
            assert!(!other.is_same_but_for_times(&user), "{other:?}");
        }
    }
}
