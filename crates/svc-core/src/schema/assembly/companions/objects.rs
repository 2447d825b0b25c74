//! Generated object types.

use indexmap::IndexMap;

use super::Companions;
use crate::schema::model::{
    FieldDef, FieldKind, ObjectDef, Part, TypeDef, TypeExpr, TypeIndex, TypeKind,
};

impl Companions<'_> {
    /// A field that the engine itself resolves.
    pub(super) fn part(
        &self,
        rust: &'static str,
        description: &str,
        ty: TypeExpr,
        part: Part,
    ) -> FieldDef {
        self.output(rust, description, ty, FieldKind::Part(part))
    }

    pub(in crate::schema::assembly) fn output(
        &self,
        rust: &'static str,
        description: &str,
        ty: TypeExpr,
        kind: FieldKind,
    ) -> FieldDef {
        FieldDef {
            name: self.naming.apply(rust),
            rust,
            path: format!("svc's {rust}"),
            description: Some(description.to_owned()),
            deprecated: None,
            ty,
            args: Vec::new(),
            kind,
            gated: None,
            guards: &[],
            checks: &[],
            is_authorized: false,
            is_boundary: false,
        }
    }
}

/// Reserves an index for an object type that is filled in later.
pub(super) fn reserve_object(types: &mut Vec<TypeDef>, name: &str) -> TypeIndex {
    let index = types.len();
    types.push(TypeDef {
        name: name.to_owned(),
        description: None,
        path: format!("svc's {name}"),
        kind: TypeKind::Object(ObjectDef::made(index, IndexMap::new())),
    });
    index
}

pub(super) fn define_object(
    types: &mut [TypeDef],
    index: TypeIndex,
    description: String,
    fields: Vec<FieldDef>,
) {
    types[index].description = Some(description);
    if let TypeKind::Object(object) = &mut types[index].kind {
        object.fields = fields
            .into_iter()
            .map(|field| (field.name.clone(), field))
            .collect();
    }
}

pub(super) fn non_null(index: TypeIndex) -> TypeExpr {
    TypeExpr::NonNull(Box::new(TypeExpr::Named(index)))
}

/// `[T!]!`.
pub(super) fn list(index: TypeIndex) -> TypeExpr {
    TypeExpr::NonNull(Box::new(TypeExpr::List(Box::new(non_null(index)))))
}
