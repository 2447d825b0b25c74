//! Pages of the reviews of each product.

use std::cmp::Ordering;

use rand::Rng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::super::model::{Product, Review, World, field_of};
use super::condition::{Condition, matching};
use super::order::{DIRECTIONS, Key, id_order, order_text};
use super::pick;

/// A page of the reviews of each product.
#[derive(Clone)]
pub(super) struct Page {
    rows: Option<Condition>,
    order: Vec<Key>,
    backward: bool,
    size: usize,
    /// The cursor that it goes on from, and the id of its row.
    pub(super) past: Option<(String, i64)>,
}

impl Page {
    pub(super) fn random(rng: &mut StdRng) -> Self {
        let key = |rng: &mut StdRng| {
            Key::Field(
                pick(&["stars", "weight", "body"], rng),
                pick(&DIRECTIONS, rng),
            )
        };
        let order = (0..rng.random_range(0..3)).map(|_| key(rng)).collect();
        let (backward, size) = (rng.random_bool(0.3), rng.random_range(0..5));
        Self {
            rows: Condition::maybe(rng),
            order,
            backward,
            size,
            past: None,
        }
    }

    pub(super) fn text(&self) -> String {
        let rows = self
            .rows
            .as_ref()
            .map(|rows| format!("where: {}, ", rows.text()))
            .unwrap_or_default();
        let past = match (&self.past, self.backward) {
            (None, _) => String::new(),
            (Some((cursor, _)), false) => format!("after: {cursor:?}, "),
            (Some((cursor, _)), true) => format!("before: {cursor:?}, "),
        };
        let size = if self.backward { "last" } else { "first" };
        let order = order_text(&self.order);
        format!(
            "page: reviewsConnection({rows}{past}{size}: {}, {order}) {{ totalCount edges {{ cursor node {{ id }} }} pageInfo {{ hasNextPage hasPreviousPage }} }}",
            self.size
        )
    }

    fn compare(&self, one: &Review, other: &Review) -> Ordering {
        let of = |key: &Key| match key {
            Key::Field(field, _) => key.compare(field_of(one, field), field_of(other, field)),
            Key::Aggregate(..) => Ordering::Equal,
        };
        self.order
            .iter()
            .fold(Ordering::Equal, |order, key| order.then_with(|| of(key)))
            .then_with(|| id_order(&self.order, one.id, other.id))
    }

    pub(super) fn expected(&self, world: &World, product: &Product) -> Value {
        let mut rows = matching(world.of(product), &self.rows);
        rows.sort_by(|one, other| self.compare(one, other));
        let total = rows.len();
        let place = self.past.as_ref().map(|(_, id)| {
            world
                .reviews
                .iter()
                .find(|row| i64::from(row.id) == *id)
                .expect("the row of the cursor")
        });
        let is_past = |row: &&Review| {
            place.is_none_or(|place| {
                let order = self.compare(row, place);
                if self.backward {
                    order.is_lt()
                } else {
                    order.is_gt()
                }
            })
        };
        let beyond = rows.iter().any(|row| !is_past(row));
        let mut page: Vec<&Review> = rows.into_iter().filter(is_past).collect();
        let more = page.len() > self.size;
        if self.backward {
            page.drain(..page.len().saturating_sub(self.size));
        } else {
            page.truncate(self.size);
        }
        let (next, previous) = if self.backward {
            (beyond, more)
        } else {
            (more, beyond)
        };
        let edges: Vec<Value> = page
            .iter()
            .map(|row| json!({"node": {"id": row.id}}))
            .collect();
        json!({"totalCount": total, "edges": edges, "pageInfo": {"hasNextPage": next, "hasPreviousPage": previous}})
    }
}
