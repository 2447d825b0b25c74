//! The work that filters, orders and groups cause in the database: comparisons, hops through
//! relations, and sort keys.

use std::collections::HashSet;

use apollo_compiler::ast;
use async_graphql::{Name, Value};
use indexmap::IndexMap;

use crate::graphql::coerce::Variables;
use svc_core::schema::{
    ArgDef, ArgRole, EnumDef, InputDef, InputRole, TypeDef, TypeExpr, TypeIndex, TypeKind,
};

/// The number of list values that count as one comparison.
const VALUES: usize = 50;

/// The work that arguments cause in the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) comparisons: u64,
    /// The relations that are followed. A nested relation counts one more for each relation above
    /// it, as PostgreSQL takes longer to plan it.
    pub(crate) hops: u64,
    pub(crate) order_keys: u64,
    /// The nesting depth of conditions and orders.
    pub(crate) levels: usize,
}

/// The value of an argument, or a part of it.
#[derive(Debug, Clone, Copy)]
pub(in crate::graphql::plan) enum Given<'a> {
    /// The literal of the document, which may contain variables.
    Literal(&'a ast::Value),
    Coerced(&'a Value),
}

/// Counts the work of arguments.
pub(in crate::graphql::plan) struct Count<'a> {
    types: &'a [TypeDef],
    /// `None` while the document is planned.
    variables: Option<&'a Variables>,
    asked: Asked,
    /// Whether the count depends on variables without a value yet.
    varies: bool,
}

/// The position of a part of a condition or an order.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    level: usize,
    /// The number of relations above this position.
    hops: u64,
    /// Whether the quantifiers here apply to a relation.
    of_relation: bool,
}

impl Asked {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            comparisons: self.comparisons.saturating_add(other.comparisons),
            hops: self.hops.saturating_add(other.hops),
            order_keys: self.order_keys.saturating_add(other.order_keys),
            levels: self.levels.max(other.levels),
        }
    }

    pub(crate) fn sum(self) -> u64 {
        self.comparisons
            .saturating_add(self.hops)
            .saturating_add(self.order_keys)
    }
}

impl<'a> Count<'a> {
    pub(in crate::graphql::plan) fn new(
        types: &'a [TypeDef],
        variables: Option<&'a Variables>,
    ) -> Self {
        Self {
            types,
            variables,
            asked: Asked::default(),
            varies: false,
        }
    }

    /// Returns the work of an argument; `None` if it depends on variables without a value yet.
    pub(in crate::graphql::plan) fn argument(
        mut self,
        def: &TypeExpr,
        given: Given<'a>,
        is_equality: bool,
    ) -> Option<Asked> {
        if is_equality {
            self.values(def, given);
        } else {
            self.value(def, given, Place::default());
        }
        (!self.varies).then_some(self.asked)
    }

    fn value(&mut self, ty: &TypeExpr, given: Given<'a>, at: Place) {
        let kind = &self.types[ty.named()].kind;
        if !matches!(kind, TypeKind::Input(_) | TypeKind::Enum(_)) {
            return;
        }

        let Some(given) = self.known(ty, given) else {
            return;
        };

        match ty {
            TypeExpr::NonNull(inner) => self.value(inner, given, at),
            TypeExpr::List(inner) => given.each_item(|item| self.value(inner, item, at)),
            TypeExpr::Named(_) => match kind {
                TypeKind::Input(def) => self.object(def, given, at),
                TypeKind::Enum(def) => self.group_key(def, given),
                _ => {}
            },
        }
    }

    /// A group key. PostgreSQL sorts by it as it does by a key of an order.
    fn group_key(&mut self, def: &EnumDef, given: Given<'a>) {
        let Some(member) = given.member().and_then(|name| def.group_key(name)) else {
            return;
        };
        self.asked.order_keys += 1;
        self.asked.hops += u64::from(member.key.relation.is_some());
    }

