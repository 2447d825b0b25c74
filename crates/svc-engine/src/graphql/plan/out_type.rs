//! The types of fields, in the form used to complete values.

use std::sync::Arc;

use super::node_id::NodeType;
use svc_core::schema::{
    EnumValue, FieldDef, FieldKind, Model, ScalarKind, TypeExpr, TypeIndex, TypeKind,
};

/// A field's type, with everything needed to complete a value.
#[derive(Debug, Clone)]
pub enum OutType {
    NonNull(Box<OutType>),
    List(Box<OutType>),
    Leaf(Leaf),
    Composite,
}

/// A scalar or an enum.
#[derive(Debug, Clone)]
pub enum Leaf {
    Scalar(ScalarKind),
    Enum(Arc<[EnumValue]>),
    /// The id of a node.
    Node(NodeType),
}

impl Leaf {
    /// Returns the message for a value that does not match the type. It does not quote the value.
    pub(crate) fn not_valid(&self) -> String {
        match self {
            Self::Scalar(kind) | Self::Node(NodeType { kind, .. }) => {
                format!("the value is not a valid {}", kind.shown())
            }
            Self::Enum(_) => "the value is not one of its enum".to_owned(),
        }
    }
}

impl OutType {
    /// Converts a type of the schema.
    pub(crate) fn of(model: &Model, ty: &TypeExpr) -> Self {
        match ty {
            TypeExpr::NonNull(inner) => Self::NonNull(Box::new(Self::of(model, inner))),
            TypeExpr::List(inner) => Self::List(Box::new(Self::of(model, inner))),
            TypeExpr::Named(index) => match &model.types[*index].kind {
                TypeKind::Scalar { kind, .. } => Self::Leaf(Leaf::Scalar(*kind)),
                TypeKind::Enum(def) => Self::Leaf(Leaf::Enum(def.values.clone())),
                _ => Self::Composite,
            },
        }
    }

    /// The type of a field of an object type.
    pub(crate) fn of_field(model: &Model, object: TypeIndex, field: &FieldDef) -> Self {
        match field.kind {
            FieldKind::NodeId { kind, .. } => {
                let name = model.types[object].name.as_str().into();
                Self::NonNull(Box::new(Self::Leaf(Leaf::Node(NodeType { name, kind }))))
            }
            _ => Self::of(model, &field.ty),
        }
    }

    /// The same type with every part nullable.
    pub(crate) fn with_nulls(self) -> Self {
        match self {
            Self::NonNull(inner) => inner.with_nulls(),
            Self::List(inner) => Self::List(Box::new(inner.with_nulls())),
            leaf => leaf,
        }
    }

    pub fn is_list(&self) -> bool {
        match self {
            Self::NonNull(inner) => inner.is_list(),
            Self::List(_) => true,
            _ => false,
        }
    }

    /// The type without its outermost `!`, and whether it had one.
    pub(crate) fn nullable(&self) -> (&Self, bool) {
        match self {
            Self::NonNull(inner) => (inner, true),
            other => (other, false),
        }
    }
}
