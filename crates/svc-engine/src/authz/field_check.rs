//! Checks of single fields, with access to the object.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{AuthorizationDecision, AuthorizationRequest, IntoAuthorizer, IntoDecision};
use svc_core::Result;
use svc_core::schema::Code;

pub(crate) type Run = for<'a> fn(
    &'a dyn std::any::Any,
    AuthorizationRequest,
) -> BoxFuture<'a, Result<AuthorizationDecision>>;

/// A check named by `#[svc::authorize_field(…)]`; the schema stores it as code.
pub struct FieldCheck(Run);

impl FieldCheck {
    /// Creates a check from the closure that calls it.
    pub const fn new(run: Run) -> Self {
        Self(run)
    }

    /// The check registered for a field; any other kind of code denies.
    pub(super) fn of(code: &'static dyn Code) -> Option<&'static Self> {
        (code as &dyn std::any::Any).downcast_ref()
    }

    /// Runs the check for an object.
    pub(super) fn decide<'a>(
        &self,
        object: &'a dyn svc_core::schema::Object,
        request: AuthorizationRequest,
    ) -> BoxFuture<'a, Result<AuthorizationDecision>> {
        (self.0)(object.as_any(), request)
    }
}

impl Code for FieldCheck {}

impl fmt::Debug for FieldCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FieldCheck")
    }
}

/// Marks a check that returns its decision directly.
#[derive(Debug)]
pub struct Now;

/// Marks a check that returns a future.
#[derive(Debug)]
pub struct Later;

/// The return value of a check: a decision, or a future of one.
#[diagnostic::on_unimplemented(
    message = "a check of a field cannot return `{Self}`",
    note = "return a `bool`, an `AuthorizationDecision`, or a `svc::Result` with either, from a `fn` or an `async fn`"
)]
pub trait CheckAnswer<'a, Kind> {
    /// The decision.
    fn decided(self) -> BoxFuture<'a, Result<AuthorizationDecision>>;
}

impl<'a, D: IntoDecision> CheckAnswer<'a, Now> for D {
    fn decided(self) -> BoxFuture<'a, Result<AuthorizationDecision>> {
        std::future::ready(self.into_decision()).boxed()
    }
}

impl<'a, F: Future<Output: IntoDecision> + Send + 'a> CheckAnswer<'a, Later> for F {
    fn decided(self) -> BoxFuture<'a, Result<AuthorizationDecision>> {
        async move { self.await.into_decision() }.boxed()
    }
}

/// A check that calls an authorizer with this field name, such as `User.email`, as the operation
/// name.
///
/// The authorizer does not see the object, so its decision is the same for all objects of a
/// request; it is called for each one. In an operation with `@atomic`, its writes are separate, like
/// the writes of other authorizers. Its events are published when the operation has ended, like the
/// events of other checks.
///
/// ```
/// use svc::authz::field_authorizer_adapter;
/// use svc::prelude::*;
///
/// async fn policy(request: AuthorizationRequest) -> bool {
///     request.operation_name() != "User.email" || request.context().header("x-inside").is_some()
/// }
///
/// #[svc_type(sql_source = "v_user")]
/// struct User {
///     id: Uuid,
///     #[svc::authorize_field(field_authorizer_adapter(policy, "User.email"))]
///     email: Option<String>,
/// }
/// # drop(AppOptions::new().types(types![User]));
/// ```
pub fn field_authorizer_adapter<T: ?Sized, Kind: 'static>(
    authorizer: impl IntoAuthorizer<Kind>,
    field: &'static str,
) -> impl Fn(&T, AuthorizationRequest) -> BoxFuture<'static, Result<AuthorizationDecision>> {
    let authorizer = Arc::new(authorizer);
    move |_, request| {
        let authorizer = authorizer.clone();
        let request = AuthorizationRequest {
            operation_name: field.to_owned(),
            ..request.outside()
        };
        async move { authorizer.decide(request).await }.boxed()
    }
}

/// A check of the user alone: one of these permissions is sufficient.
///
/// The guard [`requires_any_permission`](macro@svc_macros::requires_any_permission) has the same
/// effect, but is evaluated once per request, and leaves the field in the filters of the schema.
///
/// ```
/// use svc::authz::any_permission;
/// use svc::prelude::*;
///
/// #[svc_type(sql_source = "v_user")]
/// struct User {
///     id: Uuid,
///     #[svc::authorize_field(any_permission(&["users:email", "users:admin"]))]
///     email: Option<String>,
/// }
/// # drop(AppOptions::new().types(types![User]));
/// ```
#[cfg(feature = "auth")]
pub fn any_permission<T: ?Sized>(
    permissions: &'static [&'static str],
) -> impl Fn(&T, AuthorizationRequest) -> Result<AuthorizationDecision> {
    move |_, request| {
        let guard = [svc_core::schema::Guard::AnyPermission(permissions)];
        super::guard_check::check(&guard, &request.context(), request.operation_name())?;
        Ok(AuthorizationDecision::allow())
    }
}
