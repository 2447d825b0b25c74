//! Items that generated code refers to. Not part of the public API: they change without notice.

pub use crate::__guards as guards;
pub use crate::app::{Mutation, Query, RootField, Subscription};
pub use crate::authz::{AuthorizerOf, CheckAnswer, FieldCheck, OwnAuthorizer};
pub use crate::engine::{
    Call, Completed, EventStream, Events, Method, Outcome, Resolver, Returns, events,
    events_of_result,
};
pub use crate::metrics::with_metrics;
pub use crate::mutation::MutationError;
pub use crate::mutation::automatic::{
    ERROR_CODE, ERROR_ERRORS, ERROR_MESSAGE, ERROR_STATUS, SUCCESS_ID, SUCCESS_MESSAGE,
    SUCCESS_STATUS, SUCCESS_UPDATED_FIELDS, error, read_result, success,
};
pub use crate::repository::{Aggregate, Connection};
pub use crate::request::Context;
pub use crate::schema::{
    AbstractMeta, ArgMeta, BoxFuture, ComputedMeta, ComputedRun, CustomScalar, DerivedMeta,
    ElementMeta, EnumMeta, EnumValueMeta, EventMeta, EventReturn, ExactJson, FieldMeta, FromStored,
    FunctionMeta, FunctionReturn, Guard, Input, InputError, InputFields, InputMeta, InputRule,
    InterfaceFieldMeta, InterfaceOf, KeyFn, NestedMeta, NestedVerb, NullArgument, Object,
    ObjectMeta, OnFailure, OperationKind, OrderKey, Output, Place, PlannedMeta, PlannedReturn,
    Registry, RelationMeta, RelationType, Resolved, ResultMember, ResultMeta, RootFieldMeta,
    RootLimit, RootRules, RowFunctionMeta, RowFunctionReturn, RowSourceKind, RowSourceMeta, Run,
    ScalarKind, ScalarMeta, Shape, StoredError, StoredFields, SvcType, TargetRow, Through, TypeFn,
    TypeKey, TypeRef, WriteMeta, WriteScalar, WriteVerb, WrittenReturn, check_input, row_type,
    touched,
};
pub use crate::schema::{check_scalar, parse_scalar, recode_scalar, stored_scalar, write_scalar};
#[cfg(feature = "testing")]
pub use crate::testing::{TestCase, TestOutcome, run_test};
pub use crate::trace::{trace_database_query, trace_graphql_operation};
pub use async_graphql;
pub use futures_util::Stream;
pub use serde_json;

/// The guards of an item.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __guards {
    ($guards:expr) => {
        $guards
    };
}

/// The guards of an item: without users, no request would pass them.
#[cfg(not(feature = "auth"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __guards {
    ($guards:expr) => {
        ::core::compile_error!(
            "guards need the feature `auth` of svc: cargo add svc --features auth"
        )
    };
}

/// Returns the receiver of a computed field.
///
/// # Panics
/// Never: the engine calls a method with a value of the type that the method was registered for.
#[expect(clippy::expect_used, reason = "see above")]
pub fn receiver<T: 'static>(this: &dyn std::any::Any) -> &T {
    this.downcast_ref()
        .expect("the receiver is of the type that registered the method")
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
