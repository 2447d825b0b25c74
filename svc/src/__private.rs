//! What the macros' output names. Not part of the public API: it changes without notice.

pub use crate::engine::{Call, Completed, Context, Outcome};
pub use crate::mutation::automatic::{
    ERROR_CODE, ERROR_ERRORS, ERROR_MESSAGE, ERROR_STATUS, SUCCESS_ID, SUCCESS_MESSAGE, SUCCESS_STATUS,
    SUCCESS_UPDATED_FIELDS, error, read_result, success,
};
pub use crate::mutation::{FunctionReturn, MutationError, OnFailure, ResultMember, ResultMeta};
pub use crate::scalar::{parse_scalar, recode_scalar, stored_scalar, write_scalar};
pub use crate::schema::check_input;
pub use crate::schema::{
    AbstractMeta, ArgMeta, BoxFuture, ComputedMeta, CustomScalar, ElementMeta, EnumMeta, EnumValueMeta, ExactJson,
    FieldMeta, FromStored, FunctionMeta, Input, InputError, InputFields, InputMeta, InterfaceFieldMeta, KeyFn, Method,
    Object, ObjectMeta, OperationKind, OperationMeta, Output, PlannedMeta, PlannedReturn, Registry, RelationMeta,
    RelationType, Resolved, Returns, Run, ScalarKind, ScalarMeta, Shape, StoredError, StoredFields, SvcType, TypeFn,
    TypeKey, TypeRef, WriteScalar,
};
pub use async_graphql;
pub use serde_json;

/// The receiver of a computed field.
///
/// # Panics
/// Never: the engine calls a method with a value of the type that the method was registered for.
#[expect(clippy::expect_used, reason = "see above")]
pub fn receiver<T: 'static>(this: &dyn std::any::Any) -> &T {
    this.downcast_ref().expect("the receiver is of the type that registered the method")
}

/// A parameter of a resolver that is no argument: the context, behind `&`.
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operation",
    label = "not an operation",
    note = "put `#[svc::query]`, `#[svc::mutation]` or `#[svc::subscription]` on the function and list its name"
)]
pub trait Operation {
    /// Its description.
    const META: &'static OperationMeta;
}

/// An operation that `queries!` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query",
    label = "not a query",
    note = "`queries!` takes functions with `#[svc::query]`; list those with `#[svc::mutation]` in `mutations!`"
)]
pub trait Query: Operation {}

/// An operation that `mutations!` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a mutation",
    label = "not a mutation",
    note = "`mutations!` takes functions with `#[svc::mutation]`; list those with `#[svc::query]` in `queries!`"
)]
pub trait Mutation: Operation {}

/// The fallback for types without an `#[svc_type] impl` block: an inherent constant of the same name wins.
pub trait NoComputed {
    /// No computed fields.
    const __SVC_COMPUTED_FIELDS_GO_INTO_ONE_IMPL: &'static [ComputedMeta] = &[];
}

impl<T: ?Sized> NoComputed for T {}
