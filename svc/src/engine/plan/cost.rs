//! The complexity of a plan: a scalar 1, an object 1 and its children, a list 1 and its children times the page.

use std::sync::Arc;

use ahash::{HashMap, HashMapExt as _};

use super::{Children, Plan, PlanField, PlanKind, Selection};
use crate::engine::coerce::Variables;
use crate::engine::limits::Limits;
use crate::schema::{Model, Part};

/// What a list counts as that takes no `limit`, such as one inside `data`.
const UNPAGED: u64 = 5;

impl Plan {
    /// What the operation costs with these variables; introspection and `__typename` are free.
    pub(crate) fn cost(&self, model: &Model, limits: &Limits, variables: &Variables) -> u64 {
        if let Some(known) = self.fixed_cost.get() {
            return *known;
        }
        let mut costs = Costs { model, limits, variables, known: HashMap::new(), varies: false };
        let cost = costs.selection(&self.root);
        if !costs.varies {
            let _ = self.fixed_cost.set(cost);
        }
        cost
    }
}

struct Costs<'a> {
    model: &'a Model,
    limits: &'a Limits,
    variables: &'a Variables,
    /// Selections are shared, so that fragments which spread each other cost no more time than they have lines.
    known: HashMap<*const Selection, u64>,
    /// Whether a page depends on variables.
    varies: bool,
}

impl Costs<'_> {
    fn selection(&mut self, selection: &Arc<Selection>) -> u64 {
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

    fn fields(&mut self, selection: &Selection) -> u64 {
        selection.fields.iter().fold(0u64, |sum, field| sum.saturating_add(self.field(field)))
    }

    fn field(&mut self, field: &PlanField) -> u64 {
        match field.kind {
            PlanKind::Typename | PlanKind::Introspection => 0,
            _ => {
                let children = self.children(&field.children);
                1u64.saturating_add(children.saturating_mul(self.page(field)))
            }
        }
    }

    fn children(&mut self, children: &Children) -> u64 {
        children.iter().map(|selection| self.selection(selection)).max().unwrap_or(0)
    }

    fn page(&mut self, field: &PlanField) -> u64 {
        let is_rows = |kind| matches!(kind, PlanKind::Part(Part::Edges | Part::Nodes));
        let is_connection =
            field.children.iter().flat_map(|selection| &selection.fields).any(|field| is_rows(field.kind));
        if is_rows(field.kind) || !(is_connection || field.ty.is_list()) {
            // The page of a connection counts where its arguments are.
            return 1;
        }
        let limits = || field.args.iter().filter(|arg| matches!(arg.rust.as_str(), "limit" | "first" | "last"));
        self.varies |= limits().any(|arg| !arg.is_constant());
        let given = limits().find_map(|arg| arg.integer(self.model, self.variables));
        let default = if limits().next().is_some() { u64::from(self.limits.default_page) } else { UNPAGED };
        given.and_then(|page| u64::try_from(page).ok()).unwrap_or(default)
    }
}
