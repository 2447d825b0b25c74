//! Orders of products and reviews.

use std::cmp::Ordering;

use rand::Rng as _;
use rand::rngs::StdRng;

use super::super::model::{AGGREGATES, Aggregate, Product, Scalar, World};
use super::condition::{Condition, matching};
use super::pick;

/// A key of an order: by an aggregate of the reviews that match, or by a field.
#[derive(Clone)]
pub(super) enum Key {
    Aggregate(Option<Condition>, Aggregate, &'static str),
    Field(&'static str, &'static str),
}

pub(super) const DIRECTIONS: [&str; 6] = [
    "ASC",
    "DESC",
    "ASC_NULLS_FIRST",
    "ASC_NULLS_LAST",
    "DESC_NULLS_FIRST",
    "DESC_NULLS_LAST",
];

impl Key {
    pub(super) fn of_products(rng: &mut StdRng) -> Self {
        match rng.random_range(0..5) {
            0 => Self::Field("name", pick(&DIRECTIONS, rng)),
            _ => Self::Aggregate(
                Condition::maybe(rng),
                pick(&AGGREGATES, rng),
                pick(&DIRECTIONS, rng),
            ),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Field(field, direction) => format!("{{{field}: {direction}}}"),
            Self::Aggregate(rows, aggregate, direction) => {
                let rows = rows
                    .as_ref()
                    .map(|rows| format!("where: {}, ", rows.text()))
                    .unwrap_or_default();
                let by = match aggregate {
                    Aggregate::Count => format!("count: {direction}"),
                    Aggregate::Of(function, field) => {
                        format!("{function}: {{{field}: {direction}}}")
                    }
                };
                format!("{{reviewsAggregate: {{{rows}{by}}}}}")
            }
        }
    }

    fn direction(&self) -> &'static str {
        match self {
            Self::Field(_, direction) | Self::Aggregate(_, _, direction) => direction,
        }
    }

    pub(super) fn compare(&self, one: Option<Scalar>, other: Option<Scalar>) -> Ordering {
        let direction = self.direction();
        let is_descending = direction.starts_with("DESC");
        let nulls_first = direction.ends_with("FIRST") || direction == "DESC";
        let nulls = |is_first: bool| {
            if is_first == nulls_first {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        };
        match (one, other) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => nulls(true),
            (Some(_), None) => nulls(false),
            (Some(one), Some(other)) => {
                let order = one.partial_cmp(&other).expect("values of one type");
                if is_descending {
                    order.reverse()
                } else {
                    order
                }
            }
        }
    }
}

/// Whether the last unique key of an order is its largest first.
pub(super) fn id_order(order: &[Key], one: i32, other: i32) -> Ordering {
    let is_descending = order
        .last()
        .is_some_and(|key| key.direction().starts_with("DESC"));
    if is_descending {
        other.cmp(&one)
    } else {
        one.cmp(&other)
    }
}

pub(super) fn order_text(order: &[Key]) -> String {
    format!(
        "orderBy: [{}]",
        order.iter().map(Key::text).collect::<Vec<_>>().join(", ")
    )
}

pub(super) fn key_of(world: &World, product: &Product, key: &Key) -> Option<Scalar> {
    match key {
        Key::Field(..) => Some(Scalar::Text(product.name.clone())),
        Key::Aggregate(rows, aggregate, _) => aggregate.of(&matching(world.of(product), rows)),
    }
}
