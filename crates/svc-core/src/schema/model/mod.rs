//! The schema as used by the engine.

mod aggregate_function;
mod aggregate_result;
mod arg_role;
mod extent;
mod gated_fields;
mod group_key;
pub mod operator;
mod type_expr;

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use apollo_compiler::collections::HashMap as ApolloMap;
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};
use async_graphql::Value;
use indexmap::IndexMap;

use super::registration::Decode;
use super::{
    Code, Guard, KeyNames, NestedMeta, ObjectMeta, OrderKey, Place, ResultMeta, RootRules,
    RowFunctionMeta, Run, ScalarKind, Shape, Through, ValueRule,
};
pub use aggregate_function::AggregateFunction;
pub use arg_role::ArgRole;
pub use extent::{Extent, Lengths};
pub(super) use gated_fields::{
    gate_of, gate_of_stored, is_checked, is_stored_as, member_fields, same_fields,
};
pub use group_key::{GroupKey, Period};
pub use type_expr::TypeExpr;

/// The position of a type in [`Model::types`].
pub type TypeIndex = usize;

/// The whole schema.
pub struct Model {
    pub types: Vec<TypeDef>,
    pub by_name: HashMap<String, TypeIndex>,
    pub by_rust: HashMap<TypeId, TypeIndex>,
    /// The functions that decode rows into the user's types.
    pub decoders: HashMap<TypeIndex, Decode>,
    /// The members of mutation results.
    pub results: HashMap<TypeIndex, &'static ResultMeta>,
    /// The schema in the schema definition language.
    pub sdl: String,
    /// The schema for parsing, validation and introspection.
    pub document: Valid<Schema>,
    pub implementers: ApolloMap<Name, Implementers>,
    /// The lengths of the lists in introspection.
    pub extent: Extent,
    /// Whether any type has gated fields.
    pub has_gates: bool,
    /// Whether any values have rules beyond their types.
    pub has_rules: bool,
    /// Whether clients may use `@atomic` with any mutation.
    pub has_atomic: bool,
}

impl Model {
    pub fn type_named(&self, name: &str) -> Option<(TypeIndex, &TypeDef)> {
        let index = *self.by_name.get(name)?;
        Some((index, &self.types[index]))
    }

    /// The fields of an object type.
    pub fn object(&self, index: TypeIndex) -> Option<&ObjectDef> {
        match &self.types[index].kind {
            TypeKind::Object(object) => Some(object),
            _ => None,
        }
    }

    /// A field of an object type or interface.
    pub fn field(&self, type_name: &str, name: &str) -> Option<&FieldDef> {
        self.type_named(type_name)?.1.kind.field(name)
    }

    /// The possible object types of a type.
    pub fn possible_types(&self, index: TypeIndex) -> &[TypeIndex] {
        match &self.types[index].kind {
            TypeKind::Object(object) => std::slice::from_ref(&object.index),
            TypeKind::Abstract(abstract_type) => &abstract_type.members,
            _ => &[],
        }
    }

    /// The view or table with the rows of a type.
    pub fn source(&self, index: TypeIndex) -> Option<&'static str> {
        self.types[index].kind.source()
    }

    /// All fields of object types.
    pub fn fields(&self) -> impl Iterator<Item = &FieldDef> {
        (0..self.types.len())
            .filter_map(|index| self.object(index))
            .flat_map(|object| object.fields.values())
    }

    /// The names of the fields with checks, as `Type.field`.
    pub fn checked_fields(&self) -> impl Iterator<Item = String> {
        let objects = self.types.iter().filter_map(|def| match &def.kind {
            TypeKind::Object(object) => Some((def, object)),
            _ => None,
        });
        let fields =
            objects.flat_map(|(def, object)| object.fields.values().map(move |field| (def, field)));
        fields
            .filter(|(_, field)| field.is_checked())
            .map(|(def, field)| format!("{}.{}", def.name, field.name))
    }

    /// The views and tables with rows, and the junction views between them.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        let joining = self.fields().filter_map(|field| match field.kind {
            FieldKind::Relation(relation) => Some(relation.through?.source),
            _ => None,
        });
        self.types
            .iter()
            .filter_map(|def| def.kind.source())
            .chain(joining)
    }
}

/// A named type.
#[derive(Debug)]
pub struct TypeDef {
    pub name: String,
    pub(crate) description: Option<String>,
    /// The Rust item, for messages.
    pub path: String,
    pub kind: TypeKind,
}

/// The kind of a named type.
#[derive(Debug)]
pub enum TypeKind {
    Scalar {
        kind: ScalarKind,
        specified_by: Option<&'static str>,
    },
    Enum(EnumDef),
    Input(InputDef),
    Object(ObjectDef),
    Abstract(AbstractDef),
}

