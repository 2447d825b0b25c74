//! Rejects operations that cost too much.

use super::Costs;
use crate::graphql::coerce::Variables;
use crate::graphql::error::RequestError;
use crate::graphql::plan::{Cost, Plan, PlanField, Selection};
use crate::limits::Limits;
use svc_core::ErrorCode;
use svc_core::schema::Model;

impl Plan {
    /// Rejects the operation if it exceeds the cost limits with these variables.
    pub(crate) fn check(
        &self,
        model: &Model,
        limits: &Limits,
        variables: &Variables,
    ) -> Result<(), RequestError> {
        let cost = self.cost(model, limits, variables);
        if cost.is_within(limits) {
            return Ok(());
        }

        // A closure, as only the error about the complexity needs the costliest field, and finding
        // it counts all costs again.
        limits.over(cost.refused(limits, || {
            if self.introspection > cost.complexity / 2 {
                return format!("introspection costs {} of it", self.introspection);
            }
            costliest(self, Costs::new(model, limits, variables))
        }))
    }
}

impl Cost {
    fn is_within(&self, limits: &Limits) -> bool {
        self.complexity <= limits.complexity
            && self.depth <= limits.depth
            && self.asked.comparisons <= limits.comparisons
            && self.asked.hops <= limits.hops
            && self.asked.order_keys <= limits.order_keys
            && self.relations <= limits.relations
    }

    /// Returns the error for the limit that the operation exceeds. The specific limits come first,
    /// as their counts are part of the complexity.
    #[cold]
    fn refused(&self, limits: &Limits, costliest: impl FnOnce() -> String) -> RequestError {
        let too_complex = |message: String| RequestError::new(ErrorCode::QueryTooComplex, message);
        let Self {
            complexity,
            asked,
            relations,
            depth,
        } = self;

        if *depth > limits.depth {
            let most = limits.depth;
            let message = format!(
                "the operation has {depth} levels, with those of its filters and orders; at most {most} are allowed \
                 (SVC_LIMIT_DEPTH)"
            );
            return RequestError::new(ErrorCode::QueryTooDeep, message);
        }

        if asked.comparisons > limits.comparisons {
            return too_complex(format!(
                "the operation has {} comparisons in its filters; at most {} are allowed (SVC_LIMIT_COMPARISONS)",
                asked.comparisons, limits.comparisons
            ));
        }

        if asked.hops > limits.hops {
            return too_complex(format!(
                "the filters and orders of the operation have {} hops through relations, where one behind others counts \
                 one more for each of them; at most {} are allowed (SVC_LIMIT_HOPS)",
                asked.hops, limits.hops
            ));
        }

        if asked.order_keys > limits.order_keys {
            return too_complex(format!(
                "the operation has {} keys in its orders and groups; at most {} are allowed (SVC_LIMIT_ORDER_KEYS)",
                asked.order_keys, limits.order_keys
            ));
        }

        if *relations > limits.relations {
            return too_complex(format!(
                "the operation selects {relations} relations; at most {} are allowed (SVC_LIMIT_RELATIONS)",
                limits.relations
            ));
        }

        too_complex(format!(
            "the operation has a complexity of {complexity}; at most {} is allowed (SVC_LIMIT_COMPLEXITY); {}; ask for \
             fewer fields or smaller pages",
            limits.complexity,
            costliest()
        ))
    }
}

/// Describes the costliest field: descends from the root as long as one field costs more than half
/// of its parent.
fn costliest(plan: &Plan, mut costs: Costs<'_>) -> String {
    let (mut path, mut selection, mut times, mut cost) = (String::new(), &*plan.root, 1u64, 0u64);
    while let Some((field, own)) = largest(selection, &mut costs) {
        let share = own.saturating_mul(times);
        let is_most = share > cost / 2;
        let Some(below) = widest(field, &mut costs).filter(|_| path.is_empty() || is_most) else {
            if path.is_empty() {
                (path, cost) = (field.key.clone(), share);
            }
            break;
        };

        if !path.is_empty() {
            path.push('.');
        }

        path.push_str(&field.key);

        (selection, times, cost) = (below, times.saturating_mul(costs.page(field)), share);
    }

    format!(
        "the costliest field is `{}` with {cost}",
        svc_core::exact_json::shorten(&path)
    )
}

/// Returns the field with the highest cost; the first one of several.
fn largest<'p>(selection: &'p Selection, costs: &mut Costs<'_>) -> Option<(&'p PlanField, u64)> {
    let mut largest: Option<(&PlanField, u64)> = None;
    for field in &selection.fields {
        let cost = costs.field(field).complexity;
        if largest.is_none_or(|(_, most)| cost > most) {
            largest = Some((field, cost));
        }
    }
    largest
}

/// Returns the costliest of the selections for the possible types of a field.
fn widest<'p>(field: &'p PlanField, costs: &mut Costs<'_>) -> Option<&'p Selection> {
    let selections = field
        .children
        .iter()
        .map(|selection| (costs.selection(selection).complexity, &**selection));
    selections
        .max_by_key(|(cost, _)| *cost)
        .map(|(_, selection)| selection)
}
