//! The gated fields whose values an operation can reveal: by selecting them, by filters, orders and
//! equality arguments, and by aggregates.

use std::collections::HashSet;
use std::sync::Arc;

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use crate::graphql::coerce::Variables;
use crate::graphql::plan::cost::Given;
use crate::graphql::plan::{Plan, PlanField, Selection};
use svc_core::Error;
use svc_core::schema::{
    ArgDef, ArgRole, EnumDef, Gated, InputDef, Model, TypeDef, TypeExpr, TypeIndex, TypeKind,
};

/// Arguments by Rust name.
type Arguments = IndexMap<String, Value>;

/// The gated fields that an argument touches.
#[derive(Debug, Default)]
pub(in crate::graphql::plan) struct ArgumentGates {
    /// Each with its own arguments from the same input object, if the gated field has any.
    pub(in crate::graphql::plan) found: Vec<(Gated, Option<Arguments>)>,
    /// Whether it may touch more gated fields, or other arguments of gated fields, depending on the
    /// request's variables.
    pub(in crate::graphql::plan) varies: bool,
}

impl ArgumentGates {
    /// Returns the gates of an argument in a document; `gated` is the field that the argument
    /// itself compares.
    pub(in crate::graphql::plan) fn planned(
        model: &Model,
        ty: &TypeExpr,
        gated: Option<Gated>,
        given: Given<'_>,
    ) -> Self {
        let mut gates = Self::default();

        // Every argument of every document would be walked, and most schemas have no gates.
        if model.has_gates {
            gates.found.extend(gated.map(|gated| (gated, None)));
            Walk {
                types: &model.types,
                is_planned: true,
                gates: &mut gates,
            }
            .value(ty, given);
        }

        gates
    }

    /// Returns the gates inside an argument's value.
    pub(in crate::graphql::plan) fn of_value(model: &Model, ty: &TypeExpr, value: &Value) -> Self {
        let mut gates = Self::default();
        Walk {
            types: &model.types,
            is_planned: false,
            gates: &mut gates,
        }
        .value(ty, Given::Coerced(value));
        gates
    }
}

struct Walk<'a> {
    types: &'a [TypeDef],
    /// Whether the document is being planned, without values of variables.
    is_planned: bool,
    gates: &'a mut ArgumentGates,
}

impl<'a> Walk<'a> {
    fn value(&mut self, ty: &TypeExpr, given: Given<'a>) {
        let kind = &self.types[ty.named()].kind;
        if !matches!(kind, TypeKind::Input(_) | TypeKind::Enum(_)) {
            return;
        }

        // A variable differs between requests, so its value is walked when a request runs the plan.
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

    /// Adds the gated field that a field of an input object compares or orders by.
    fn gates(&mut self, field: &ArgDef, item: Given<'_>) {
        let Some(gated) = field.gated else { return };
        match arguments_of(self.types, field) {
            None => self.gates.found.push((gated, None)),
            // A literal has no coerced arguments yet; a request reads them from the coerced value.
            Some(_) if self.is_planned => self.gates.varies = true,
            Some((name, def)) => self
                .gates
                .found
                .push((gated, Some(arguments(def, item.field(name))))),
        }
    }
}

/// The arguments of a computed field, next to the conditions on its value or the order by it: the
/// Rust name of the argument object and its definition.
fn arguments_of<'a>(types: &'a [TypeDef], field: &ArgDef) -> Option<(&'a str, &'a InputDef)> {
    let TypeKind::Input(def) = &types[field.ty.named()].kind else {
        return None;
    };

    let args = def
        .fields
        .values()
        .find(|field| field.role == ArgRole::Arguments)?;

    match &types[args.ty.named()].kind {
        TypeKind::Input(def) => Some((&args.rust, def)),
        _ => None,
    }
}

