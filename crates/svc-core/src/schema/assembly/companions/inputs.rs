//! Generated input types, and their fields.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::schema::model::{
    ArgDef, ArgRole, InputDef, InputRole, TypeDef, TypeExpr, TypeIndex, TypeKind,
};

/// Reserves an index for an input type that is filled in later.
pub(super) fn reserve(types: &mut Vec<TypeDef>, name: &str) -> TypeIndex {
    types.push(TypeDef {
        name: name.to_owned(),
        description: None,
        path: format!("svc's {name}"),
        kind: TypeKind::Input(InputDef {
            fields: IndexMap::new(),
            one_of: false,
            role: InputRole::Declared,
        }),
    });
    types.len() - 1
}

pub(super) fn define(
    types: &mut [TypeDef],
    index: TypeIndex,
    role: InputRole,
    description: String,
    fields: Vec<ArgDef>,
) {
    let fields = fields
        .into_iter()
        .map(|field| (field.name.clone(), field))
        .collect();
    types[index].description = Some(description);
    types[index].kind = TypeKind::Input(InputDef {
        fields,
        one_of: false,
        role,
    });
}

pub(super) fn list_of(index: TypeIndex) -> TypeExpr {
    TypeExpr::List(Box::new(TypeExpr::NonNull(Box::new(TypeExpr::Named(
        index,
    )))))
}

pub(super) fn field(name: &str, rust: &str, ty: TypeExpr) -> ArgDef {
    ArgDef {
        name: name.to_owned(),
        rust: rust.to_owned(),
        description: None,
        deprecated: None,
        ty,
        default: None,
        role: ArgRole::Declared,
        slot: 0,
        spread: false,
        gated: None,
        nested: None,
        rules: Arc::default(),
    }
}

pub(super) fn described(name: &str, description: &str, ty: TypeExpr) -> ArgDef {
    ArgDef {
        description: Some(description.to_owned()),
        ..field(name, name, ty)
    }
}

impl ArgDef {
    /// An argument that the framework adds to a root field.
    pub(in crate::schema::assembly) fn described(
        name: &str,
        description: &str,
        ty: TypeExpr,
    ) -> Self {
        described(name, description, ty)
    }
}

pub(super) fn arg(name: &str, description: &str, ty: TypeExpr, role: ArgRole) -> ArgDef {
    ArgDef {
        role,
        ..described(name, description, ty)
    }
}
