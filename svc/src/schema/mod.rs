//! From what the macros register to the schema that is served.

mod aggregate_function;
mod build;
mod derived;
mod error;
mod extent;
mod generated;
mod input;
mod meta;
mod model;
mod naming;
pub(crate) mod operator;
mod output;
mod registry;
mod relation;
mod returns;
mod scalar_kind;
mod sdl;
mod stored;

#[doc(hidden)]
pub use input::check_input;
pub use input::{Input, InputError, InputFields};
#[doc(hidden)]
pub use meta::{
    AbstractMeta, ArgMeta, BoxFuture, Check, ComputedMeta, ElementMeta, EnumMeta, EnumValueMeta, FieldMeta,
    FunctionMeta, InputMeta, InterfaceFieldMeta, KeyFn, Method, ObjectMeta, OperationKind, PlannedMeta, RelationMeta,
    RootFieldMeta, Run, Shape, TypeFn,
};
#[doc(hidden)]
pub use output::InterfaceOf;
pub use output::{Items, Object, Output, Resolved, StoredNode, SvcType, TypedNode, WriteScalar};
pub use registry::{Registry, TypeKey, TypeRef};
pub use relation::{Many, One, Relation as RelationType};
pub use returns::{PlannedReturn, Returns};
pub use stored::{FromStored, StoredError, StoredFields};

pub use crate::json::{ExactJson, ExactNumber, Fields as ExactFields};

#[doc(hidden)]
pub use crate::mutation::{FunctionReturn, ResultMember, ResultMeta};
pub(crate) use aggregate_function::AggregateFunction;
pub(crate) use build::{Dialect, Listed, build};
pub use error::SchemaError;
pub(crate) use extent::{Extent, Lengths};
pub(crate) use model::{
    ArgDef, ArgRole, EnumValue, FieldDef, FieldKind, GatedField, InputDef, InputRole, Model, Part, Relation, TypeDef,
    TypeExpr, TypeIndex, TypeKind,
};
pub(crate) use naming::Naming;
pub(crate) use operator::{Family, Operand, Operator, OperatorDef, SEARCH, family};
pub(crate) use registry::Derived;
pub(crate) use relation::key_text;
pub use scalar_kind::{CustomScalar, ScalarKind, ScalarMeta};
