//! Random queries for groups of random rows are answered as a plain evaluation answers them, on
//! all three kinds of views.
//!
//! `GROUPS_SEED=7` asks others than every run, and `GROUP_CASES=2000` as many as it says.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use svc_tests::{App, TestDatabase, cases, seed};

use super::plain::{Computed, Condition, GroupQuery, Key};
use super::rows::{Cell, FIELDS, Rows, date, decimal, random};
use super::{options, sql};

/// The seed of every run.
const SEED: u64 = 2_026;
const CASES: u64 = 80;
/// Cases of the long suite.
const LONG: u64 = 2_000;
const ROWS: usize = 60;
const DIRECTIONS: [&str; 6] = [
    "ASC",
    "DESC",
    "ASC_NULLS_FIRST",
    "ASC_NULLS_LAST",
    "DESC_NULLS_FIRST",
    "DESC_NULLS_LAST",
];
const KEYS: [&str; 23] = [
    "channel",
    "city",
    "pieces",
    "price",
    "weight",
    "soldOn",
    "soldAt",
    "paid",
    "shopId",
    "shop.id",
    "shop.name",
    "shop.country",
    "soldOn/year",
    "soldOn/quarter",
    "soldOn/month",
    "soldOn/week",
    "soldOn/day",
    "soldAt/year",
    "soldAt/quarter",
    "soldAt/month",
    "soldAt/week",
    "soldAt/day",
    "soldAt/hour",
];

fn one<T: Copy>(values: &[T], rng: &mut StdRng) -> T {
    values[rng.random_range(0..values.len())]
}

/// Something that is computed; averages have more digits than are compared, so they are not shown.
fn computed(is_shown: bool, rng: &mut StdRng) -> Computed {
    let functions = ["count", "countDistinct", "sum", "min", "max", "avg"];
    let function = one(&functions[..if is_shown { 5 } else { 6 }], rng);
    let fields: &[&str] = match function {
        "count" | "countDistinct" => &FIELDS,
        "sum" | "avg" => &["pieces", "price", "weight"],
        _ => &["city", "pieces", "price", "weight", "soldOn", "soldAt"],
    };
    Computed {
        function,
        field: if function == "count" {
            "id"
        } else {
            one(fields, rng)
        },
    }
}

/// A value to compare with what is computed.
fn value(computed: &Computed, rng: &mut StdRng) -> Cell {
    match (computed.function, computed.field) {
        ("count" | "countDistinct", _) => Cell::Number(rng.random_range(0..7), 1),
        (_, "city") => Cell::Text(one(&["aalen", "bonn", "c", "ulm"], rng).to_owned()),
        (_, "soldOn") => Cell::Text(date(19_662 + rng.random_range(0..460))),
        (_, "soldAt") => Cell::Text(format!(
            "{}T00:00:00Z",
            date(19_662 + rng.random_range(0..460))
        )),
        (_, "price") => Cell::Number(rng.random_range(0..30) * 25, 100),
        ("avg", _) | (_, "weight") => Cell::Number(rng.random_range(-4..16), 2),
        _ => Cell::Number(rng.random_range(-3..12), 1),
    }
}

fn condition(depth: u32, rng: &mut StdRng) -> Condition {
    if depth > 0 && rng.random_bool(0.4) {
        let all = (0..rng.random_range(0..3))
            .map(|_| condition(depth - 1, rng))
            .collect();
        return match rng.random_range(0..3) {
            0 => Condition::All(all),
            1 => Condition::Any(all),
            _ => Condition::Not(Box::new(condition(depth - 1, rng))),
        };
    }
    let computed = computed(false, rng);
    if rng.random_bool(0.1) {
        return Condition::IsNull(computed, rng.random());
    }
    let value = value(&computed, rng);
    // Texts have no order in filters.
    let operators = ["eq", "neq", "gt", "gte", "lt", "lte"];
    let operators = &operators[..if computed.field == "city" && computed.function != "countDistinct"
    {
        2
    } else {
        6
    }];
    Condition::Compare(computed, one(operators, rng), value)
}

fn group_query(rng: &mut StdRng) -> GroupQuery {
    let mut by = Vec::new();
    for _ in 0..one(&[0, 1, 1, 1, 2, 2, 3], rng) {
        let key = one(&KEYS, rng);
        if !by.contains(&key) {
            by.push(key);
        }
    }
    let shown: Vec<_> = by
        .iter()
        .copied()
        .filter(|_| rng.random_bool(0.8))
        .collect();
    let key = |rng: &mut StdRng| match rng.random_range(0..2) {
        0 if !by.is_empty() => Key::Value(one(&by, rng)),
        _ => Key::Of(computed(false, rng)),
    };
    let order = (0..rng.random_range(0..3))
        .map(|_| (key(rng), one(&DIRECTIONS, rng)))
        .collect();
    let computed = (0..rng.random_range(1..4))
        .map(|_| computed(true, rng))
        .collect();
    GroupQuery {
        pieces_above: rng.random_bool(0.4).then(|| rng.random_range(-4..9)),
        having: rng.random_bool(0.6).then(|| condition(2, rng)),
        limit: rng.random_bool(0.5).then(|| rng.random_range(0..8)),
        offset: if rng.random_bool(0.3) {
            rng.random_range(0..5)
        } else {
            0
        },
        by,
        shown,
        computed,
        order,
    }
}