    /// Returns the value; `None` for a variable that is absent or has no value yet.
    fn known(&mut self, ty: &TypeExpr, given: Given<'a>) -> Option<Given<'a>> {
        let Given::Literal(ast::Value::Variable(name)) = given else {
            return Some(given);
        };

        match self.variables {
            Some(variables) => variables.get(name).map(Given::Coerced),
            None => {
                // A variable that cannot contain conditions leaves the cost fixed, so that it is
                // cached with the plan.
                self.varies |= reaches(self.types, ty.named(), &mut HashSet::new());
                None
            }
        }
    }

    fn object(&mut self, def: &'a InputDef, given: Given<'a>, at: Place) {
        let before = self.asked.sum();
        given.each_field(def, |field, item| match def.role {
            InputRole::Declared => self.value(&field.ty, item, at),
            InputRole::Conditions => self.condition(field, item, at),
            InputRole::Quantifiers => self.quantifier(field, item, at),
            // The arguments of a function are not comparisons.
            InputRole::Operators if field.role == ArgRole::Arguments => {}
            InputRole::Operators => self.comparison(field, item),
            InputRole::Order => self.order(field, item, at),
        });

        if matches!(def.role, InputRole::Conditions | InputRole::Order) {
            self.asked.levels = self.asked.levels.max(at.level);
        }

        if def.role == InputRole::Conditions && self.asked.sum() == before {
            // An empty condition is written as well.
            self.asked.comparisons += 1;
        }
    }

    fn condition(&mut self, field: &'a ArgDef, item: Given<'a>, at: Place) {
        let is_hop = field.role == ArgRole::Hop;
        self.computed(field);

        match role(self.types, &field.ty) {
            Some(InputRole::Quantifiers) => self.value(
                &field.ty,
                item,
                Place {
                    of_relation: is_hop,
                    ..at
                },
            ),
            Some(InputRole::Conditions) => {
                let at = self.below(at, is_hop);
                self.value(&field.ty, item, at);
            }
            _ => self.value(&field.ty, item, at),
        }
    }

    /// `some`, `every` or `none`.
    fn quantifier(&mut self, field: &'a ArgDef, item: Given<'a>, at: Place) {
        // PostgreSQL unpacks an embedded list for each quantifier, regardless of its conditions;
        // a relation counts as a hop instead.
        if !at.of_relation {
            self.asked.comparisons += 1;
        }
        let at = self.below(at, at.of_relation);
        self.value(&field.ty, item, at);
    }

    fn order(&mut self, field: &'a ArgDef, item: Given<'a>, at: Place) {
        if item.is_null() {
            return;
        }

        match role(self.types, &field.ty) {
            Some(InputRole::Order) => {
                let before = self.asked;
                let at = self.below(at, field.role == ArgRole::Hop);
                self.value(&field.ty, item, at);
                if field.role == ArgRole::Hop && computes(self.types, &field.ty) {
                    self.repeat(before);
                }
            }
            // The filter for the rows of an aggregate in an order.
            Some(InputRole::Conditions) => {
                let at = self.below(at, false);
                self.value(&field.ty, item, at);
            }
            // A direction, a full-text query that ranks documents, or the arguments of a function.
            _ => {
                self.asked.order_keys += 1;
                self.computed(field);
            }
        }
    }

    /// Adds the cost of a computed field's function to the comparison with its value.
    fn computed(&mut self, field: &ArgDef) {
        if let ArgRole::Computed(cost) = field.role {
            self.asked.comparisons += cost.saturating_sub(1);
        }
    }

    /// Counts the work since `before` again for each further key of an order by aggregates, as each
    /// key computes its own aggregate.
    fn repeat(&mut self, before: Asked) {
        let times = (self.asked.order_keys - before.order_keys).saturating_sub(1);
        let more = |now: u64, before: u64| now.saturating_add((now - before).saturating_mul(times));
        self.asked.comparisons = more(self.asked.comparisons, before.comparisons);
        self.asked.hops = more(self.asked.hops, before.hops);
    }

    fn comparison(&mut self, field: &ArgDef, given: Given<'a>) {
        if let ArgRole::Comparison(weight) = field.role {
            // `values` counts the remaining 1.
            self.asked.comparisons += weight - 1;
        }
        self.values(&field.ty, given);
    }

    /// Counts a comparison, weighted by its number of values.
    fn values(&mut self, ty: &TypeExpr, given: Given<'a>) {
        self.asked.comparisons += 1;
        let given = match given {
            _ if !ty.is_list() => return,
            Given::Literal(ast::Value::Variable(name)) => match self.variables {
                Some(variables) => variables.get(name).map(Given::Coerced),
                None => {
                    self.varies = true;
                    return;
                }
            },
            given => Some(given),
        };

        let values = given.map_or(0, Given::len);
        self.asked.comparisons += u64::try_from(values / VALUES).unwrap_or(u64::MAX / 2);
    }

    /// Returns the position one level below, which a hop reaches through a relation.
    fn below(&mut self, at: Place, is_hop: bool) -> Place {
        if is_hop {
            self.asked.hops += 1 + at.hops;
        }
        Place {
            level: at.level + 1,
            hops: at.hops + u64::from(is_hop),
            of_relation: false,
        }
    }
}

impl<'a> Given<'a> {
    /// The variable's name, if the value is a variable.
    pub(in crate::graphql::plan) fn variable(self) -> Option<&'a str> {
        match self {
            Self::Literal(ast::Value::Variable(name)) => Some(name),
            _ => None,
        }
    }

