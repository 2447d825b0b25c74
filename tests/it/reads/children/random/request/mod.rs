//! Random requests, as text and as what they mean.

mod condition;
mod having;
mod order;
mod page;

use std::cmp::Ordering;

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Map, Value, json};

use super::model::{AGGREGATES, Aggregate, Product, World};
use condition::{Condition, matching};
use having::Having;
use order::{Key, id_order, key_of, order_text};
use page::Page;

/// A request for products.
#[derive(Clone)]
pub(super) struct Request {
    root: usize,
    having: Option<Having>,
    order: Vec<Key>,
    limit: usize,
    page: Page,
    computed: (Option<Condition>, Vec<Aggregate>),
}

impl Request {
    pub(super) fn random(rng: &mut StdRng) -> Self {
        let aggregates = AGGREGATES
            .iter()
            .filter(|_| rng.random_bool(0.3))
            .copied()
            .collect();
        Self {
            root: rng.random_range(0..4),
            having: rng.random_bool(0.6).then(|| Having::random(rng)),
            order: (0..rng.random_range(0..3))
                .map(|_| Key::of_products(rng))
                .collect(),
            limit: rng.random_range(1..6),
            page: Page::random(rng),
            computed: (Condition::maybe(rng), aggregates),
        }
    }

    /// Takes one of the cursors of an answer to go on from; `false` where there is none.
    pub(super) fn go_on(&mut self, rng: &mut StdRng, cursors: &[(String, i64)]) -> bool {
        self.page.past = cursors.choose(rng).cloned();
        self.page.past.is_some()
    }

    pub(super) fn text(&self) -> String {
        let rows = self
            .having
            .as_ref()
            .map(|having| format!("where: {}, ", having.text()))
            .unwrap_or_default();
        let (order, limit) = (order_text(&self.order), self.limit);
        let children = format!("id {} {}", self.page.text(), self.computed_text());
        match self.root {
            0 => format!("{{ answer: products({rows}{order}, limit: {limit}) {{ {children} }} }}"),
            1 => format!(
                "{{ answer: products({rows}{order}, limit: {limit}) {{ shout {children} }} }}"
            ),
            2 => format!(
                "{{ answer: pages({rows}{order}, first: {limit}) {{ nodes {{ {children} }} }} }}"
            ),
            _ => format!("{{ answer: held {{ {children} }} }}"),
        }
    }

    fn computed_text(&self) -> String {
        let rows = self
            .computed
            .0
            .as_ref()
            .map(|rows| format!("(where: {})", rows.text()))
            .unwrap_or_default();
        let fields = self
            .computed
            .1
            .iter()
            .enumerate()
            .map(|(index, aggregate)| match aggregate {
                Aggregate::Count => format!("a{index}: count"),
                Aggregate::Of(function, field) => format!("a{index}: {function} {{ {field} }}"),
            });
        let fields: Vec<_> = fields.collect();
        format!(
            "computed: reviewsAggregate{rows} {{ {} groups(by: [STARS]) {{ key {{ stars }} count }} }}",
            fields.join(" ")
        )
    }

    pub(super) fn expected(&self, world: &World) -> Value {
        let mut products: Vec<&Product> = world.products.iter().collect();
        if self.root < 3 {
            products.retain(|product| {
                self.having
                    .as_ref()
                    .is_none_or(|having| having.holds(world, product))
            });
            products.sort_by(|one, other| {
                let order = self.order.iter().fold(Ordering::Equal, |order, key| {
                    order.then_with(|| {
                        key.compare(key_of(world, one, key), key_of(world, other, key))
                    })
                });
                order.then_with(|| id_order(&self.order, one.id, other.id))
            });
            products.truncate(self.limit);
        }
        let rows: Vec<Value> = products
            .into_iter()
            .map(|product| self.product(world, product))
            .collect();
        if self.root == 2 {
            json!({"nodes": rows})
        } else {
            json!(rows)
        }
    }

    fn product(&self, world: &World, product: &Product) -> Value {
        let rows = matching(world.of(product), &self.computed.0);
        let mut computed = Map::new();
        for (index, aggregate) in self.computed.1.iter().enumerate() {
            let value = match aggregate {
                Aggregate::Count => aggregate.json(&rows),
                Aggregate::Of(_, field) => json!({*field: aggregate.json(&rows)}),
            };
            computed.insert(format!("a{index}"), value);
        }
        let stars = |stars: i32| rows.iter().filter(|row| row.stars == stars).count();
        let groups = (1..7)
            .filter(|star| stars(*star) > 0)
            .map(|star| json!({"key": {"stars": star}, "count": stars(star)}));
        computed.insert("groups".to_owned(), groups.collect());
        let mut answer = json!({"id": product.id, "page": self.page.expected(world, product), "computed": computed});
        if self.root == 1 {
            answer["shout"] = json!(product.name.to_uppercase());
        }
        answer
    }
}

/// The cursors in an answer, with the ids of their rows.
pub(super) fn cursors(answer: &Value) -> Vec<(String, i64)> {
    match answer {
        Value::Array(items) => items.iter().flat_map(cursors).collect(),
        Value::Object(fields) => match (fields.get("cursor"), fields.get("node")) {
            (Some(Value::String(cursor)), Some(node)) => {
                vec![(cursor.clone(), node["id"].as_i64().expect("an id"))]
            }
            _ => fields.values().flat_map(cursors).collect(),
        },
        _ => Vec::new(),
    }
}

fn pick<T: Copy>(from: &[T], rng: &mut StdRng) -> T {
    *from.choose(rng).expect("something to choose from")
}
