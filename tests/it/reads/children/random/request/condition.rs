//! Conditions on reviews.

use rand::Rng as _;
use rand::rngs::StdRng;

use super::super::model::{Aggregate, Review, Scalar, field_of};
use super::pick;

/// A condition on reviews.
#[derive(Clone)]
pub(super) enum Condition {
    Compare(&'static str, &'static str, f64),
    IsNull(&'static str, bool),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
}

pub(super) const OPERATORS: [&str; 6] = ["eq", "neq", "gt", "gte", "lt", "lte"];

impl Condition {
    fn random(rng: &mut StdRng, depth: u32) -> Self {
        let inner = |rng: &mut StdRng| Box::new(Self::random(rng, depth - 1));
        match rng.random_range(0..6) {
            0 if depth > 0 => Self::Not(inner(rng)),
            1 if depth > 0 => Self::And(inner(rng), inner(rng)),
            2 => Self::IsNull(
                ["body", "weight"][rng.random_range(0..2)],
                rng.random_bool(0.5),
            ),
            3 => Self::Compare(
                "weight",
                pick(&OPERATORS, rng),
                f64::from(rng.random_range(-8..9)) / 4.0,
            ),
            4 => Self::Compare(
                "body",
                pick(&["eq", "neq"], rng),
                f64::from(rng.random_range(0..3)),
            ),
            _ => Self::Compare(
                "stars",
                pick(&OPERATORS, rng),
                f64::from(rng.random_range(0..7)),
            ),
        }
    }

    pub(super) fn maybe(rng: &mut StdRng) -> Option<Self> {
        rng.random_bool(0.5).then(|| Self::random(rng, 2))
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Compare(field, operator, value) => {
                format!(
                    "{{{field}: {{{operator}: {}}}}}",
                    Aggregate::Of("min", field).literal(*value)
                )
            }
            Self::IsNull(field, is_null) => format!("{{{field}: {{isnull: {is_null}}}}}"),
            Self::Not(inner) => format!("{{NOT: {}}}", inner.text()),
            Self::And(one, other) => format!("{{AND: [{}, {}]}}", one.text(), other.text()),
        }
    }

    fn holds(&self, row: &Review) -> bool {
        match self {
            Self::Compare(field, operator, value) => compare(
                field_of(row, field),
                operator,
                &Aggregate::Of("min", field).scalar(*value),
            ),
            Self::IsNull(field, is_null) => field_of(row, field).is_none() == *is_null,
            Self::Not(inner) => !inner.holds(row),
            Self::And(one, other) => one.holds(row) && other.holds(row),
        }
    }
}

pub(super) fn matching<'r>(
    rows: Vec<&'r Review>,
    condition: &Option<Condition>,
) -> Vec<&'r Review> {
    rows.into_iter()
        .filter(|row| {
            condition
                .as_ref()
                .is_none_or(|condition| condition.holds(row))
        })
        .collect()
}

pub(super) fn compare(value: Option<Scalar>, operator: &str, with: &Scalar) -> bool {
    let Some(value) = value else {
        return operator == "neq";
    };
    let order = value.partial_cmp(with).expect("values of one type");
    match operator {
        "eq" => order.is_eq(),
        "neq" => order.is_ne(),
        "gt" => order.is_gt(),
        "gte" => order.is_ge(),
        "lt" => order.is_lt(),
        _ => order.is_le(),
    }
}
