//! Items that generated code refers to. Not part of the public API: they change without notice.

pub use crate::schema::{
    AbstractMeta, ArgMeta, BoxFuture, ComputedMeta, ComputedRun, CustomScalar, DerivedMeta,
    ElementMeta, EnumMeta, EnumValueMeta, EventMeta, EventReturn, ExactJson, FieldMeta, FromStored,
    FunctionMeta, FunctionReturn, Guard, Input, InputError, InputFields, InputMeta, InputRule,
    InterfaceFieldMeta, InterfaceOf, KeyFn, NestedMeta, NestedVerb, NullArgument, Object,
    ObjectMeta, OnFailure, OperationKind, OrderKey, Output, Place, PlannedMeta, PlannedReturn,
    Registry, RelationMeta, RelationType, Resolved, ResultMember, ResultMeta, RootFieldMeta,
    RootLimit, RootRules, RowChoice, RowFunctionMeta, RowFunctionReturn, RowSourceKind,
    RowSourceMeta, Run, ScalarKind, ScalarMeta, Shape, StoredError, StoredFields, SvcType,
    TargetRow, Through, TypeFn, TypeKey, TypeRef, WriteMeta, WriteScalar, WriteVerb, WrittenReturn,
    check_input, row_type, touched,
};
pub use crate::schema::{check_scalar, parse_scalar, recode_scalar, stored_scalar, write_scalar};
pub use async_graphql;
pub use futures_util::Stream;
pub use serde_json;
