//! Builds the served schema from the metadata that the macros register.

#[doc(hidden)]
pub use svc_core::schema::{
    AbstractMeta, ArgMeta, BoxFuture, Check, Code, ComputedMeta, ComputedRun, DerivedMeta,
    ElementMeta, EnumMeta, EnumValueMeta, EventMeta, FieldMeta, FunctionMeta, FunctionReturn,
    Guard, InputMeta, InputRule, InterfaceFieldMeta, InterfaceOf, KeyFn, KeyNames, MeasuredInput,
    NestedMeta, NestedVerb, NullArgument, NumberInput, ObjectMeta, OperationKind, OptionalInput,
    OrderKey, Place, PlannedMeta, ROW_FUNCTION_COST, RelationMeta, ResultMember, ResultMeta,
    RootFieldMeta, RootLimit, RootRules, RowChoice, RowFunctionMeta, RowFunctionReturn,
    RowSourceKind, RowSourceMeta, Run, Shape, TargetRow, TextInput, Through, TypeFn, WriteMeta,
    WriteVerb, WrittenRows, check_input, check_scalar, parse_scalar, recode_scalar, row_type,
    stored_scalar, touched, write_scalar,
};
#[doc(inline)]
pub use svc_core::schema::{
    CustomScalar, EventReturn, ExactFields, ExactJson, ExactNumber, FromStored, Input, InputError,
    InputFields, Items, Many, Object, OnFailure, One, Output, PlannedReturn, Registry, RelationKey,
    RelationType, Resolved, ScalarKind, ScalarMeta, SchemaError, StoredError, StoredFields,
    SvcType, TypeKey, TypeRef, WriteScalar, WrittenReturn,
};