impl TypeKind {
    /// The view or table with the rows.
    pub fn source(&self) -> Option<&'static str> {
        match self {
            Self::Object(object) => object.source,
            Self::Abstract(abstract_type) => abstract_type.source,
            _ => None,
        }
    }

    /// A field of an object type or interface.
    pub fn field(&self, name: &str) -> Option<&FieldDef> {
        match self {
            Self::Object(object) => object.fields.get(name),
            Self::Abstract(abstract_type) => abstract_type.fields.as_ref()?.get(name),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub struct EnumDef {
    /// Shared with plans.
    pub values: Arc<[EnumValue]>,
}

impl EnumDef {
    /// Whether its values are grouping keys.
    pub fn groups(&self) -> bool {
        self.values
            .first()
            .is_some_and(|value| value.group_key.is_some())
    }

    /// The grouping key with a name.
    pub fn group_key(&self, name: &str) -> Option<&GroupKeyMember> {
        self.values
            .iter()
            .find(|value| value.name == name)?
            .group_key
            .as_ref()
    }
}

#[derive(Debug, Clone)]
pub struct EnumValue {
    pub name: Cow<'static, str>,
    pub stored: &'static str,
    pub(crate) description: Option<Cow<'static, str>>,
    pub(crate) deprecated: Option<&'static str>,
    /// The grouping key, if the value is one.
    pub group_key: Option<GroupKeyMember>,
}

#[derive(Debug)]
pub struct InputDef {
    pub fields: IndexMap<String, ArgDef>,
    pub one_of: bool,
    pub role: InputRole,
}

/// The meaning of an input object for the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRole {
    /// No special meaning: a type declared by the program, or an operand.
    Declared,
    /// `UserWhere`.
    Conditions,
    /// `CommentListWhere`: `some`, `every` and `none`.
    Quantifiers,
    /// `UUIDFilter` and its siblings.
    Operators,
    /// `UserOrderBy` and its nested types.
    Order,
}

#[derive(Debug)]
pub struct ObjectDef {
    pub index: TypeIndex,
    pub fields: IndexMap<String, FieldDef>,
    pub source: Option<&'static str>,
    pub(crate) implements: Vec<TypeIndex>,
    /// The struct's metadata; `None` for a generated type.
    pub declared: Option<&'static ObjectMeta>,
}

impl ObjectDef {
    /// A type that the framework generates.
    pub(crate) fn made(index: TypeIndex, fields: IndexMap<String, FieldDef>) -> Self {
        Self {
            index,
            fields,
            source: None,
            implements: Vec::new(),
            declared: None,
        }
    }
}

#[derive(Debug)]
pub struct AbstractDef {
    /// The fields of an interface; `None` for a union.
    pub fields: Option<IndexMap<String, FieldDef>>,
    pub source: Option<&'static str>,
    pub members: Vec<TypeIndex>,
    pub place: Place,
}

#[derive(Debug)]
pub struct FieldDef {
    pub name: String,
    pub rust: &'static str,
    /// The Rust item, for messages.
    pub path: String,
    pub(crate) description: Option<String>,
    pub(crate) deprecated: Option<&'static str>,
    pub ty: TypeExpr,
    pub args: Vec<ArgDef>,
    pub kind: FieldKind,
    /// The gated fields whose values this field reveals.
    pub gated: Option<Gated>,
    /// The conditions on the user; all must hold.
    pub guards: &'static [Guard],
    /// Whether `authorize_fields` names it, so that the authorizer decides.
    pub is_authorized: bool,
    /// The checks for each object; all must allow access.
    pub checks: &'static [&'static dyn Code],
    /// Whether an error in the field becomes a null there, although its type is non-null. The schema
    /// shows the field as nullable, with `@semanticNonNull`.
    pub is_boundary: bool,
}

impl FieldDef {
    /// Whether the field itself is gated.
    pub fn has_gate(&self) -> bool {
        self.is_authorized || !self.guards.is_empty()
    }

    /// Whether the field is derived from a relation and returns pages or aggregates of the
    /// relation's rows.
    pub fn is_derived(&self) -> bool {
        matches!(self.kind, FieldKind::Relation(relation) if relation.is_derived())
    }

    /// Whether the field has checks for each object, so that there is no decision before there is
    /// an object.
    pub fn is_checked(&self) -> bool {
        !self.checks.is_empty()
    }
}

/// The gated fields whose values something reveals: fields with guards, or fields that
/// `authorize_fields` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gated {
    /// A field of an object type, or of each type that implements an interface.
    Field { of: TypeIndex, rust: &'static str },
    /// All gated fields of a type.
    AllOf(TypeIndex),
    /// A gated field whose JSON may contain all gated fields of another type.
    Document {
        of: TypeIndex,
        rust: &'static str,
        entity: TypeIndex,
    },
    /// All gated fields of the schema.
    Everything,
}

