//! The cost of an operation: its complexity, and the work that its arguments cause in the database.

mod bounds;
mod check;
mod introspection;
mod sql_cost;

pub(super) use bounds::Bounds;
pub(super) use introspection::IntrospectionCost;
pub(crate) use sql_cost::Asked;
pub(super) use sql_cost::{Count, Given};

use std::sync::Arc;

use ahash::{HashMap, HashMapExt as _};
use serde_json::{Value, json};

use super::{Children, Plan, PlanField, PlanKind, RootField, Selection};
use crate::graphql::coerce::Variables;
use crate::limits::Limits;
use svc_core::schema::{AggregateFunction, Model, Part};

/// The number of rows that a list without a `limit` counts as, such as one inside `data`.
const UNPAGED: u64 = 5;

/// The cost of an operation or a part of it; `__typename` is free, and introspection is counted
/// with the plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// A scalar counts 1, an object 1 and its children, a list 1 and its children times the page
    /// size. A method counts its own cost in place of the 1. The work of arguments is added, and so
    /// are the rows that a mutation by filter may write.
    pub(crate) complexity: u64,
    pub(crate) asked: Asked,
    /// The number of relations selected.
    pub(crate) relations: u64,
    /// The nesting depth of the fields, including the conditions and orders in their arguments.
    pub(crate) depth: usize,
}

impl Plan {
    /// Returns the cost of the operation with these variables.
    pub(crate) fn cost(&self, model: &Model, limits: &Limits, variables: &Variables) -> Cost {
        if let Some(known) = self.fixed_cost.get() {
            return *known;
        }

        let mut costs = Costs::new(model, limits, variables);
        let mut cost = costs.selection(&self.root);
        cost.complexity = cost.complexity.saturating_add(self.introspection);
        if !costs.varies {
            let _ = self.fixed_cost.set(cost);
        }

        cost
    }
}

pub(super) struct Costs<'a> {
    model: &'a Model,
    limits: &'a Limits,
    variables: &'a Variables,
    /// The costs of shared selections: with them, fragments that spread each other take time linear
    /// in their length.
    known: HashMap<*const Selection, Cost>,
    /// Whether a page size or the work of arguments depends on variables.
    varies: bool,
}

impl<'a> Costs<'a> {
    pub(super) fn new(model: &'a Model, limits: &'a Limits, variables: &'a Variables) -> Self {
        Self {
            model,
            limits,
            variables,
            known: HashMap::new(),
            varies: false,
        }
    }

    pub(super) fn selection(&mut self, selection: &Arc<Selection>) -> Cost {
        // The planner has dropped its table by now, so a second reference means a second field with
        // this selection. Most selections have one field and need no entry.
        if Arc::strong_count(selection) == 1 {
            return self.fields(selection);
        }

        let key = Arc::as_ptr(selection);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }

        let cost = self.fields(selection);
        self.known.insert(key, cost);

        cost
    }

    fn fields(&mut self, selection: &Selection) -> Cost {
        selection.fields.iter().fold(Cost::default(), |sum, field| {
            let field = self.field(field);
            Cost {
                complexity: sum.complexity.saturating_add(field.complexity),
                ..sum.beside(field)
            }
        })
    }

    pub(super) fn field(&mut self, field: &PlanField) -> Cost {
        if matches!(field.kind, PlanKind::Typename | PlanKind::Introspection) {
            return Cost::default();
        }

        // Most fields are such leaves, and a plan with variables is counted for each request.
        if matches!(field.children, Children::None) && field.args.is_empty() && !field.ty.is_list()
        {
            return Cost {
                complexity: own(field),
                depth: 1,
                ..Cost::default()
            };
        }

        let (asked, children) = (self.asked(field), self.children(&field.children));
        let (page, written) = (self.page(field), written(field, self.limits));
        let once = if written > 0 { self.once(field) } else { 0 };

        Cost {
            complexity: children
                .complexity
                .saturating_sub(once)
                .saturating_mul(page)
                // After the multiplication: the conditions are evaluated for the list, not for each
                // of its rows, and so is the `query` of its result.
                .saturating_add(once)
                .saturating_add(asked.sum())
                .saturating_add(written)
                .saturating_add(own(field)),
            asked: asked.and(children.asked),
            relations: children
                .relations
                .saturating_add(u64::from(field.relation().is_some())),
            depth: 1 + children.depth.max(asked.levels),
        }
    }

    /// Returns the complexity of each `query` in the result of a mutation.
    fn once(&mut self, field: &PlanField) -> u64 {
        field
            .below()
            .filter(|field| matches!(field.kind, PlanKind::Query))
            .map(|field| self.field(field).complexity)
            .fold(0, u64::saturating_add)
    }

    /// Takes the highest complexity, as a row has only one of the types, but combines the other
    /// counts: a statement reads the selections of all types.
    fn children(&mut self, children: &Children) -> Cost {
        children.iter().fold(Cost::default(), |all, selection| {
            let one = self.selection(selection);
            Cost {
                complexity: all.complexity.max(one.complexity),
                ..all.beside(one)
            }
        })
    }

    /// Returns the work that the arguments cause in the database. The statement of an aggregate
    /// repeats its conditions for each list of groups.
    fn asked(&mut self, field: &PlanField) -> Asked {
        let mut asked = Asked {
            order_keys: distinct(field),
            ..Asked::default()
        };

        for arg in field.args.iter() {
            self.varies |= arg.asks_by_variables();
            asked = asked.and(arg.asked(self.model, self.variables));
        }

        if asked == Asked::default() {
            return asked;
        }

        let below = field
            .children
            .iter()
            .flat_map(|selection| &selection.fields);
        let groups = below
            .filter(|field| matches!(field.kind, PlanKind::Part(Part::Groups)))
            .count();
        let times = u64::try_from(groups).unwrap_or(u64::MAX).saturating_add(1);

        Asked {
            comparisons: asked.comparisons.saturating_mul(times),
            hops: asked.hops.saturating_mul(times),
            ..asked
        }
    }

    /// Returns the number of rows that a list counts as. This is at least 1: the fields below it
    /// are part of the statement even if the page is empty.
    pub(super) fn page(&mut self, field: &PlanField) -> u64 {
        let is_rows = |kind| matches!(kind, PlanKind::Part(Part::Edges | Part::Nodes));
        let is_connection = field
            .children
            .iter()
            .flat_map(|selection| &selection.fields)
            .any(|field| is_rows(field.kind));

        let most = written(field, self.limits);
        if most > 0 {
            // The list in a result is counted as an unpaged one.
            let below = if field.ty.is_list() { 1 } else { UNPAGED };
            return most.div_ceil(below);
        }

        if is_rows(field.kind) || !(is_connection || field.ty.is_list()) {
            // The page of a connection is counted at the field with its arguments.
            return 1;
        }

        if field.root().is_some_and(RootField::finds_nodes) {
            // Each id finds at most one row.
            let ids = field.args.first();
            self.varies |= ids.is_some_and(|arg| !arg.is_constant());
            let items = ids.and_then(|arg| arg.items(self.model, self.variables));
            return items
                .and_then(|items| u64::try_from(items).ok())
                .unwrap_or(UNPAGED)
                .max(1);
        }

        let limits = || {
            field
                .args
                .iter()
                .filter(|arg| matches!(arg.rust.as_str(), "limit" | "first" | "last"))
        };

        self.varies |= limits().any(|arg| !arg.is_constant());
        let given = limits().find_map(|arg| arg.integer(self.model, self.variables));
        let default = if limits().next().is_some() {
            u64::from(self.limits.default_page)
        } else {
            UNPAGED
        };

        given
            .and_then(|page| u64::try_from(page).ok())
            .unwrap_or(default)
            .max(1)
    }
}

