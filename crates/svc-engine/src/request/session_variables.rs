//! Session variables: values of the request that are visible to PostgreSQL while it runs the
//! request's statements.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderName};

use super::Context;
#[cfg(feature = "auth")]
use svc_auth::UserContext;
use svc_postgres::{Param, Session, Statement, StatementText};

/// The settings that PostgreSQL gets from a request, and the sources of their values; for
/// `AppOptions::session_variables`.
///
/// Policies of row-level security read them with `current_setting('app.tenant_id', true)`. They are
/// set for a single transaction, the one that runs the request's statement. A value that a request
/// does not have is set to the empty text, so that neither a default of the database nor the value
/// of another request can replace it.
///
/// ```
/// use svc::db::SessionVariables;
/// use svc::prelude::*;
///
/// let variables = SessionVariables::new()
///     .header("app.tenant_id", "x-tenant-id")
///     .with("app.language", |ctx| ctx.header("accept-language").map(str::to_owned));
/// let options = AppOptions::new().session_variables(variables);
/// ```
///
/// With the feature `auth`, values come from the user. A variable may also have a source in the
/// request, for requests without a user: that source is never read for a user, whose value is empty
/// if it is missing in the token.
///
/// ```
/// # #[cfg(feature = "auth")] {
/// use svc::db::SessionVariables;
///
/// let variables = SessionVariables::new().user_id("app.user_id").claim("app.tenant_id", "tenant");
/// # }
/// ```
#[derive(Default)]
#[must_use = "give the variables to `AppOptions::session_variables`"]
pub struct SessionVariables {
    variables: Vec<Variable>,
    /// The statement that sets them, without values: it is the same for all requests.
    text: OnceLock<StatementText>,
}

#[derive(Default)]
struct Variable {
    name: String,
    #[cfg(feature = "auth")]
    of_user: Option<UserValue>,
    of_request: Option<Value>,
    /// Whether a source was set twice.
    is_repeated: bool,
}

#[cfg(feature = "auth")]
enum UserValue {
    Id,
    Claim(String),
}

enum Value {
    Header(String),
    Request(Box<ValueFn>),
}

type ValueFn = dyn Fn(&Context<'_>) -> Option<String> + Send + Sync;

/// A reason why session variables cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadVariable {
    pub value: String,
    pub allowed: &'static str,
}

impl SessionVariables {
    /// Creates an empty list of variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable whose value is a header of the request.
    ///
    /// A client can send any header, so this is safe only behind a gateway that sets it and drops
    /// the client's own. A header that occurs twice counts as missing.
    pub fn header(mut self, name: impl Into<String>, header: impl Into<String>) -> Self {
        self.add(name.into(), Value::Header(header.into()));
        self
    }

    /// Adds a variable whose value is the identifier of the user.
    #[cfg(feature = "auth")]
    pub fn user_id(mut self, name: impl Into<String>) -> Self {
        self.add_of_user(name.into(), UserValue::Id);
        self
    }

    /// Adds a variable whose value is a claim of the user, by name or by JSON pointer: see
    /// [`UserContext::claim`].
    #[cfg(feature = "auth")]
    pub fn claim(mut self, name: impl Into<String>, claim: impl Into<String>) -> Self {
        self.add_of_user(name.into(), UserValue::Claim(claim.into()));
        self
    }

    /// Adds a variable whose value is computed once for each request. The function cannot read the
    /// database.
    pub fn with<F>(mut self, name: impl Into<String>, value: F) -> Self
    where
        F: Fn(&Context<'_>) -> Option<String> + Send + Sync + 'static,
    {
        self.add(name.into(), Value::Request(Box::new(value)));
        self
    }

    fn add(&mut self, name: String, value: Value) {
        let variable = self.variable(name);
        variable.is_repeated |= variable.of_request.replace(value).is_some();
    }

    #[cfg(feature = "auth")]
    fn add_of_user(&mut self, name: String, value: UserValue) {
        let variable = self.variable(name);
        variable.is_repeated |= variable.of_user.replace(value).is_some();
    }

    /// Returns the variable of a name. PostgreSQL ignores the case of names.
    fn variable(&mut self, name: String) -> &mut Variable {
        let known = self
            .variables
            .iter()
            .position(|known| known.name.eq_ignore_ascii_case(&name));
        let index = known.unwrap_or_else(|| {
            self.variables.push(Variable {
                name,
                ..Variable::default()
            });
            self.variables.len() - 1
        });

        &mut self.variables[index]
    }

    /// Whether there are no variables.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Checks the names.
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), BadVariable> {
        let bad = |value: &str, allowed| {
            Err(BadVariable {
                value: value.to_owned(),
                allowed,
            })
        };

        for Variable {
            name,
            of_request,
            is_repeated,
            ..
        } in &self.variables
        {
            if !is_custom_setting(name) {
                return bad(
                    name,
                    "it must be a prefix and a name of ASCII letters, digits and `_`, such as app.tenant_id",
                );
            }

            if *is_repeated {
                return bad(
                    name,
                    "each variable can be given once from the user and once from the request",
                );
            }

            if let Some(Value::Header(header)) = of_request
                && header.parse::<HeaderName>().is_err()
            {
                return bad(
                    header,
                    "it must be the name of an HTTP header, such as x-tenant-id",
                );
            }
        }

        Ok(())
    }

