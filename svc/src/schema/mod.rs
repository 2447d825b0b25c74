//! Builds the served schema from the metadata that the macros register.

mod aggregate_function;
mod aggregate_result;
mod arg_role;
mod assembly;
mod bodiless;
mod code;
mod custom_scalar;
mod derived;
mod error;
mod extent;
mod gated_fields;
mod group_key;
mod guard;
mod input;
mod meta;
mod model;
mod naming;
mod on_failure;
pub(crate) mod operator;
mod output;
mod registry;
mod relation;
mod root_rules;
mod rust_scalar;
mod sdl;
mod stored;
mod value_rule;

pub use bodiless::{EventReturn, PlannedReturn, WrittenReturn};
#[doc(hidden)]
pub use bodiless::{FunctionReturn, RowFunctionReturn};
#[doc(hidden)]
pub use code::Code;
#[doc(hidden)]
pub use custom_scalar::{check_scalar, parse_scalar, recode_scalar, stored_scalar, write_scalar};
#[doc(hidden)]
pub use guard::Guard;
#[doc(hidden)]
pub use input::check_input;
pub use input::{Input, InputError, InputFields};
#[doc(hidden)]
pub use meta::{
    AbstractMeta, ArgMeta, BoxFuture, Check, ComputedMeta, ComputedRun, DerivedMeta, ElementMeta,
    EnumMeta, EnumValueMeta, EventMeta, FieldMeta, FunctionMeta, InputMeta, InputRule,
    InterfaceFieldMeta, KeyFn, KeyNames, MeasuredInput, NestedMeta, NestedVerb, NullArgument,
    NumberInput, ObjectMeta, OperationKind, OptionalInput, OrderKey, Place, PlannedMeta,
    ROW_FUNCTION_COST, RelationMeta, ResultMember, ResultMeta, RootFieldMeta, RowFunctionMeta,
    RowSourceKind, RowSourceMeta, Run, Shape, TargetRow, TextInput, Through, TypeFn, WriteMeta,
    WriteVerb, WrittenRows, row_type,
};
pub use on_failure::OnFailure;
#[doc(hidden)]
pub use output::{InterfaceOf, touched};
pub use output::{Items, Object, Output, Resolved, SvcType, WriteScalar};
pub use registry::{Registry, TypeKey, TypeRef};
pub use relation::{Many, One, Relation as RelationType, RelationKey};
#[doc(hidden)]
pub use root_rules::{RootLimit, RootRules};
pub use stored::{FromStored, StoredError, StoredFields};

pub use crate::json::{ExactJson, ExactNumber, Fields as ExactFields};

pub use crate::scalar::{CustomScalar, ScalarKind, ScalarMeta};
pub(crate) use aggregate_function::AggregateFunction;
pub(crate) use assembly::{Dialect, IS_ONE_OF, Listed, TYPE, build};
#[cfg(feature = "upload")]
pub(crate) use custom_scalar::UPLOAD;
pub use error::SchemaError;
pub(crate) use extent::{Extent, Lengths};
pub(crate) use group_key::{GroupKey, Period};
pub(crate) use model::{
    ArgDef, ArgRole, EDGE, EnumDef, EnumValue, FieldDef, FieldKind, Gated, InputDef, InputRole,
    Model, Part, Relation, TypeDef, TypeExpr, TypeIndex, TypeKind,
};
pub(crate) use naming::Naming;
pub(crate) use operator::{Family, Operand, Operator, OperatorDef, SEARCH, family};
pub(crate) use registry::Derived;
pub(crate) use relation::{is_key_of, joined, key_text};
pub(crate) use value_rule::ValueRule;