/// Returns the given arguments, or the defaults if no argument object is given.
fn arguments(def: &InputDef, given: Option<&IndexMap<Name, Value>>) -> Arguments {
    let value = |arg: &ArgDef| match given {
        // Coercion has already added the defaults of absent fields to a given object.
        Some(given) => given.get(arg.rust.as_str()).cloned(),
        None => arg.default.as_ref().map(|default| default.value.clone()),
    };
    def.fields
        .values()
        .filter_map(|arg| Some((arg.rust.clone(), value(arg)?)))
        .collect()
}

/// The gates of the fields that rows are grouped by for an enum value.
fn gates<'a>(def: &'a EnumDef, name: &str) -> impl Iterator<Item = Gated> + use<'a> {
    def.group_key(name)
        .into_iter()
        .flat_map(|member| member.gates)
        .flatten()
}

/// Whether a value of this type can touch a gated field.
fn reaches_gate(types: &[TypeDef], index: TypeIndex, seen: &mut HashSet<TypeIndex>) -> bool {
    match &types[index].kind {
        TypeKind::Input(def) => {
            // Input types may contain themselves, as a filter does in `AND`.
            seen.insert(index)
                && def.fields.values().any(|field| {
                    field.gated.is_some() || reaches_gate(types, field.ty.named(), seen)
                })
        }
        TypeKind::Enum(def) => def
            .values
            .iter()
            .any(|value| gates(def, &value.name).next().is_some()),
        _ => false,
    }
}

/// A gated field that an operation touches. A field with arguments is distinguished by them; a
/// field without arguments is the same in all places.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Touched {
    gated: Gated,
    with: TouchedWith,
}

/// The arguments of a touched gated field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TouchedWith {
    Nothing,
    /// The arguments of a selected field, identified by their address, which differs between places
    /// in the document.
    Selected(usize),
    /// The arguments in a condition or an order, in GraphQL syntax.
    Asked(String),
}

/// A place in a document that touches a gated field.
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

    /// Returns the arguments of the touched gated field.
    ///
    /// # Errors
    /// A variable that leaves a required place empty.
    pub(crate) fn arguments(
        &self,
        model: &Model,
        variables: &Variables,
    ) -> Result<Arguments, Error> {
        match (&self.asked, &self.touched.with) {
            (Some(asked), _) => Ok(asked.clone()),
            (None, TouchedWith::Selected(_)) => self.field.named_arguments(model, variables),
            (None, _) => Ok(Arguments::new()),
        }
    }
}

impl Plan {
    /// Returns the gates that the operation touches, without duplicates.
    pub(crate) fn gates(&self, model: &Model, variables: &Variables) -> Vec<Touch<'_>> {
        let mut found = IndexMap::new();
        if self.root.gates {
            self.root
                .collect_gates(model, variables, &mut HashSet::new(), &mut found);
        }

        found
            .into_iter()
            .map(|(touched, (field, asked))| Touch {
                touched,
                field,
                asked,
            })
            .collect()
    }
}

impl Selection {
    /// Selections are shared; each is visited once.
    fn collect_gates<'p>(
        &'p self,
        model: &Model,
        variables: &Variables,
        seen: &mut HashSet<*const Selection>,
        found: &mut IndexMap<Touched, (&'p PlanField, Option<Arguments>)>,
    ) {
        for field in &self.fields {
            field.gates(model, variables, |touched, asked| {
                // One decision covers all places that touch the field in the same way, so that an
                // authorizer is not called for each alias.
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
    /// Whether the field, its arguments or the fields below it can touch gated fields, for any
    /// values of the variables.
    pub(in crate::graphql::plan) fn may_touch_gates(&self) -> bool {
        self.gated.is_some()
            || self.args.iter().any(|argument| argument.may_touch_gates())
            || self.children.iter().any(|selection| selection.gates)
    }

    /// Calls `visit` with the gates that the field itself and its arguments touch for these
    /// variables.
    pub(in crate::graphql::plan) fn gates(
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

/// Writes arguments in GraphQL syntax.
fn written(arguments: &Arguments) -> String {
    let fields = arguments
        .iter()
        .map(|(rust, value)| (Name::new(rust), value.clone()));
    Value::Object(fields.collect()).to_string()
}
