//! The gated fields whose values an operation can learn: by selecting them, by filters, orders and equality arguments,
//! and by aggregates.

use std::collections::HashSet;

use super::asked::Given;
use super::{PlanField, Selection};
use crate::engine::coerce::Variables;
use crate::schema::{GatedField, Model, TypeDef, TypeExpr, TypeIndex, TypeKind};

/// The gated fields that an argument touches.
#[derive(Debug, Default)]
pub(super) struct ArgumentGates {
    pub(super) found: Vec<GatedField>,
    /// Whether variables may touch more.
    pub(super) varies: bool,
}

impl ArgumentGates {
    /// The gates of an argument that is given; `gated` is the field that it compares by itself.
    pub(super) fn of(
        model: &Model,
        ty: &TypeExpr,
        gated: Option<GatedField>,
        given: Given<'_>,
        variables: Option<&Variables>,
    ) -> Self {
        let mut gates = Self::default();
        if model.has_gates {
            gates.found.extend(gated);
            Walk { types: &model.types, variables, gates: &mut gates }.value(ty, given);
        }
        gates
    }
}

struct Walk<'a> {
    types: &'a [TypeDef],
    /// `None` while the document is planned.
    variables: Option<&'a Variables>,
    gates: &'a mut ArgumentGates,
}

impl<'a> Walk<'a> {
    fn value(&mut self, ty: &TypeExpr, given: Given<'a>) {
        let TypeKind::Input(def) = &self.types[ty.named()].kind else { return };
        let given = match given.variable() {
            None => given,
            Some(name) => match self.variables {
                Some(variables) => match variables.get(name) {
                    Some(value) => Given::Coerced(value),
                    None => return,
                },
                None => {
                    self.gates.varies |= reaches_gate(self.types, ty.named(), &mut HashSet::new());
                    return;
                }
            },
        };
        match ty {
            TypeExpr::NonNull(inner) => self.value(inner, given),
            TypeExpr::List(inner) => given.each_item(|item| self.value(inner, item)),
            TypeExpr::Named(_) => given.each_field(def, |field, item| {
                self.gates.found.extend(field.gated);
                self.value(&field.ty, item);
            }),
        }
    }
}

/// Whether a gated field can be touched in a value of this type.
fn reaches_gate(types: &[TypeDef], index: TypeIndex, seen: &mut HashSet<TypeIndex>) -> bool {
    let TypeKind::Input(def) = &types[index].kind else { return false };
    seen.insert(index)
        && def.fields.values().any(|field| field.gated.is_some() || reaches_gate(types, field.ty.named(), seen))
}

impl PlanField {
    /// The gated fields that this field and those below it touch under these variables, each once.
    pub(crate) fn gated_fields(&self, model: &Model, variables: &Variables) -> Vec<GatedField> {
        let mut found = Vec::new();
        if model.has_gates {
            self.collect_gates(model, variables, &mut HashSet::new(), &mut found);
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// Selections are shared, so each is looked into once.
    fn collect_gates(
        &self,
        model: &Model,
        variables: &Variables,
        seen: &mut HashSet<*const Selection>,
        found: &mut Vec<GatedField>,
    ) {
        found.extend(self.gated.iter());
        for arg in self.args.iter() {
            arg.collect_gates(model, variables, found);
        }
        for selection in self.children.iter() {
            if seen.insert(std::ptr::from_ref(&**selection)) {
                selection.fields.iter().for_each(|field| field.collect_gates(model, variables, seen, found));
            }
        }
    }
}
