//! Items that generated code refers to. Not part of the public API: they change without notice.

pub use crate::authz::{CheckAnswer, FieldCheck, OwnAuthorizer};
pub use crate::engine::{
    Call, Completed, EventStream, Events, Method, Outcome, Resolver, Returns, events, events_of_result,
};
pub use crate::metrics::with_metrics;
pub use crate::mutation::MutationError;
pub use crate::mutation::automatic::{
    ERROR_CODE, ERROR_ERRORS, ERROR_MESSAGE, ERROR_STATUS, SUCCESS_ID, SUCCESS_MESSAGE, SUCCESS_STATUS,
    SUCCESS_UPDATED_FIELDS, error, read_result, success,
};
pub use crate::repository::{Aggregate, Connection};
pub use crate::request::Context;
pub use crate::schema::{
    AbstractMeta, ActsOn, ArgMeta, BesideMeta, BoxFuture, ComputedMeta, ComputedRun, CustomScalar, ElementMeta,
    EnumMeta, EnumValueMeta, EventMeta, EventReturn, ExactJson, FieldMeta, FromStored, FunctionMeta, FunctionReturn,
    Guard, Input, InputError, InputFields, InputMeta, InputRule, InterfaceFieldMeta, InterfaceOf, KeyFn, NestedMeta,
    NestedVerb, NullArgument, Object, ObjectMeta, OnFailure, OperationKind, OrderKey, Output, Place, PlannedMeta,
    PlannedReturn, Registry, RelationMeta, RelationType, Resolved, ResultMember, ResultMeta, RootFieldMeta, RootLimit,
    RootRules, RowFunctionMeta, RowFunctionReturn, RowSourceKind, RowSourceMeta, Run, ScalarKind, ScalarMeta, Shape,
    StoredError, StoredFields, SvcType, Through, TypeFn, TypeKey, TypeRef, WriteMeta, WriteScalar, WriteVerb,
    WrittenReturn, check_input, row_type, touched,
};
pub use crate::schema::{check_scalar, parse_scalar, recode_scalar, stored_scalar, write_scalar};
#[cfg(feature = "testing")]
pub use crate::testing::{TestCase, TestOutcome, run_test};
pub use async_graphql;
pub use futures_util::Stream;
pub use serde_json;

/// Returns the receiver of a computed field.
///
/// # Panics
/// Never: the engine calls a method with a value of the type that the method was registered for.
#[expect(clippy::expect_used, reason = "see above")]
pub fn receiver<T: 'static>(this: &dyn std::any::Any) -> &T {
    this.downcast_ref().expect("the receiver is of the type that registered the method")
}

/// The type of a resolver's parameter for the context, `&Context<'_>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a resolver",
    label = "neither the context nor an argument",
    note = "an argument owns its value; write its type without `&` and lifetimes",
    note = "take the context as `ctx: &Context<'_>`"
)]
pub trait ContextParameter<'a> {
    /// The context as this type.
    fn of(context: &'a Context<'a>) -> Self;
}

impl<'a> ContextParameter<'a> for &'a Context<'a> {
    fn of(context: &'a Context<'a>) -> Self {
        context
    }
}

/// A registered root field; the struct that `#[svc::query]` and its siblings put beside the function.
///
/// A struct named `bool` would hide the type. So for a function with the name of a primitive type, that type stands, with
/// a type of the user's crate as `Owner`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a root field",
    label = "not a root field",
    note = "put `#[svc::query]`, `#[svc::mutation]` or `#[svc::subscription]` on the function and list its name"
)]
pub trait RootField<Owner = ()> {
    /// Its description.
    const META: &'static RootFieldMeta;
}

/// A root field that `queries!` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query",
    label = "not a query",
    note = "`queries!` takes functions with `#[svc::query]`; list those with `#[svc::mutation]` in `mutations!`"
)]
pub trait Query<Owner = ()>: RootField<Owner> {}

/// A root field that `mutations!` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a mutation",
    label = "not a mutation",
    note = "`mutations!` takes functions with `#[svc::mutation]`; list those with `#[svc::query]` in `queries!`"
)]
pub trait Mutation<Owner = ()>: RootField<Owner> {}

/// A root field that `subscriptions!` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a subscription",
    label = "not a subscription",
    note = "`subscriptions!` takes functions with `#[svc::subscription]`; list those with `#[svc::query]` in `queries!`"
)]
pub trait Subscription<Owner = ()>: RootField<Owner> {}

/// The fallback for types without an `#[svc_type] impl` block: an inherent constant of the same name wins.
pub trait NoComputed {
    /// No computed fields.
    const __SVC_COMPUTED_FIELDS_GO_INTO_ONE_IMPL: &'static [ComputedMeta] = &[];
}

impl<T: ?Sized> NoComputed for T {}