    /// Returns the session of a request whose values are not available yet.
    pub(crate) fn unknown(&self) -> Option<Arc<Session>> {
        (!self.variables.is_empty()).then(|| Arc::new(Session::unknown()))
    }

    /// Returns the session with the values of a request.
    pub(crate) fn session(&self, context: &Context<'_>) -> Option<Session> {
        if self.variables.is_empty() {
            return None;
        }
        // If computing its values panics, the request cannot read.
        let values = catch_unwind(AssertUnwindSafe(|| {
            self.statement(|variable| variable.value(context))
        }));
        Some(values.map_or_else(|_| Session::unknown(), Session::of))
    }

    /// Returns the session for a user authenticated before the request exists; the values of the
    /// request are empty.
    #[cfg(feature = "auth")]
    #[doc(hidden)]
    pub fn session_of_user(&self, user: &UserContext) -> Option<Arc<Session>> {
        let value =
            |variable: &Variable| variable.of_user.as_ref().and_then(|from| from.value(user));
        (!self.variables.is_empty()).then(|| Arc::new(Session::of(self.statement(value))))
    }

    /// Returns the statement that sets the values.
    fn statement(&self, value: impl Fn(&Variable) -> Option<String>) -> Statement {
        let text = self.text.get_or_init(|| {
            // `true` limits the value to the transaction, so the next request on the connection
            // does not get it.
            let set =
                |index: usize| format!("set_config(${}, ${}, true)", index * 2 + 1, index * 2 + 2);
            format!(
                "SELECT {}",
                (0..self.variables.len())
                    .map(set)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
            .into()
        });

        let params = self.variables.iter().flat_map(|variable| {
            [variable.name.clone(), value(variable).unwrap_or_default()].map(Param::Text)
        });

        Statement::new(text.clone(), params.collect())
    }
}

impl Variable {
    fn value(&self, context: &Context<'_>) -> Option<String> {
        // No fallback for a user without the claim: clients choose their headers, and could choose
        // a tenant.
        #[cfg(feature = "auth")]
        if let (Some(from), Some(user)) = (&self.of_user, context.user()) {
            return from.value(user);
        }
        self.of_request.as_ref()?.value(context)
    }
}

#[cfg(feature = "auth")]
impl UserValue {
    fn value(&self, user: &UserContext) -> Option<String> {
        match self {
            Self::Id => Some(user.user_id.clone()),
            Self::Claim(name) => user.claim(name),
        }
    }
}

impl Value {
    fn value(&self, context: &Context<'_>) -> Option<String> {
        match self {
            Self::Header(name) => only_value(context.headers(), name).map(str::to_owned),
            Self::Request(value) => value(context),
        }
    }
}

/// Returns the value of a header that occurs exactly once.
fn only_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;

    // A client may have added its own header beside the one of the gateway.
    if values.next().is_some() {
        None
    } else {
        std::str::from_utf8(value.as_bytes()).ok()
    }
}

/// Whether PostgreSQL accepts a name as that of a custom setting: identifiers with dots between
/// them.
fn is_custom_setting(name: &str) -> bool {
    let is_identifier = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    name.contains('.') && name.split('.').all(is_identifier)
}

impl std::fmt::Debug for SessionVariables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.variables.iter().map(|variable| &variable.name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for name in ["app.tenant_id", "_a.b2", "my_app.tenant.id"] {
            assert_eq!(
                SessionVariables::new().header(name, "x-tenant").check(),
                Ok(()),
                "{name}"
            );
        }

        for name in [
            "tenant_id",
            "",
            ".",
            "app.",
            "app.1",
            "app.a b",
            "app.é",
            "role; DROP TABLE x.y",
        ] {
            assert_eq!(
                SessionVariables::new()
                    .with(name, |_| None)
                    .check()
                    .unwrap_err()
                    .value,
                name
            );
        }

        let twice = SessionVariables::new()
            .header("app.a", "x-a")
            .header("App.A", "x-b");
        assert!(
            twice
                .check()
                .unwrap_err()
                .allowed
                .starts_with("each variable can be given once")
        );

        assert_eq!(
            SessionVariables::new()
                .header("app.a", "no header")
                .check()
                .unwrap_err()
                .value,
            "no header"
        );
    }

    #[test]
    fn a_header_that_is_sent_twice_has_no_value() {
        let mut headers = HeaderMap::new();
        assert_eq!(only_value(&headers, "x-tenant"), None);
        headers.append("x-tenant", "mine".parse().unwrap());
        assert_eq!(only_value(&headers, "X-Tenant"), Some("mine"));
        headers.append("x-tenant", "theirs".parse().unwrap());
        assert_eq!(only_value(&headers, "x-tenant"), None);
    }
}
