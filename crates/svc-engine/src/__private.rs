//! Items that generated code refers to. Not part of the public API: they change without notice.

pub use crate::authz::{AuthorizerOf, CheckAnswer, FieldCheck, OwnAuthorizer};
pub use crate::graphql::{
    Call, Completed, EventStream, Events, Method, Outcome, Resolver, Returns, ReturnsBatch, events,
    events_of_result,
};
pub use crate::mutation_result::MutationError;
pub use crate::mutation_result::automatic::{
    ERROR_CODE, ERROR_ERRORS, ERROR_MESSAGE, ERROR_STATUS, SUCCESS_ID, SUCCESS_MESSAGE,
    SUCCESS_STATUS, SUCCESS_UPDATED_FIELDS, error, read_result, success,
};
pub use crate::repository::{Aggregate, Connection};
pub use crate::request::Context;
pub use svc_core::__private::*;
pub use svc_core::trace::{trace_database_query, trace_graphql_operation};
pub use svc_telemetry::metrics::with_metrics;

/// Returns the receiver of a computed field.
///
/// # Panics
/// Never: the engine calls a method with a value of the type that the method was registered for.
#[expect(clippy::expect_used, reason = "see above")]
pub fn receiver<T: 'static>(this: &dyn std::any::Any) -> &T {
    this.downcast_ref()
        .expect("the receiver is of the type that registered the method")
}

/// Returns the receivers of a batch method.
///
/// # Panics
/// Never: see [`receiver`].
pub fn receivers<T: 'static>(objects: Vec<&dyn std::any::Any>) -> Vec<&T> {
    objects.into_iter().map(receiver).collect()
}

/// The type of a resolver's parameter for the context, `&Context<'_>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a resolver",
    label = "neither the context nor an argument",
    note = "an argument owns its value; write its type without `&` and lifetimes",
    note = "take the context as `ctx: &Context<'_>`"
)]
pub trait ContextParameter<'a> {
    /// Converts the context to this type.
    fn of(context: &'a Context<'a>) -> Self;
}

impl<'a> ContextParameter<'a> for &'a Context<'a> {
    fn of(context: &'a Context<'a>) -> Self {
        context
    }
}

/// The fallback for types without an `#[svc_type] impl` block: an inherent constant of the same
/// name wins.
pub trait NoComputed {
    /// No computed fields.
    const __SVC_COMPUTED_FIELDS_GO_INTO_ONE_IMPL: &'static [ComputedMeta] = &[];
}

impl<T: ?Sized> NoComputed for T {}