/// The source of a field's value.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    /// A struct's field: its position there, and its column or key.
    Stored { index: usize, stored: &'static str },
    /// The id of a node: the position and the name of the struct's own `id`, and its scalar.
    NodeId {
        index: usize,
        stored: &'static str,
        kind: ScalarKind,
    },
    /// A struct's field that leads to rows of another view.
    Relation(Relation),
    /// A field of a type that the framework generates for a row type.
    Part(Part),
    /// A method, and its cost for the complexity, if specified.
    Method(&'static dyn Code, Option<u32>),
    /// A row function of the database, and its cost for the complexity, if specified.
    Function(&'static RowFunctionMeta, Option<u32>),
    /// A root field, the type of its rows, and its authorization rules.
    Root(Run, Option<TypeIndex>, RootRules),
    /// The root of queries in the success of a mutation, whose fields run after the mutation.
    Query,
    /// A field declared by an interface; the member's own field is executed.
    Promised,
}

/// The key of an order by junction rows; paths to the fields of junction rows begin with it.
pub const EDGE: &str = "edge";

/// A relation to rows of another view through a key of this row, or pages or aggregates of these
/// rows.
#[derive(Debug, Clone, Copy)]
pub struct Relation {
    /// The position of the key's field in the struct.
    pub index: usize,
    /// The shape of the field's value.
    pub shape: Shape,
    /// The type of the rows.
    pub row: TypeIndex,
    /// The columns or keys on this side.
    pub from: KeyNames,
    /// The columns or keys on the other side.
    pub to: KeyNames,
    /// The junction view of the two keys, if neither row contains the other's key.
    pub through: Option<Through>,
    /// The type of the junction view's rows, if it has one.
    pub joining: Option<TypeIndex>,
    /// The default order of the rows.
    pub order: &'static [OrderKey],
    /// Whether clients supply the keys of this side, as for nodes.
    pub is_from_client: bool,
}

impl Relation {
    /// The key of both sides; `None` for a composite key.
    pub fn only_key(&self) -> Option<(&'static str, &'static str)> {
        match (self.from, self.to) {
            ([from], [to]) => Some((from, to)),
            _ => None,
        }
    }

    /// Whether another type's relation leads to the same rows through keys with the same names.
    pub(crate) fn leads_as(&self, other: Self) -> bool {
        (self.shape, self.row, self.from, self.to, self.through)
            == (other.shape, other.row, other.from, other.to, other.through)
    }

    /// Whether it leads to multiple rows.
    pub fn is_many(&self) -> bool {
        self.shape != Shape::Optional
    }

    /// Whether the field is derived from a relation and returns pages or aggregates of the
    /// relation's rows.
    pub fn is_derived(&self) -> bool {
        matches!(self.shape, Shape::Connection | Shape::Aggregate)
    }
}

/// A field of a connection or an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Edges,
    Nodes,
    PageInfo,
    TotalCount,
    Node,
    Cursor,
    HasNextPage,
    HasPreviousPage,
    StartCursor,
    EndCursor,
    Count,
    Function(AggregateFunction),
    Groups,
    Key,
    /// A field of the key: the period that contains a stored date.
    Period(&'static str, Period),
    /// A field of the key: the fields of the row that a to-one relation with this Rust name leads
    /// to.
    RelatedKey(&'static str),
}

/// An argument, or a field of an input object.
#[derive(Debug)]
pub struct ArgDef {
    pub name: String,
    /// The key for resolvers.
    pub rust: String,
    pub(crate) description: Option<String>,
    pub(crate) deprecated: Option<&'static str>,
    pub ty: TypeExpr,
    pub default: Option<DefaultValue>,
    pub role: ArgRole,
    /// The position of the function's parameter.
    pub slot: usize,
    /// Whether the parameter expands to several arguments, including this one.
    pub spread: bool,
    /// The gated field that this argument filters or orders by, and so reveals part of its value.
    pub gated: Option<Gated>,
    /// The rules on values, shared with plans.
    pub rules: Arc<[ValueRule]>,
    /// The rows of another table in a field of an input object.
    pub nested: Option<NestedMeta>,
}

/// A default, both as printed in the schema and as passed to resolvers.
#[derive(Debug)]
pub struct DefaultValue {
    pub(crate) literal: String,
    pub value: Value,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("types", &self.types.len())
            .finish_non_exhaustive()
    }
}

/// A member of an enum of grouping keys, and the gated fields that it reveals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupKeyMember {
    pub key: GroupKey,
    /// The gate of the field, and the gate of the relation that leads to it.
    pub gates: [Option<Gated>; 2],
}
