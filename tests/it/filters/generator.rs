//! Random filters.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Map, Value, json};

use super::fields::{Field, Kind};
use super::values::{SEARCH_WORDS, TEXTS, Writer, spelled, value};

/// A filter; each level of nesting makes the next less likely.
pub(super) fn filter(fields: &'static [Field], depth: u32, rng: &mut StdRng) -> Value {
    let mut filter = Map::new();
    for _ in 0..rng.random_range(1..=2) {
        let nests = depth > 0 && rng.random_bool(0.3);
        let (name, condition) = match rng.random_range(0..3) {
            0 if nests => ("AND", filters(fields, depth, rng)),
            1 if nests => ("OR", filters(fields, depth, rng)),
            2 if nests => ("NOT", self::filter(fields, depth - 1, rng)),
            _ => {
                let Field(name, kind) = *fields.choose(rng).expect("a field");
                (name, condition(kind, depth, rng))
            }
        };
        filter.insert(name.to_owned(), condition);
    }
    filter.into()
}

fn filters(fields: &'static [Field], depth: u32, rng: &mut StdRng) -> Value {
    (0..rng.random_range(0..4))
        .map(|_| filter(fields, depth - 1, rng))
        .collect()
}

/// The condition on one field.
pub(super) fn condition(kind: Kind, depth: u32, rng: &mut StdRng) -> Value {
    let mut condition = Map::new();
    match kind {
        Kind::Object(fields) => return filter(fields, depth.saturating_sub(1), rng),
        Kind::Objects(fields) => {
            let quantifier = *["some", "every", "none"].choose(rng).expect("a quantifier");
            condition.insert(
                quantifier.to_owned(),
                filter(fields, depth.saturating_sub(1), rng),
            );
        }
        kind => {
            for _ in 0..rng.random_range(1..=2) {
                let operator = *operators(kind).choose(rng).expect("an operator");
                condition.insert(operator.to_owned(), operand(kind, operator, rng));
            }
        }
    }
    condition.into()
}

/// The operators of a kind, by the table of docs/queries.md.
pub(super) fn operators(kind: Kind) -> Vec<&'static str> {
    const EQUALITY: &[&str] = &["eq", "neq", "isnull"];
    const MEMBERSHIP: &[&str] = &["in", "nin"];
    let groups: &[&[&str]] = match kind {
        Kind::Text | Kind::Slug | Kind::Id | Kind::UuidText => &[EQUALITY, MEMBERSHIP, TEXT],
        Kind::Mood | Kind::Uuid | Kind::Mac => &[EQUALITY, MEMBERSHIP],
        Kind::Bool => &[EQUALITY],
        Kind::Json => &[
            EQUALITY,
            &[
                "has_key",
                "has_any_keys",
                "has_all_keys",
                "contains",
                "contained_by",
                "path_exists",
            ],
        ],
        Kind::Inet | Kind::Cidr => &[EQUALITY, MEMBERSHIP, NETWORK],
        Kind::Path => &[EQUALITY, MEMBERSHIP, PATH],
        Kind::Dates => &[
            EQUALITY,
            &[
                "contains_date",
                "overlaps",
                "adjacent",
                "strictly_left",
                "strictly_right",
            ],
        ],
        Kind::Search => &[&[
            "isnull",
            "matches",
            "plain_query",
            "phrase_query",
            "websearch_query",
        ]],
        Kind::List(_) => &[&["isnull"], LIST],
        _ => &[EQUALITY, MEMBERSHIP, &["gt", "gte", "lt", "lte"]],
    };
    groups.concat()
}

const TEXT: &[&str] = &[
    "contains",
    "icontains",
    "startswith",
    "istartswith",
    "endswith",
    "iendswith",
    "like",
    "ilike",
    "matches",
    "imatches",
];
const NETWORK: &[&str] = &[
    "in_subnet",
    "in_range",
    "is_private",
    "is_ipv4",
    "is_ipv6",
    "is_loopback",
];
const PATH: &[&str] = &[
    "ancestor_of",
    "descendant_of",
    "matches_lquery",
    "nlevel_eq",
    "nlevel_gte",
    "nlevel_lte",
];
const LIST: &[&str] = &[
    "contains",
    "contained_by",
    "overlaps",
    "is_empty",
    "len_eq",
    "len_gt",
    "len_gte",
    "len_lt",
    "len_lte",
];

