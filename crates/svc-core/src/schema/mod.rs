//! Builds the served schema from the metadata that the macros register.

mod assembly;
mod error;
mod model;
mod naming;
mod registration;
mod sdl;

#[doc(hidden)]
pub use registration::{
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
pub use registration::{
    EventReturn, FromStored, Input, InputError, InputFields, Items, Many, Object, OnFailure, One,
    Output, PlannedReturn, Registry, Relation as RelationType, RelationKey, Resolved, StoredError,
    StoredFields, SvcType, TypeKey, TypeRef, WriteScalar, WrittenReturn,
};

pub use crate::exact_json::{ExactJson, ExactNumber, Fields as ExactFields};

pub use crate::scalar::{CustomScalar, ScalarKind, ScalarMeta};
pub use assembly::{Dialect, IS_ONE_OF, Listed, TYPE, build};
pub use error::SchemaError;
pub(crate) use model::operator::OperatorDef;
pub use model::operator::{self, Family, Operand, Operator, SEARCH, family};
pub use model::{
    AggregateFunction, ArgDef, ArgRole, EDGE, EnumDef, EnumValue, Extent, FieldDef, FieldKind,
    Gated, GroupKey, InputDef, InputRole, Lengths, Model, Part, Period, Relation, TypeDef,
    TypeExpr, TypeIndex, TypeKind,
};
pub use naming::Naming;
#[cfg(feature = "upload")]
pub use registration::UPLOAD;
pub use registration::{Completed, Outcome, Outcomes, Query, Returns, ReturnsBatch};
pub use registration::{Derived, ValueRule, is_key_of, joined, key_text};
