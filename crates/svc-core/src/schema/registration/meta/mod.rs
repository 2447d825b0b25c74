//! Static metadata of types and root fields, which the macros generate and the registry reads once
//! at startup.

mod element;
mod nested;
mod relation;
mod root;
mod rule;
mod types;
mod write;

pub use element::{BoxFuture, Check, ElementMeta, KeyFn, Place, TypeFn};
pub use nested::{NestedMeta, NestedVerb, row_type};
pub use relation::{DerivedMeta, KeyNames, OrderKey, RelationMeta, Through};
pub use root::{
    EventMeta, FunctionMeta, OperationKind, PlannedMeta, ResultMember, ResultMeta, RootFieldMeta,
    RowSourceKind, RowSourceMeta, Run, Shape, TargetRow,
};
pub use rule::{InputRule, MeasuredInput, NumberInput, OptionalInput, TextInput};
pub use types::{
    AbstractMeta, ArgMeta, ComputedMeta, ComputedRun, EnumMeta, EnumValueMeta, FieldMeta,
    InputMeta, InterfaceFieldMeta, NullArgument, ObjectMeta, ROW_FUNCTION_COST, RowFunctionMeta,
};
pub use write::{RowChoice, WriteMeta, WriteVerb, WrittenRows};
