//! Builds a user from the claims of a token.

use serde_json::Value;

use crate::{AuthError, Claims, UserContext};

/// The claims of the custom provider that are not metadata.
const OWN_PLACES: [&str; 10] = [
    "sub",
    "user_id",
    "email",
    "name",
    "roles",
    "permissions",
    "exp",
    "iat",
    "iss",
    "aud",
];

/// Builds the user from the claims of the custom provider; the identifier comes from the caller.
pub(super) fn described(claims: &Claims, user_id: String) -> Result<UserContext, AuthError> {
    let metadata = claims
        .as_map()
        .iter()
        .filter(|(name, _)| !OWN_PLACES.contains(&name.as_str()));
    let permissions = match claims.get("permissions") {
        None | Some(Value::Null) => words(claims.get("scope"), "scope")?,
        Some(_) => list(claims, "permissions")?,
    };

    Ok(UserContext {
        user_id,
        email: text(claims, "email")?,
        name: text(claims, "name")?,
        roles: list(claims, "roles")?,
        permissions,
        metadata: metadata
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    })
}

/// A string claim; `None` if it is missing or null.
fn text(claims: &Claims, name: &str) -> Result<Option<String>, AuthError> {
    match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(AuthError::invalid(format!("`{name}` is not a string"))),
    }
}

/// A claim with a list of strings; empty if it is missing.
fn list(claims: &Claims, name: &str) -> Result<Vec<String>, AuthError> {
    texts(claims.get(name), name)
}

/// The strings of a list; empty if it is missing.
pub(super) fn texts(claim: Option<&Value>, name: &str) -> Result<Vec<String>, AuthError> {
    let wrong = || AuthError::invalid(format!("`{name}` is not a list of strings"));
    match claim {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => values
            .iter()
            .map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

/// The words of a space-separated string, as in OAuth (RFC 6749, section 3.3), or a list of
/// strings.
pub(super) fn words(claim: Option<&Value>, name: &str) -> Result<Vec<String>, AuthError> {
    match claim {
        Some(Value::String(words)) => Ok(words
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()),
        _ => texts(claim, name),
    }
}
