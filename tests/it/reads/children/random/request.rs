//! Random requests, as text and as what they mean.

use std::cmp::Ordering;

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Map, Value, json};

use super::model::{AGGREGATES, Aggregate, Product, Review, Scalar, World, field_of};

/// A condition on reviews.
#[derive(Clone)]
enum Condition {
    Compare(&'static str, &'static str, f64),
    IsNull(&'static str, bool),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
}

/// A condition on products by what is computed over their reviews.
#[derive(Clone)]
struct Having {
    rows: Option<Condition>,
    compared: Vec<(Aggregate, &'static str, f64)>,
    is_negated: bool,
}

/// A key of an order: by an aggregate of the reviews that match, or by a field.
#[derive(Clone)]
enum Key {
    Aggregate(Option<Condition>, Aggregate, &'static str),
    Field(&'static str, &'static str),
}

/// A page of the reviews of each product.
#[derive(Clone)]
struct Page {
    rows: Option<Condition>,
    order: Vec<Key>,
    backward: bool,
    size: usize,
    /// The cursor that it goes on from, and the id of its row.
    past: Option<(String, i64)>,
}

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

const DIRECTIONS: [&str; 6] = [
    "ASC",
    "DESC",
    "ASC_NULLS_FIRST",
    "ASC_NULLS_LAST",
    "DESC_NULLS_FIRST",
    "DESC_NULLS_LAST",
];
const OPERATORS: [&str; 6] = ["eq", "neq", "gt", "gte", "lt", "lte"];

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

    fn maybe(rng: &mut StdRng) -> Option<Self> {
        rng.random_bool(0.5).then(|| Self::random(rng, 2))
    }

    fn text(&self) -> String {
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

fn matching<'r>(rows: Vec<&'r Review>, condition: &Option<Condition>) -> Vec<&'r Review> {
    rows.into_iter()
        .filter(|row| {
            condition
                .as_ref()
                .is_none_or(|condition| condition.holds(row))
        })
        .collect()
}

fn compare(value: Option<Scalar>, operator: &str, with: &Scalar) -> bool {
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

fn pick<T: Copy>(from: &[T], rng: &mut StdRng) -> T {
    *from.choose(rng).expect("something to choose from")
}

impl Having {
    fn random(rng: &mut StdRng) -> Self {
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

    fn text(&self) -> String {
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

    fn holds(&self, world: &World, product: &Product) -> bool {
        let rows = matching(world.of(product), &self.rows);
        let holds = self.compared.iter().all(|(aggregate, operator, value)| {
            compare(aggregate.of(&rows), operator, &aggregate.scalar(*value))
        });
        holds != self.is_negated
    }
}

impl Key {
    fn of_products(rng: &mut StdRng) -> Self {
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

    fn compare(&self, one: Option<Scalar>, other: Option<Scalar>) -> Ordering {
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
fn id_order(order: &[Key], one: i32, other: i32) -> Ordering {
    let is_descending = order
        .last()
        .is_some_and(|key| key.direction().starts_with("DESC"));
    if is_descending {
        other.cmp(&one)
    } else {
        one.cmp(&other)
    }
}

fn order_text(order: &[Key]) -> String {
    format!(
        "orderBy: [{}]",
        order.iter().map(Key::text).collect::<Vec<_>>().join(", ")
    )
}

impl Page {
    fn random(rng: &mut StdRng) -> Self {
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

    fn text(&self) -> String {
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

    fn expected(&self, world: &World, product: &Product) -> Value {
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

fn key_of(world: &World, product: &Product, key: &Key) -> Option<Scalar> {
    match key {
        Key::Field(..) => Some(Scalar::Text(product.name.clone())),
        Key::Aggregate(rows, aggregate, _) => aggregate.of(&matching(world.of(product), rows)),
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