    /// The name, if the value is an enum value.
    pub(in crate::graphql::plan) fn member(self) -> Option<&'a str> {
        match self {
            Self::Literal(ast::Value::Enum(name)) => Some(name),
            Self::Coerced(Value::Enum(name)) => Some(name),
            _ => None,
        }
    }

    /// The object in the field `rust` of a coerced object.
    pub(in crate::graphql::plan) fn field(self, rust: &str) -> Option<&'a IndexMap<Name, Value>> {
        match self {
            Self::Coerced(Value::Object(fields)) => match fields.get(rust)? {
                Value::Object(object) => Some(object),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_null(self) -> bool {
        matches!(
            self,
            Self::Literal(ast::Value::Null) | Self::Coerced(Value::Null)
        )
    }

    /// Returns the number of values in a list; a single value counts as 1.
    fn len(self) -> usize {
        match self {
            Self::Literal(ast::Value::List(items)) => items.len(),
            Self::Coerced(Value::List(items)) => items.len(),
            _ => 1,
        }
    }

    /// Visits the items of a list; a single value counts as a list of one.
    pub(in crate::graphql::plan) fn each_item(self, mut visit: impl FnMut(Self)) {
        match self {
            Self::Literal(ast::Value::List(items)) => {
                items.iter().for_each(|item| visit(Self::Literal(item)));
            }
            Self::Coerced(Value::List(items)) => {
                items.iter().for_each(|item| visit(Self::Coerced(item)));
            }
            single => visit(single),
        }
    }

    /// Visits the fields of an object. Coerced objects use Rust names, literals GraphQL names.
    pub(in crate::graphql::plan) fn each_field(
        self,
        def: &'a InputDef,
        mut visit: impl FnMut(&'a ArgDef, Self),
    ) {
        match self {
            Self::Literal(ast::Value::Object(fields)) => {
                for (name, value) in fields {
                    if let Some(field) = def.fields.get(name.as_str()) {
                        visit(field, Self::Literal(value));
                    }
                }
            }
            Self::Coerced(Value::Object(fields)) => {
                for (rust, value) in fields {
                    if let Some(field) = def
                        .fields
                        .values()
                        .find(|field| field.rust == rust.as_str())
                    {
                        visit(field, Self::Coerced(value));
                    }
                }
            }
            _ => {}
        }
    }
}

fn role(types: &[TypeDef], ty: &TypeExpr) -> Option<InputRole> {
    match &types[ty.named()].kind {
        TypeKind::Input(def) => Some(def.role),
        _ => None,
    }
}

/// Whether this is an order by aggregates: such an order has conditions on the aggregated rows.
fn computes(types: &[TypeDef], ty: &TypeExpr) -> bool {
    let TypeKind::Input(def) = &types[ty.named()].kind else {
        return false;
    };
    def.fields
        .values()
        .any(|field| role(types, &field.ty) == Some(InputRole::Conditions))
}

/// Whether a value of this type can contain conditions, orders or group keys.
fn reaches(types: &[TypeDef], index: TypeIndex, seen: &mut HashSet<TypeIndex>) -> bool {
    match &types[index].kind {
        TypeKind::Input(def) if def.role != InputRole::Declared => true,
        TypeKind::Enum(def) => def.groups(),
        TypeKind::Input(def) => {
            seen.insert(index)
                && def
                    .fields
                    .values()
                    .any(|field| reaches(types, field.ty.named(), seen))
        }
        _ => false,
    }
}
