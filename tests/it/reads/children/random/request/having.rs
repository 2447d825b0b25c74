//! Conditions on products by what is computed over their reviews.

use rand::Rng as _;
use rand::rngs::StdRng;

use super::super::model::{AGGREGATES, Aggregate, Product, World};
use super::condition::{Condition, OPERATORS, compare, matching};
use super::pick;

/// A condition on products by what is computed over their reviews.
#[derive(Clone)]
pub(super) struct Having {
    rows: Option<Condition>,
    compared: Vec<(Aggregate, &'static str, f64)>,
    is_negated: bool,
}

impl Having {
    pub(super) fn random(rng: &mut StdRng) -> Self {
        let mut compared: Vec<(Aggregate, &str, f64)> = Vec::new();
        for _ in 0..rng.random_range(1..=2) {
            let aggregate = pick(&AGGREGATES, rng);
            // One key of an object is given once.
            let is_known = |(known, ..): &(Aggregate, &str, f64)| match (known, aggregate) {
                (Aggregate::Of(known, _), Aggregate::Of(function, _)) => *known == function,
                (known, aggregate) => *known == aggregate,
            };
            if !compared.iter().any(is_known) {
                let is_text = matches!(aggregate, Aggregate::Of(_, "body"));
                let operator = if is_text {
                    pick(&["eq", "neq"], rng)
                } else {
                    pick(&OPERATORS, rng)
                };
                compared.push((
                    aggregate,
                    operator,
                    f64::from(rng.random_range(-4..24)) / 2.0,
                ));
            }
        }
        Self {
            rows: Condition::maybe(rng),
            compared,
            is_negated: rng.random_bool(0.2),
        }
    }

    pub(super) fn text(&self) -> String {
        let rows = self
            .rows
            .iter()
            .map(|rows| format!("where: {}", rows.text()));
        let compared = self.compared.iter().map(|(aggregate, operator, value)| {
            let literal = aggregate.literal(*value);
            match aggregate {
                Aggregate::Count => format!("count: {{{operator}: {literal}}}"),
                Aggregate::Of(function, field) => {
                    format!("{function}: {{{field}: {{{operator}: {literal}}}}}")
                }
            }
        });
        let text = format!(
            "{{reviewsAggregate: {{{}}}}}",
            rows.chain(compared).collect::<Vec<_>>().join(", ")
        );
        if self.is_negated {
            format!("{{NOT: {text}}}")
        } else {
            text
        }
    }

    pub(super) fn holds(&self, world: &World, product: &Product) -> bool {
        let rows = matching(world.of(product), &self.rows);
        let holds = self.compared.iter().all(|(aggregate, operator, value)| {
            compare(aggregate.of(&rows), operator, &aggregate.scalar(*value))
        });
        holds != self.is_negated
    }
}