/// `soldOn/month` as a member of `by`: `SOLD_ON_MONTH`.
fn member(key: &str) -> String {
    let mut name = String::new();
    for char in key.replace('.', "__").replace('/', "_").chars() {
        if char.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(char.to_ascii_uppercase());
    }
    name
}

/// `soldOn/month` as a field of `key`: `soldOnMonth`.
fn field(key: &str) -> String {
    match key.split_once('/') {
        Some((field, period)) => format!("{field}{}{}", period[..1].to_uppercase(), &period[1..]),
        None => key.to_owned(),
    }
}

/// Something inside of what leads to it: `{shop: {name: …}}`, without the outermost braces.
fn nested(path: &str, inner: &str) -> String {
    match path.split_once('.') {
        Some((relation, field)) => format!("{relation}: {{{field}: {inner}}}"),
        None => format!("{}: {inner}", field(path)),
    }
}

fn of(computed: &Computed, inner: &str) -> String {
    match computed.function {
        "count" => format!("count: {inner}"),
        function => format!("{function}: {{{}: {inner}}}", computed.field),
    }
}

fn literal(computed: &Computed, value: &Cell) -> String {
    match value {
        Cell::Number(cents, 100) if computed.field == "price" => format!("\"{}\"", decimal(*cents)),
        Cell::Number(numerator, 1) => numerator.to_string(),
        Cell::Number(numerator, denominator) => {
            (*numerator as f64 / *denominator as f64).to_string()
        }
        Cell::Text(text) => format!("\"{text}\""),
        other => panic!("{other:?}"),
    }
}

fn having(condition: &Condition) -> String {
    let list = |all: &[Condition]| all.iter().map(having).collect::<Vec<_>>().join(", ");
    match condition {
        Condition::All(all) => format!("{{AND: [{}]}}", list(all)),
        Condition::Any(any) => format!("{{OR: [{}]}}", list(any)),
        Condition::Not(inner) => format!("{{NOT: {}}}", having(inner)),
        Condition::IsNull(computed, is_null) => {
            format!("{{{}}}", of(computed, &format!("{{isnull: {is_null}}}")))
        }
        Condition::Compare(computed, operator, value) => {
            format!(
                "{{{}}}",
                of(
                    computed,
                    &format!("{{{operator}: {}}}", literal(computed, value))
                )
            )
        }
    }
}

impl GroupQuery {
    /// The arguments of the aggregate, and what is selected of it.
    fn text(&self) -> (String, String) {
        let above = self
            .pieces_above
            .map(|above| format!("(where: {{pieces: {{gt: {above}}}}})"))
            .unwrap_or_default();
        let mut arguments = vec![format!(
            "by: [{}]",
            self.by
                .iter()
                .map(|key| member(key))
                .collect::<Vec<_>>()
                .join(", ")
        )];
        arguments.extend(
            self.having
                .iter()
                .map(|condition| format!("having: {}", having(condition))),
        );
        let order = self.order.iter().map(|(key, direction)| match key {
            Key::Of(computed) => format!("{{{}}}", of(computed, direction)),
            Key::Value(key) => format!("{{key: {{{}}}}}", nested(key, direction)),
        });
        arguments.push(format!(
            "orderBy: [{}]",
            order.collect::<Vec<_>>().join(", ")
        ));
        arguments.extend(self.limit.map(|limit| format!("limit: {limit}")));
        arguments.push(format!("offset: {}", self.offset));
        (
            above,
            format!(
                "{{ groups({}) {{ {} }} }}",
                arguments.join(", "),
                self.selection()
            ),
        )
    }

    fn selection(&self) -> String {
        let mut selection = String::new();
        for (at, key) in self.shown.iter().enumerate() {
            selection += &match key.split_once('.') {
                Some((relation, field)) => {
                    format!("key {{ s{at}: {relation} {{ k{at}: {field} }} }} ")
                }
                None => format!("key {{ k{at}: {} }} ", field(key)),
            };
        }
        for (at, computed) in self.computed.iter().enumerate() {
            selection += &match computed.function {
                "count" => format!("c{at}: count "),
                function => format!("c{at}: {function} {{ v: {} }} ", computed.field),
            };
        }
        selection
    }
}

/// The number of groups that were found.
async fn check(app: &App, rows: &Rows, group_query: &GroupQuery) -> usize {
    let (arguments, selection) = group_query.text();
    let roots = ["columns", "data", "table"];
    let document: Vec<_> = roots
        .iter()
        .map(|root| format!("{root}{arguments} {selection}"))
        .collect();
    let reply = app.query(&format!("{{ {} }}", document.join(" "))).await;
    let answer = reply.json();
    assert_eq!(
        answer.get("errors"),
        None,
        "{arguments} {selection}: {answer:#}"
    );
    let expected = group_query.answer(rows);
    for root in roots {
        let found = &answer["data"][root]["groups"];
        assert_eq!(*found, expected, "{root}{arguments} {selection}");
    }
    expected.as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn random_groups_match_a_plain_evaluation() {
    let seed = seed("GROUPS_SEED", SEED);
    let cases = cases("GROUP_CASES", CASES, LONG);
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = random(ROWS, &mut rng);
    let database = TestDatabase::new(&sql(&rows.sql())).await.uncounted().await;
    let app = App::serve(options(&database)).await;
    let mut found = 0;
    for _ in 0..cases {
        found += check(&app, &rows, &group_query(&mut rng)).await;
    }
    assert!(found as u64 > cases, "the queries hardly find groups");
}
