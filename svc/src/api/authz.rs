//! Authorization: the single gate that every root field passes before it runs, on every execution
//! path, and the application's policies, which decide there.
//!
//! An [`Authorizer`] decides about each root field of a request. It receives an
//! [`AuthorizationRequest`] and returns an [`AuthorizationDecision`]: allow, allow some rows, or
//! deny. Row policies return a [`RowDecision`]: the rows of a type that a request may read, through
//! any field.

#[cfg(feature = "auth")]
#[doc(inline)]
pub use svc_engine::authz::any_permission;
#[doc(inline)]
pub use svc_engine::authz::{
    AuthorizationCacheConfig, AuthorizationDecision, AuthorizationRequest, Authorizer,
    IntoAuthorizer, IntoDecision, OperationType, RowDecision, field_authorizer_adapter,
};
#[doc(hidden)]
pub use svc_engine::authz::{AuthorizerOf, CheckAnswer, FieldCheck, OwnAuthorizer};
