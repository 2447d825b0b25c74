//! Session variables: values of the request that PostgreSQL sees while it runs the request's statements.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderName};

use super::Context;
use crate::postgres::{Param, Session, Statement, StatementText};

/// Which settings PostgreSQL gets from a request, and where their values come from; given to
/// [`AppOptions::session_variables`](crate::AppOptions::session_variables).
///
/// Policies of row-level security read them with `current_setting('app.tenant_id', true)`. They are set for one
/// transaction, in which the request's statement runs. A value that a request does not have is set to the empty
/// text, so that neither a default of the database nor the value of another request can take its place.
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
#[derive(Default)]
#[must_use = "give the variables to `AppOptions::session_variables`"]
pub struct SessionVariables {
    variables: Vec<Variable>,
    /// The statement that sets them, without their values: it is the same for all requests.
    text: OnceLock<StatementText>,
}

struct Variable {
    name: String,
    from: Value,
}

enum Value {
    Header(String),
    Request(Box<ValueFn>),
}

type ValueFn = dyn Fn(&Context<'_>) -> Option<String> + Send + Sync;

/// Why session variables cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadVariable {
    pub(crate) value: String,
    pub(crate) allowed: &'static str,
}

impl SessionVariables {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// A variable whose value is a header of the request.
    ///
    /// A client can send any header, so this fits only behind a gateway that sets it and drops the client's own. A
    /// header that is sent twice counts as missing.
    pub fn header(mut self, name: impl Into<String>, header: impl Into<String>) -> Self {
        self.variables.push(Variable { name: name.into(), from: Value::Header(header.into()) });
        self
    }

    /// A variable whose value is computed once for each request. The function cannot read the database.
    pub fn with<F>(mut self, name: impl Into<String>, value: F) -> Self
    where
        F: Fn(&Context<'_>) -> Option<String> + Send + Sync + 'static,
    {
        self.variables.push(Variable { name: name.into(), from: Value::Request(Box::new(value)) });
        self
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Checks the names.
    pub(crate) fn check(&self) -> Result<(), BadVariable> {
        let bad = |value: &str, allowed| Err(BadVariable { value: value.to_owned(), allowed });
        let mut names = HashSet::new();
        for Variable { name, from } in &self.variables {
            if !is_custom_setting(name) {
                return bad(
                    name,
                    "it must be a prefix and a name of ASCII letters, digits and `_`, such as app.tenant_id",
                );
            }
            if !names.insert(name.to_ascii_lowercase()) {
                return bad(name, "each variable can be given once");
            }
            if let Value::Header(header) = from
                && header.parse::<HeaderName>().is_err()
            {
                return bad(header, "it must be the name of an HTTP header, such as x-tenant-id");
            }
        }
        Ok(())
    }

    /// The session of a request until the values are known.
    pub(crate) fn unknown(&self) -> Option<Arc<Session>> {
        (!self.variables.is_empty()).then(|| Arc::new(Session::unknown()))
    }

    /// The values of a request.
    pub(crate) fn session(&self, context: &Context<'_>) -> Option<Arc<Session>> {
        if self.variables.is_empty() {
            return None;
        }
        // Without its values a request reads nothing.
        let values = catch_unwind(AssertUnwindSafe(|| self.statement(context)));
        Some(Arc::new(values.map_or_else(|_| Session::unknown(), Session::of)))
    }

    /// The statement that sets the values of a request.
    fn statement(&self, context: &Context<'_>) -> Statement {
        let text = self.text.get_or_init(|| {
            let set = |index: usize| format!("set_config(${}, ${}, true)", index * 2 + 1, index * 2 + 2);
            format!("SELECT {}", (0..self.variables.len()).map(set).collect::<Vec<_>>().join(", ")).into()
        });
        let params = self.variables.iter().flat_map(|variable| {
            [variable.name.clone(), variable.from.value(context).unwrap_or_default()].map(Param::Text)
        });
        Statement::new(text.clone(), params.collect())
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

/// The value of a header that comes once.
fn only_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { std::str::from_utf8(value.as_bytes()).ok() }
}

/// Whether PostgreSQL takes a name for a setting of an application's own: identifiers with dots between them.
fn is_custom_setting(name: &str) -> bool {
    let is_identifier = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    name.contains('.') && name.split('.').all(is_identifier)
}

impl std::fmt::Debug for SessionVariables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.variables.iter().map(|variable| &variable.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for name in ["app.tenant_id", "_a.b2", "my_app.tenant.id"] {
            assert_eq!(SessionVariables::new().header(name, "x-tenant").check(), Ok(()), "{name}");
        }
        for name in ["tenant_id", "", ".", "app.", "app.1", "app.a b", "app.é", "role; DROP TABLE x.y"] {
            assert_eq!(SessionVariables::new().with(name, |_| None).check().unwrap_err().value, name);
        }
        let twice = SessionVariables::new().header("app.a", "x-a").header("App.A", "x-b");
        assert_eq!(twice.check().unwrap_err().allowed, "each variable can be given once");
        assert_eq!(SessionVariables::new().header("app.a", "no header").check().unwrap_err().value, "no header");
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
