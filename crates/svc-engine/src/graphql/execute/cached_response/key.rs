//! The key of a cached response: everything that the response depends on.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::http::{HeaderMap, HeaderName, header};

use super::super::{Engine, Prepared};
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::row_source;
use crate::graphql::plan::AllAdmitted;
use crate::request::{Context, ContextValues};
use svc_core::value_bytes::{bytes, length, text, value};
use svc_postgres::{Param, Session};

/// The key of a cached response.
pub(super) struct Key {
    pub(super) bytes: Vec<u8>,
    pub(super) scope: Scope,
}

/// The requests that may receive a cached response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Requests of one user.
    Private,
    /// Requests without a user that also agree in other parts of the key.
    Public,
    /// All requests without a user.
    Everyone,
}

impl Engine {
    /// Returns the key of an operation that was admitted to read all rows, or `None` if anything
    /// that its response depends on cannot be determined.
    pub(super) fn key(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        _: &AllAdmitted<'_>,
    ) -> Option<Key> {
        let context = &cx.context;

        // `onError` is left out: only responses without errors are cached, and these do not depend on
        // it.

        // Each part is written with its kind and its length, so that the parts of two requests
        // cannot be divided differently into the same bytes.
        let mut key = Vec::with_capacity(512);
        bytes(&mut key, b'D', prepared.document.digest());
        text(&mut key, b'O', cx.operation.name().unwrap_or_default());
        length(&mut key, b'V', prepared.variables.len());
        for (name, variable) in prepared.variables.iter() {
            text(&mut key, b'v', name);
            value(&mut key, variable);
        }

        let is_private = principal(&mut key, context)?;
        let has_session = session(&mut key, cx.session())?;
        let has_rules = rules(&mut key, cx)?;
        let has_context = context_values(&mut key, cx, prepared)?;

        for function in &self.response_keys.functions {
            text(&mut key, b'K', &own_part(&**function, context)?);
        }

        // A service may have several names.
        for name in [&header::HOST]
            .into_iter()
            .chain(&self.response_keys.headers)
        {
            header_values(&mut key, context.headers(), name);
        }

        let is_alike =
            !has_session && !has_rules && !has_context && self.response_keys.functions.is_empty();
        let scope = match (is_private, is_alike) {
            (true, _) => Scope::Private,
            (false, false) => Scope::Public,
            (false, true) => Scope::Everyone,
        };

        Some(Key { bytes: key, scope })
    }
}

/// Returns a part of the key that the program adds. If its function panics, the response is
/// computed and not cached.
fn own_part(
    function: &(dyn Fn(&Context<'_>) -> Option<String> + Send + Sync),
    context: &Context<'_>,
) -> Option<String> {
    catch_unwind(AssertUnwindSafe(|| function(context))).unwrap_or_else(|panic| {
        svc_telemetry::panic::report(
            "a key of the response cache",
            svc_telemetry::panic::message(&*panic),
        );
        None
    })
}

/// Writes the requesting user, and returns whether there is one. A request with credentials that
/// identify no user has no key, because a resolver may recognize them.
fn principal(key: &mut Vec<u8>, context: &Context<'_>) -> Option<bool> {
    #[cfg(feature = "auth")]
    if let Some(user) = context.user() {
        self::user(key, user)?;
        return Some(true);
    }

    key.push(b'A');
    let has_credentials = context.request.parts().had_credentials
        || [header::AUTHORIZATION, header::COOKIE]
            .iter()
            .any(|name| context.headers().contains_key(name));

    (!has_credentials).then_some(false)
}

/// Writes everything that resolvers can learn about a user.
#[cfg(feature = "auth")]
fn user(key: &mut Vec<u8>, user: &svc_auth::UserContext) -> Option<()> {
    // Destructured without `..`, so that the compiler rejects a new field that the key leaves out.
    let svc_auth::UserFacts {
        user_id,
        email,
        name,
        roles,
        permissions,
        metadata,
    } = user.facts();

    text(key, b'U', user_id);
    for fact in [email, name] {
        length(key, b'o', usize::from(fact.is_some()));
        text(key, b's', fact.as_deref().unwrap_or_default());
    }

    for names in [roles, permissions] {
        length(key, b'l', names.len());
        names.iter().for_each(|name| text(key, b's', name));
    }

    // These claims change with each token, so a client that refreshes its token would never find a
    // response.
    let lasting = || {
        metadata
            .iter()
            .filter(|(name, _)| !svc_auth::OF_TOKENS.contains(&name.as_str()))
    };

    length(key, b'm', lasting().count());
    for (name, fact) in lasting() {
        text(key, b'k', name);
        text(key, b'j', &serde_json::to_string(fact).ok()?);
    }

    Some(())
}

/// Writes the values of session variables, and returns whether there are any.
fn session(key: &mut Vec<u8>, session: &Session) -> Option<bool> {
    session.check().ok()?;
    let Some(setup) = session.setup() else {
        return Some(false);
    };

    for param in &setup.params {
        match param {
            Param::Text(value) => text(key, b'S', value),
            _ => return None,
        }
    }

    Some(true)
}

/// Writes the decisions of the row policies for the request, and returns whether there are any
/// policies.
fn rules(key: &mut Vec<u8>, cx: &ExecutionContext<'_>) -> Option<bool> {
    let Some(rules) = &cx.context.db().rules else {
        return Some(false);
    };

    for rule in rules.all().ok()? {
        // `Debug` is derived, so its text distinguishes any two values.
        let mut shown = String::new();
        write!(shown, "{rule:?}").ok()?;
        text(key, b'R', &shown);
    }

    Some(true)
}

/// Writes the request values that queries pass to their functions or their SQL, and returns whether
/// there are any.
fn context_values(
    key: &mut Vec<u8>,
    cx: &ExecutionContext<'_>,
    prepared: &Prepared,
) -> Option<bool> {
    let mut has_some = false;
    let names = prepared
        .plan
        .root
        .fields
        .iter()
        .filter_map(|field| row_source(cx.model, field));

    for name in names.flat_map(|source| source.context) {
        let value = cx
            .context
            .data::<ContextValues>()
            .ok()?
            .take(name, &cx.context)
            .ok()?;
        length(key, b'C', usize::from(value.is_some()));
        text(key, b'c', value.as_deref().unwrap_or_default());
        has_some = true;
    }

    Some(has_some)
}

fn header_values(key: &mut Vec<u8>, headers: &HeaderMap, name: &HeaderName) {
    let values = headers.get_all(name);
    length(key, b'H', values.iter().count());
    values
        .iter()
        .for_each(|value| bytes(key, b'h', value.as_bytes()));
}
