//! The types and root fields that the macros register, with their metadata, collected before the
//! schema is built.

mod bodiless;
mod code;
mod custom_scalar;
mod guard;
mod input;
mod meta;
mod on_failure;
mod output;
mod registry;
mod relation;
mod returns;
mod root_rules;
mod rust_scalar;
mod stored;
mod value_rule;

pub use bodiless::{EventReturn, FunctionReturn, PlannedReturn, RowFunctionReturn, WrittenReturn};
pub use code::Code;
pub use custom_scalar::UPLOAD;
pub use custom_scalar::{check_scalar, parse_scalar, recode_scalar, stored_scalar, write_scalar};
pub use guard::Guard;
pub(super) use guard::{DIRECTIVES, described};
pub use input::{Input, InputError, InputFields, check_input};
pub use meta::{
    AbstractMeta, ArgMeta, BoxFuture, Check, ComputedMeta, ComputedRun, DerivedMeta, ElementMeta,
    EnumMeta, EnumValueMeta, EventMeta, FieldMeta, FunctionMeta, InputMeta, InputRule,
    InterfaceFieldMeta, KeyFn, KeyNames, MeasuredInput, NestedMeta, NestedVerb, NullArgument,
    NumberInput, ObjectMeta, OperationKind, OptionalInput, OrderKey, Place, PlannedMeta,
    ROW_FUNCTION_COST, RelationMeta, ResultMember, ResultMeta, RootFieldMeta, RowChoice,
    RowFunctionMeta, RowSourceKind, RowSourceMeta, Run, Shape, TargetRow, TextInput, Through,
    TypeFn, WriteMeta, WriteVerb, WrittenRows, row_type,
};
pub use on_failure::OnFailure;
pub use output::{InterfaceOf, Items, Object, Output, Resolved, SvcType, WriteScalar, touched};
pub use registry::Derived;
pub(super) use registry::{
    AbstractRefs, ArgRef, Decode, Entry, JoinedPage, ObjectRefs, RelationRefs, joined_name,
};
pub use registry::{Registry, TypeKey, TypeRef};
pub use relation::{Many, One, Relation, RelationKey};
pub use relation::{is_key_of, joined, key_text};
pub use returns::{Completed, Outcome, Outcomes, Query, Returns, ReturnsBatch};
pub use root_rules::{RootLimit, RootRules};
pub use stored::{FromStored, StoredError, StoredFields};
pub use value_rule::ValueRule;
