//! Fields that functions of the database compute from rows.

use crate::schema::assembly::Builder;
use crate::schema::assembly::fields::{is_leaf, stored_fields};
use crate::schema::error::SchemaError;
use crate::schema::model::{FieldDef, FieldKind, ObjectDef, TypeDef, TypeExpr, TypeKind};

impl Builder {
    /// Checks row functions: the type must have a view and an `id` for finding the row of a value,
    /// and the function's result must be a type that filters and orders support.
    pub(in crate::schema::assembly) fn check_row_functions(&mut self) {
        let objects = self.types.iter().filter_map(|def| match &def.kind {
            TypeKind::Object(object) => Some((def, object)),
            _ => None,
        });
        let computed = objects.flat_map(|(def, object)| {
            let fields = object
                .fields
                .values()
                .filter(|field| matches!(field.kind, FieldKind::Function(..)));
            fields.map(move |field| (def, object, field))
        });

        let faults: Vec<_> = computed
            .filter_map(|(def, object, field)| fault(&self.types, def, object, field))
            .collect();

        self.errors.extend(faults);
    }
}

fn fault(
    types: &[TypeDef],
    def: &TypeDef,
    object: &ObjectDef,
    field: &FieldDef,
) -> Option<SchemaError> {
    let (path, row) = (field.path.clone(), def.path.clone());
    let is_id = |stored: &FieldDef| {
        matches!(stored.kind, FieldKind::Stored { stored: "id", .. })
            && is_leaf(types, &stored.ty)
            && !stored.ty.is_list()
    };

    let is_nested = matches!(field.ty.unwrapped(), TypeExpr::List(inner) if inner.is_list());
    if object.source.is_none() {
        return Some(SchemaError::RowFunctionWithoutSource { path, row });
    }

    if !stored_fields(types, object.index).into_iter().any(is_id) {
        return Some(SchemaError::RowFunctionWithoutId { path, row });
    }

    (!is_leaf(types, &field.ty) || is_nested).then_some(SchemaError::RowFunctionType { path })
}