impl PlanField {
    /// Returns the complexity of the results of a root field: without the field itself, the rows
    /// that it may write, and the work of its arguments.
    pub(crate) fn result_cost(&self, model: &Model, limits: &Limits, variables: &Variables) -> u64 {
        let cost = Costs::new(model, limits, variables).field(self);
        cost.complexity
            .saturating_sub(own(self))
            .saturating_sub(cost.asked.sum())
            .saturating_sub(written(self, limits))
    }
}

impl Selection {
    /// The complexity of an object's fields, without the fields below them.
    pub(crate) fn own_cost(&self) -> u64 {
        let is_free =
            |field: &&PlanField| matches!(field.kind, PlanKind::Typename | PlanKind::Introspection);
        self.fields
            .iter()
            .filter(|field| !is_free(field))
            .map(own)
            .sum()
    }
}

/// The number of fields with a count of distinct values: PostgreSQL sorts all rows for each.
fn distinct(field: &PlanField) -> u64 {
    let is_distinct = matches!(
        field.kind,
        PlanKind::Part(Part::Function(AggregateFunction::CountDistinct))
    );
    let fields = field
        .children
        .iter()
        .filter(|_| is_distinct)
        .map(|selection| selection.fields.len())
        .sum::<usize>();

    u64::try_from(fields).unwrap_or(u64::MAX)
}

/// The number of rows that a mutation by filter may write, regardless of the fields that the client
/// selects of them.
fn written(field: &PlanField, limits: &Limits) -> u64 {
    let most = field.root().and_then(|root| root.max_rows(limits));
    most.map_or(0, u64::from)
}

/// The complexity of a field, without the fields below it.
fn own(field: &PlanField) -> u64 {
    let cost = |kind| match kind {
        PlanKind::Method(_, cost) | PlanKind::Function(_, cost) => cost.into(),
        _ => 1,
    };
    match field.kind {
        PlanKind::Checked(checked) => cost(checked.kind()) + checked.cost(),
        kind => cost(kind),
    }
}

impl Cost {
    /// Returns the cost and its limits as JSON for clients.
    pub(crate) fn shown(&self, limits: &Limits) -> Value {
        json!({
            "complexity": { "cost": self.complexity, "limit": limits.complexity },
            "depth": { "cost": self.depth, "limit": limits.depth },
            "comparisons": { "cost": self.asked.comparisons, "limit": limits.comparisons },
            "hops": { "cost": self.asked.hops, "limit": limits.hops },
            "orderKeys": { "cost": self.asked.order_keys, "limit": limits.order_keys },
            "relations": { "cost": self.relations, "limit": limits.relations },
        })
    }

    /// Combines the costs of two parts of one statement, except for the complexity.
    fn beside(self, other: Self) -> Self {
        Self {
            complexity: self.complexity,
            asked: self.asked.and(other.asked),
            relations: self.relations.saturating_add(other.relations),
            depth: self.depth.max(other.depth),
        }
    }
}
