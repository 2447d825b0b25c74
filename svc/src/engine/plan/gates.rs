//! The gated fields whose values an operation can learn: by selecting them, by filters, orders and equality arguments,
//! and by aggregates.

use std::collections::HashSet;
use std::sync::Arc;

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use super::asked::Given;
use super::{Plan, PlanField, Selection};
use crate::Error;
use crate::engine::coerce::Variables;
use crate::schema::{ArgDef, ArgRole, EnumDef, Gated, InputDef, Model, TypeDef, TypeExpr, TypeIndex, TypeKind};

/// Arguments under their Rust names.
type Arguments = IndexMap<String, Value>;

/// The gated fields that an argument touches.
#[derive(Debug, Default)]
pub(super) struct ArgumentGates {
    /// Each with the arguments that stand beside what is asked of it, where the field has some.
    pub(super) found: Vec<(Gated, Option<Arguments>)>,
    /// Whether the request decides what else it touches, or with which arguments.
    pub(super) varies: bool,
}

impl ArgumentGates {
    /// The gates of an argument in a document; `gated` is the field that it compares by itself.
    pub(super) fn planned(model: &Model, ty: &TypeExpr, gated: Option<Gated>, given: Given<'_>) -> Self {
        let mut gates = Self::default();
        if model.has_gates {
            gates.found.extend(gated.map(|gated| (gated, None)));
            Walk { types: &model.types, is_planned: true, gates: &mut gates }.value(ty, given);
        }
        gates
    }

    /// The gates inside of an argument's value.
    pub(super) fn of_value(model: &Model, ty: &TypeExpr, value: &Value) -> Self {
        let mut gates = Self::default();
        Walk { types: &model.types, is_planned: false, gates: &mut gates }.value(ty, Given::Coerced(value));
        gates
    }
}

struct Walk<'a> {
    types: &'a [TypeDef],
    /// Whether the values of variables are not known yet.
    is_planned: bool,
    gates: &'a mut ArgumentGates,
}

impl<'a> Walk<'a> {
    fn value(&mut self, ty: &TypeExpr, given: Given<'a>) {
        let kind = &self.types[ty.named()].kind;
        if !matches!(kind, TypeKind::Input(_) | TypeKind::Enum(_)) {
            return;
        }
        if given.variable().is_some() {
            self.gates.varies |= reaches_gate(self.types, ty.named(), &mut HashSet::new());
            return;
        }
        match ty {
            TypeExpr::NonNull(inner) => self.value(inner, given),
            TypeExpr::List(inner) => given.each_item(|item| self.value(inner, item)),
            TypeExpr::Named(_) => match kind {
                TypeKind::Input(def) => given.each_field(def, |field, item| {
                    self.gates(field, item);
                    self.value(&field.ty, item);
                }),
                TypeKind::Enum(def) => {
                    let gates = given.member().into_iter().flat_map(|name| gates(def, name));
                    self.gates.found.extend(gates.map(|gated| (gated, None)));
                }
                _ => {}
            },
        }
    }

    /// The gate of what a field of an input object compares or orders by.
    fn gates(&mut self, field: &ArgDef, item: Given<'_>) {
        let Some(gated) = field.gated else { return };
        match arguments_of(self.types, field) {
            None => self.gates.found.push((gated, None)),
            Some(_) if self.is_planned => self.gates.varies = true,
            Some((name, def)) => self.gates.found.push((gated, Some(arguments(def, item.field(name))))),
        }
    }
}

/// The arguments that stand beside conditions on a computed value and orders by it: under which name, and which.
fn arguments_of<'a>(types: &'a [TypeDef], field: &ArgDef) -> Option<(&'a str, &'a InputDef)> {
    let TypeKind::Input(def) = &types[field.ty.named()].kind else { return None };
    let args = def.fields.values().find(|field| field.role == ArgRole::Arguments)?;
    match &types[args.ty.named()].kind {
        TypeKind::Input(def) => Some((&args.rust, def)),
        _ => None,
    }
}

/// The arguments that are given, or else their defaults.
fn arguments(def: &InputDef, given: Option<&IndexMap<Name, Value>>) -> Arguments {
    let value = |arg: &ArgDef| match given {
        Some(given) => given.get(arg.rust.as_str()).cloned(),
        None => arg.default.as_ref().map(|default| default.value.clone()),
    };
    def.fields.values().filter_map(|arg| Some((arg.rust.clone(), value(arg)?))).collect()
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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Touched {
    gated: Gated,
    with: TouchedWith,
}

/// The arguments with which a gated field is touched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TouchedWith {
    Nothing,
    /// Those of the field that is selected, by their address, which tells places of the document apart.
    Selected(usize),
    /// Those in a condition or an order, as they are written in GraphQL.
    Asked(String),
}

/// A place of a document that touches a gated field.
pub(crate) struct Touch<'p> {
    pub(crate) touched: Touched,
    field: &'p PlanField,
    /// The arguments in a condition or an order.
    asked: Option<Arguments>,
}

impl Touch<'_> {
    pub(crate) fn gated(&self) -> Gated {
        self.touched.gated
    }

    /// The arguments with which the gated field is touched.
    ///
    /// # Errors
    /// A variable that leaves a required place empty.
    pub(crate) fn arguments(&self, model: &Model, variables: &Variables) -> Result<Arguments, Error> {
        match (&self.asked, &self.touched.with) {
            (Some(asked), _) => Ok(asked.clone()),
            (None, TouchedWith::Selected(_)) => self.field.named_arguments(model, variables),
            (None, _) => Ok(Arguments::new()),
        }
    }
}

impl Plan {
    /// The gates of what the operation touches, each once.
    pub(crate) fn gates(&self, model: &Model, variables: &Variables) -> Vec<Touch<'_>> {
        let mut found = IndexMap::new();
        if self.root.gates {
            self.root.collect_gates(model, variables, &mut HashSet::new(), &mut found);
        }
        found.into_iter().map(|(touched, (field, asked))| Touch { touched, field, asked }).collect()
    }
}

impl Selection {
    /// Selections are shared, so each is looked into once.
    fn collect_gates<'p>(
        &'p self,
        model: &Model,
        variables: &Variables,
        seen: &mut HashSet<*const Selection>,
        found: &mut IndexMap<Touched, (&'p PlanField, Option<Arguments>)>,
    ) {
        for field in &self.fields {
            field.gates(model, variables, |touched, asked| {
                found.entry(touched).or_insert((field, asked));
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
    pub(super) fn gates(
        &self,
        model: &Model,
        variables: &Variables,
        mut visit: impl FnMut(Touched, Option<Arguments>),
    ) {
        if let Some(gated) = self.gated {
            let with = match self.args.is_empty() {
                true => TouchedWith::Nothing,
                false => TouchedWith::Selected(self.args.as_ptr().addr()),
            };
            visit(Touched { gated, with }, None);
        }
        let mut found = Vec::new();
        for arg in self.args.iter() {
            arg.collect_gates(model, variables, &mut found);
        }
        for (gated, asked) in found {
            let with = match &asked {
                Some(asked) => TouchedWith::Asked(written(asked)),
                None => TouchedWith::Nothing,
            };
            visit(Touched { gated, with }, asked);
        }
    }
}

/// Arguments in GraphQL.
fn written(arguments: &Arguments) -> String {
    let fields = arguments.iter().map(|(rust, value)| (Name::new(rust), value.clone()));
    Value::Object(fields.collect()).to_string()
}
