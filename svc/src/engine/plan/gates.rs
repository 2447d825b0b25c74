//! The gated fields whose values an operation can learn: by selecting them, by filters, orders and equality arguments,
//! and by aggregates.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;

use super::asked::Given;
use super::{Plan, PlanField, Selection};
use crate::engine::coerce::Variables;
use crate::schema::{EnumDef, Gated, Model, TypeDef, TypeExpr, TypeIndex, TypeKind};

/// The gated fields that an argument touches.
#[derive(Debug, Default)]
pub(super) struct ArgumentGates {
    pub(super) found: Vec<Gated>,
    /// Whether variables may touch more.
    pub(super) varies: bool,
}

impl ArgumentGates {
    /// The gates of an argument that is given; `gated` is the field that it compares by itself.
    pub(super) fn of(
        model: &Model,
        ty: &TypeExpr,
        gated: Option<Gated>,
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
        let kind = &self.types[ty.named()].kind;
        if !matches!(kind, TypeKind::Input(_) | TypeKind::Enum(_)) {
            return;
        }
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
            TypeExpr::Named(_) => match kind {
                TypeKind::Input(def) => given.each_field(def, |field, item| {
                    self.gates.found.extend(field.gated);
                    self.value(&field.ty, item);
                }),
                TypeKind::Enum(def) => {
                    self.gates.found.extend(given.member().into_iter().flat_map(|name| gates(def, name)));
                }
                _ => {}
            },
        }
    }
}

/// The gates of the fields by which a member of an enum groups rows.
fn gates<'a>(def: &'a EnumDef, name: &str) -> impl Iterator<Item = Gated> + use<'a> {
    def.group_key(name).into_iter().flat_map(|member| member.gates).flatten()
}

/// Whether a gated field can be touched in a value of this type.
fn reaches_gate(types: &[TypeDef], index: TypeIndex, seen: &mut HashSet<TypeIndex>) -> bool {
    match &types[index].kind {
        TypeKind::Input(def) => {
            seen.insert(index)
                && def.fields.values().any(|field| field.gated.is_some() || reaches_gate(types, field.ty.named(), seen))
        }
        TypeKind::Enum(def) => def.values.iter().any(|value| gates(def, &value.name).next().is_some()),
        _ => false,
    }
}

/// A gated field that an operation touches. One with arguments has them; of others it is the same wherever it is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Touched {
    pub(crate) gated: Gated,
    /// The address of the arguments, which tells places of the document apart.
    arguments: Option<usize>,
}

impl Plan {
    /// The gates of what the operation touches, each once, with a field that does.
    pub(crate) fn gates(&self, model: &Model, variables: &Variables) -> Vec<(Touched, &PlanField)> {
        let mut found = IndexMap::new();
        if self.root.gates {
            self.root.collect_gates(model, variables, &mut HashSet::new(), &mut found);
        }
        found.into_iter().collect()
    }
}

impl Selection {
    /// Selections are shared, so each is looked into once.
    fn collect_gates<'p>(
        &'p self,
        model: &Model,
        variables: &Variables,
        seen: &mut HashSet<*const Selection>,
        found: &mut IndexMap<Touched, &'p PlanField>,
    ) {
        for field in &self.fields {
            field.gates(model, variables, |gate| {
                found.entry(gate).or_insert(field);
            });
            for selection in field.children.iter() {
                if seen.insert(Arc::as_ptr(selection)) {
                    selection.collect_gates(model, variables, seen, found);
                }
            }
        }
    }
}

impl PlanField {
    /// Whether the field, its arguments or those below it touch gated fields under some variables.
    pub(super) fn may_touch_gates(&self) -> bool {
        self.gated.is_some()
            || self.args.iter().any(|argument| argument.may_touch_gates())
            || self.children.iter().any(|selection| selection.gates)
    }

    /// Calls `visit` with the gates of what the field touches by itself and by its arguments under these variables.
    pub(super) fn gates(&self, model: &Model, variables: &Variables, mut visit: impl FnMut(Touched)) {
        if let Some(gated) = self.gated {
            let arguments = (!self.args.is_empty()).then(|| self.args.as_ptr().addr());
            visit(Touched { gated, arguments });
        }
        let mut found = Vec::new();
        for arg in self.args.iter() {
            arg.collect_gates(model, variables, &mut found);
        }
        found.into_iter().for_each(|gated| visit(Touched { gated, arguments: None }));
    }
}

impl Touched {
    /// Whether it is touched by calling the field with arguments.
    pub(crate) fn has_arguments(self) -> bool {
        self.arguments.is_some()
    }
}
