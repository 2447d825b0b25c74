//! Values of each kind: few enough that filters meet rows, and the forms in which clients and
//! databases write them.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Value, json};

use super::fields::Kind;

/// The writer of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Writer {
    Client,
    Database,
}

pub(super) const TEXTS: [&str; 18] = [
    "",
    "a",
    "A",
    "ab",
    "Ab_c",
    "100%",
    "1000",
    "a_b",
    "\\",
    "o'clock",
    "\"",
    "$1",
    "{0} %s",
    "é",
    "🦀 crab",
    "\u{202e}abc",
    "printer.local",
    "null",
];

pub(super) const SEARCH_WORDS: [&str; 4] = ["cat", "dog", "bird", "fish"];
const UUIDS: [&str; 3] = [
    "00000000-0000-0000-0000-0000000000aa",
    "00000000-0000-0000-0000-0000000000bb",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
];
const DATES: [&str; 5] = [
    "0001-01-01",
    "1999-12-31",
    "2024-02-29",
    "2024-03-01",
    "9999-12-31",
];
const INSTANTS: [[&str; 3]; 4] = [
    [
        "2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00+00:00",
        "2024-01-01T02:00:00+02:00",
    ],
    [
        "2024-01-01T00:00:00.500Z",
        "2024-01-01T00:00:00.5Z",
        "2023-12-31T19:00:00.50-05:00",
    ],
    [
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:00.000Z",
        "1970-01-01T05:30:00+05:30",
    ],
    [
        "2023-12-31T23:00:00Z",
        "2024-01-01T00:00:00+01:00",
        "2023-12-31T23:00:00-00:00",
    ],
];
const HOSTS: [[&str; 2]; 9] = [
    ["10.0.0.1", "10.0.0.1/32"],
    ["10.0.0.2/8", "10.0.0.2/8"],
    ["172.31.255.255", "172.31.255.255/32"],
    ["172.32.0.0", "172.32.0.0"],
    ["192.168.1.0/24", "192.168.1.0/24"],
    ["127.0.0.1", "127.0.0.1/32"],
    ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1"],
    ["::1", "0:0:0:0:0:0:0:1/128"],
    ["fd00::1/64", "FD00:0::1/64"],
];
const NETS: [[&str; 2]; 7] = [
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["10.1.0.0/16", "10.1.0.0/16"],
    ["10.0.0.1/32", "10.0.0.1"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["192.168.1.0/24", "192.168.1.0/24"],
    ["2001:db8::/32", "2001:DB8:0::/32"],
    ["fc00::/8", "fc00:0::/8"],
];
const MACS: [[&str; 3]; 3] = [
    ["08:00:2b:01:02:03", "08-00-2B-01-02-03", "0800.2b01.0203"],
    ["08:00:2b:01:02:04", "08002b010204", "08002B-010204"],
    ["ff:ff:ff:ff:ff:ff", "FF:FF:FF:FF:FF:FF", "ffff.ffff.ffff"],
];
const PATHS: [&str; 6] = [
    "",
    "Top",
    "Top.Science",
    "Top.Science.Stars",
    "Top.Arts",
    "top.science",
];
const RANGES: [[&str; 2]; 6] = [
    ["[2024-01-01,2024-02-01)", "[2024-01-01,2024-01-31]"],
    ["[2024-02-01,2024-03-01)", "(2024-01-31,2024-03-01)"],
    ["[2024-01-15,2024-02-15)", "[2024-01-15,2024-02-14]"],
    ["(,2024-01-01)", "(,2023-12-31]"],
    ["[2024-03-01,)", "(2024-02-29,)"],
    ["empty", "empty"],
];
/// As clients write them, as PostgreSQL does, and as months, days and seconds.
pub(super) const DURATIONS: [(&str, &str, [i64; 3]); 7] = [
    ("P1M", "1 mon", [1, 0, 0]),
    ("P30D", "30 days", [0, 30, 0]),
    ("PT1H", "01:00:00", [0, 0, 3_600]),
    ("PT24H", "24:00:00", [0, 0, 86_400]),
    ("P1D", "P1D", [0, 1, 0]),
    (
        "P1Y2M3DT4H5M6S",
        "1 year 2 mons 3 days 04:05:06",
        [14, 3, 14_706],
    ),
    ("P-1D", "-1 days", [0, -1, 0]),
];

/// A value in its one form.
pub(super) fn value(kind: Kind, rng: &mut StdRng) -> Value {
    fn one<T: Copy>(rng: &mut StdRng, pool: &[T]) -> T {
        *pool.choose(rng).expect("a pool")
    }
    match kind {
        Kind::Text => json!(one(rng, &TEXTS)),
        Kind::Slug => json!(one(
            rng,
            &[
                "a",
                "ab",
                "a-b",
                "1000",
                "crab-00",
                "o-clock",
                "printer-local"
            ]
        )),
        Kind::Id => json!(rng.random_range(0..5).to_string()),
        Kind::UuidText | Kind::Uuid => json!(one(rng, &UUIDS)),
        Kind::Mood => json!(one(rng, &["GLAD", "SO_SO", "SAD"])),
        Kind::Int => json!(one(rng, &[-1, 0, 1, 9, 10, 100, i32::MAX])),
        Kind::BigInt => json!(one(
            rng,
            &["0", "42", "-7", "9007199254740993", "9223372036854775807"]
        )),
        Kind::Total => json!(one(rng, &["0", "1", "100"])),
        Kind::Step => json!(one(rng, &[-1, 0, 2, 10])),
        Kind::Float => {
            json!(one(
                rng,
                &[
                    0.1,
                    0.5,
                    -1.25,
                    3.0,
                    9.0,
                    10.0,
                    1e21,
                    51.248178375505404,
                    -93.31137037688033
                ]
            ))
        }
        Kind::Decimal => json!(one(
            rng,
            &[
                "0",
                "1.1",
                "19.9",
                "-2.50",
                "12345678901234567890.123456",
                "0.1234567890123456789012345678"
            ]
        )),
        Kind::Bool => json!(rng.random_bool(0.5)),
        Kind::Date => json!(one(rng, &DATES)),
        Kind::Time => json!(one(
            rng,
            &["00:00:00", "09:30:00", "10:00:00", "23:59:59.500"]
        )),
        Kind::Instant => json!(one(rng, &INSTANTS)[0]),
        Kind::Json => document(rng.random_range(0..8)),
        Kind::Inet => json!(one(rng, &HOSTS)[0]),
        Kind::Cidr => json!(one(rng, &NETS)[0]),
        Kind::Mac => json!(one(rng, &MACS)[0]),
        Kind::Path => json!(one(rng, &PATHS)),
        Kind::Dates => json!(one(rng, &RANGES)[0]),
        Kind::Duration => json!(one(rng, &DURATIONS).0),
        Kind::Percentage => json!(one(rng, &[0.0, 12.5, 99.9, 100.0])),
        Kind::Port => json!(one(rng, &[22, 80, 443, 65_535])),
        Kind::Search => json!(vector(rng)),
        Kind::List(kind) => (0..rng.random_range(0..4))
            .map(|_| value(*kind, rng))
            .collect(),
        Kind::Object(_) | Kind::Objects(_) => unreachable!("objects are made of their fields"),
    }
}

fn document(index: usize) -> Value {
    let documents = [
        json!({ "k": [1, 2.5], "s": "ü" }),
        json!({ "k": 51.248178375505404, "n": null }),
        json!({ "s": "'; --", "o": { "a": 1, "b": [true] } }),
        json!(["k", "s", 1]),
        json!("k"),
        json!(1),
        json!([]),
        json!({}),
    ];
    documents[index].clone()
}

/// Words with their positions, as PostgreSQL prints them.
fn vector(rng: &mut StdRng) -> String {
    let words: Vec<_> = (0..rng.random_range(0..4))
        .map(|_| *SEARCH_WORDS.choose(rng).expect("a word"))
        .collect();
    let mut known: Vec<_> = words.clone();
    known.sort_unstable();
    known.dedup();
    let places = |word: &str| {
        let places = words
            .iter()
            .enumerate()
            .filter(|(_, other)| **other == word);
        places
            .map(|(place, _)| (place + 1).to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    known
        .iter()
        .map(|word| format!("'{word}':{}", places(word)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The value as someone may write it.
pub(super) fn spelled(kind: Kind, value: &Value, writer: Writer, rng: &mut StdRng) -> Value {
    let text = value.as_str().unwrap_or_default();
    let any = |rng: &mut StdRng, forms: &[&str]| json!(forms.choose(rng).expect("a form"));
    match kind {
        Kind::Id if writer == Writer::Database => json!(text.parse::<i64>().expect("a number")),
        Kind::Mood if writer == Writer::Database => json!(match text {
            "GLAD" => "glad",
            "SO_SO" => "so so",
            other => other,
        }),
        Kind::Uuid => any(rng, &[text, &text.to_uppercase()]),
        Kind::BigInt | Kind::Total if rng.random_bool(0.5) => {
            json!(text.parse::<i64>().expect("a number"))
        }
        Kind::Decimal if text == "1.1" => [json!(1.1), json!("1.10"), json!("1.100")]
            .choose(rng)
            .expect("a form")
            .clone(),
        Kind::Instant => any(
            rng,
            INSTANTS
                .iter()
                .find(|forms| forms[0] == text)
                .expect("a known value"),
        ),
        Kind::Inet => any(
            rng,
            HOSTS
                .iter()
                .find(|forms| forms[0] == text)
                .expect("a known value"),
        ),
        Kind::Cidr => any(
            rng,
            NETS.iter()
                .find(|forms| forms[0] == text)
                .expect("a known value"),
        ),
        Kind::Mac => any(
            rng,
            MACS.iter()
                .find(|forms| forms[0] == text)
                .expect("a known value"),
        ),
        Kind::Dates => any(
            rng,
            RANGES
                .iter()
                .find(|forms| forms[0] == text)
                .expect("a known value"),
        ),
        Kind::Duration if writer == Writer::Database => any(
            rng,
            &[
                text,
                DURATIONS
                    .iter()
                    .find(|forms| forms.0 == text)
                    .expect("a known value")
                    .1,
            ],
        ),
        Kind::List(kind) => value
            .as_array()
            .expect("a list")
            .iter()
            .map(|item| spelled(*kind, item, writer, rng))
            .collect(),
        _ => value.clone(),
    }
}