fn operand(kind: Kind, operator: &str, rng: &mut StdRng) -> Value {
    let given = |kind: Kind, rng: &mut StdRng| {
        let value = stranger(kind, rng).unwrap_or_else(|| value(kind, rng));
        spelled(kind, &value, Writer::Client, rng)
    };
    match (operator, kind) {
        ("isnull" | "is_empty" | "is_private" | "is_ipv4" | "is_ipv6" | "is_loopback", _) => {
            json!(rng.random_bool(0.5))
        }
        ("eq" | "neq" | "gt" | "in", _) if rng.random_bool(0.05) => Value::Null,
        ("contains" | "contained_by" | "overlaps", Kind::List(element)) => (0..rng
            .random_range(0..3))
            .map(|_| given(*element, rng))
            .collect(),
        (
            "len_eq" | "len_gt" | "len_gte" | "len_lt" | "len_lte" | "nlevel_eq" | "nlevel_gte"
            | "nlevel_lte",
            _,
        ) => {
            json!(rng.random_range(-1..4))
        }
        ("in" | "nin", kind) => (0..rng.random_range(0..4))
            .map(|_| given(kind, rng))
            .collect(),
        ("has_key", _) => json!(key(rng)),
        ("has_any_keys" | "has_all_keys", _) => {
            (0..rng.random_range(0..3)).map(|_| key(rng)).collect()
        }
        ("path_exists", _) => {
            let key = key(rng);
            if rng.random_bool(0.5) {
                json!(format!("$.{key}"))
            } else {
                json!(format!("$.{key}[*] ? (@ > 2)"))
            }
        }
        ("in_range", kind) => range(kind, rng),
        ("matches_lquery", _) => json!(format!(
            "*.{}.*",
            ["Top", "Science", "top"].choose(rng).expect("a label")
        )),
        ("contains_date", _) => value(Kind::Date, rng),
        ("matches" | "plain_query" | "phrase_query" | "websearch_query", Kind::Search) => {
            json!(query(operator, rng))
        }
        ("matches" | "imatches", _) => {
            json!(
                *[
                    "a",
                    "^a",
                    "b$",
                    "^",
                    "$",
                    "^10",
                    "crab$",
                    "00",
                    "[.]local$",
                    "xyz"
                ][..8]
                    .choose(rng)
                    .expect("one")
            )
        }
        ("like" | "ilike", _) => {
            json!(
                *["%", "a%", "A_", "_b%", "100\\%", "%\\_b", "", "%É", "__"]
                    .choose(rng)
                    .expect("one")
            )
        }
        ("eq" | "neq" | "gt" | "gte" | "lt" | "lte", kind) => given(kind, rng),
        (_, Kind::Slug) if rng.random_bool(0.5) => value(Kind::Slug, rng),
        (_, Kind::Text | Kind::Slug | Kind::Id | Kind::UuidText) => json!(part(rng)),
        (_, kind) => given(kind, rng),
    }
}

/// A value that no row has, and that the column may not even be able to hold.
fn stranger(kind: Kind, rng: &mut StdRng) -> Option<Value> {
    if !rng.random_bool(0.15) {
        return None;
    }
    Some(match kind {
        Kind::Id => json!(
            ["abc", "007", "-1", "99999999999999999999", ""]
                .choose(rng)
                .expect("one")
        ),
        Kind::UuidText => json!(
            ["abc", "", "urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8"]
                .choose(rng)
                .expect("one")
        ),
        Kind::Step => json!([1.5, 1e300, -0.5].choose(rng).expect("one")),
        Kind::BigInt | Kind::Total => json!("-9223372036854775808"),
        Kind::Float => json!([1e-300, -1e300].choose(rng).expect("one")),
        Kind::Decimal => json!("0.0000000001"),
        _ => return None,
    })
}

fn key(rng: &mut StdRng) -> &'static str {
    ["k", "s", "n", "o", "absent"].choose(rng).expect("a key")
}

fn part(rng: &mut StdRng) -> String {
    let text: Vec<char> = TEXTS.choose(rng).expect("a text").chars().collect();
    let start = rng.random_range(0..=text.len());
    let end = rng.random_range(start..=text.len());
    text[start..end].iter().collect()
}

/// Both of one family, as anything else is refused.
fn range(kind: Kind, rng: &mut StdRng) -> Value {
    let [from, to] = [(); 2].map(|()| value(kind, rng));
    let is_v6 = |value: &Value| value.as_str().is_some_and(|text| text.contains(':'));
    let to = if is_v6(&from) == is_v6(&to) {
        to
    } else {
        from.clone()
    };
    json!({ "from": from, "to": to })
}

fn query(operator: &str, rng: &mut StdRng) -> String {
    let [one, two, three] = [(); 3].map(|()| *SEARCH_WORDS.choose(rng).expect("a word"));
    let forms = match operator {
        "plain_query" | "phrase_query" => [
            format!("{one} {two}"),
            one.to_owned(),
            format!("{one} {two} {three}"),
        ],
        "websearch_query" => [
            format!("{one} -{two}"),
            format!("{one} {two} or {three}"),
            format!("{one} \"{two} {three}\""),
        ],
        _ => [
            format!("{one} & !{two}"),
            format!("{one} | {two} & {three}"),
            format!("{one} <-> {two}"),
        ],
    };
    forms.choose(rng).expect("a form").clone()
}
