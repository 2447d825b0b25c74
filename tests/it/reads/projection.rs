//! However much of `data` a client selects, and wherever `data` comes from, a field has the same
//! value or the same error.
//!
//! `PROJECTION_ROUNDS=40` makes as many selections on each kind of views as it says.

use std::fmt::Write as _;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, cases};

#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum Mood {
    #[svc(stored = "good \"mood\"")]
    Good,
    Bad,
}

#[svc_type]
struct Part {
    text: Option<String>,
    number: Option<i32>,
}

macro_rules! item {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            n: i32,
            text: Option<String>,
            code: Option<ID>,
            number: Option<i32>,
            big: Option<i64>,
            float: Option<f64>,
            flag: Option<bool>,
            key: Option<Uuid>,
            at: Option<DateTime<Utc>>,
            day: Option<NaiveDate>,
            clock: Option<NaiveTime>,
            exact: Option<Decimal>,
            mood: Option<Mood>,
            any: Option<serde_json::Value>,
            part: Option<Part>,
            parts: Option<Vec<Option<Part>>>,
        }
    };
}

item!(ViewItem, "v_item");
item!(JsonItem, "v_item_json");
item!(TableItem, "tv_item");

#[svc::query]
async fn view() -> Vec<ViewItem>;
#[svc::query]
async fn json() -> Vec<JsonItem>;
#[svc::query]
async fn table() -> Vec<TableItem>;

const FIELDS: [&str; 15] = [
    "text",
    "code",
    "number",
    "big",
    "float",
    "flag",
    "key",
    "at",
    "day",
    "clock",
    "exact",
    "mood",
    "any",
    "part { text number }",
    "parts { number text }",
];

const ROWS: usize = 40;

/// Values of every kind for every field, right ones and wrong ones.
fn value(random: &mut StdRng, depth: usize) -> Value {
    let texts = [
        "",
        "plain",
        "ü😀",
        "say \"hi\"",
        "back\\slash",
        "line\nline\ttab\u{8}\u{c}\r",
        "\u{1}\u{1f}\u{7f}",
        "a/b",
        "12",
        "-9007199254740993",
        "1.50",
        "true",
        "null",
        "Bad",
        "good \"mood\"",
        "24C9E15E-52AF-C47C-225B-757E7BEE1F9D",
        "24c9e15e-52af-c47c-225b-757e7bee1f9d",
        "24c9e15e52afc47c225b757e7bee1f9d",
        "2024-02-29",
        "2023-02-29",
        "2024-12-31",
        "12:30:00",
        "12:30:00.5",
        "12:30",
        "23:59:60",
        "2024-02-29T12:30:00Z",
        "2024-03-31T12:30:00+00:00",
        "2024-03-31T12:30:00.120000+00:00",
        "2024-03-31T12:30:00.123456+00:00",
        "2024-03-31T12:30:00.5+02:00",
        "2024-02-30T12:30:00Z",
    ];
    let numbers = [
        "0",
        "7",
        "-7",
        "1.0",
        "1.50",
        "2147483647",
        "2147483648",
        "9007199254740993",
        "1e3",
        "0.1",
        "1e400",
    ];
    match random.random_range(0..if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => json!(random.random_bool(0.5)),
        2..4 => serde_json::from_str(numbers.choose(random).unwrap()).unwrap_or(json!(3)),
        4..8 => json!(texts.choose(random).unwrap()),
        8 => (0..random.random_range(0..3))
            .map(|_| value(random, depth - 1))
            .collect(),
        _ => {
            json!({ "text": value(random, depth - 1), "number": value(random, depth - 1), "other ü": [1, "}"] })
        }
    }
}

fn sql(random: &mut StdRng) -> String {
    let mut sql = "CREATE TABLE tv_item (data jsonb);\n".to_owned();
    for n in 0..ROWS {
        let mut row = json!({ "n": n });
        for field in FIELDS.map(|field| field.split(' ').next().unwrap()) {
            if random.random_bool(0.8) {
                row[field] = value(random, 2);
            }
        }
        let _ = writeln!(
            sql,
            "INSERT INTO tv_item VALUES ('{}');",
            row.to_string().replace('\'', "''")
        );
    }
    sql + "CREATE VIEW v_item AS SELECT data || '{}' AS data FROM tv_item;
           CREATE VIEW v_item_json AS SELECT data::text::json AS data FROM tv_item;"
}

/// The rows that `root` answers for `fields`, and the messages by path.
async fn ask(app: &App, root: &str, fields: &[&str]) -> (Vec<Value>, Vec<Value>) {
    let query = format!(
        "{{ rows: {root}(orderBy: [{{ n: ASC }}], limit: {ROWS}) {{ {} }} }}",
        fields.join(" ")
    );
    let reply = app.post(&json!({ "query": query })).await.json();
    let Value::Array(rows) = reply["data"]["rows"].clone() else {
        panic!("{query}: {reply}")
    };
    let errors = reply["errors"].as_array().cloned().unwrap_or_default();
    let errors = errors
        .iter()
        .map(|error| json!([error["path"], error["message"]]))
        .collect();
    (rows, errors)
}

#[tokio::test]
async fn a_field_is_the_same_however_much_is_selected() {
    let mut random = StdRng::seed_from_u64(17);
    let database = TestDatabase::new(&sql(&mut random)).await;
    let options = AppOptions::new()
        .config(SvcConfig {
            schema: svc::SchemaConfig {
                auto_camel_case: true,
                ..svc::SchemaConfig::default()
            },
            ..SvcConfig::default()
        })
        .database_url(database.url());
    let limits = svc::Limits {
        complexity: 10_000,
        errors: 10_000,
        ..svc::Limits::default()
    };
    let app = App::serve(options.limits(limits).queries(queries![view, json, table])).await;
    let (all, errors) = ask(&app, "json", &FIELDS).await;
    assert_eq!(all.len(), ROWS);
    assert!(errors.len() > ROWS, "wrong values are errors: {errors:?}");
    let rounds = usize::try_from(cases("PROJECTION_ROUNDS", 16, 40)).unwrap();
    for root in ["view", "json", "table"] {
        for round in 0..rounds {
            let mut fields = FIELDS.to_vec();
            fields.shuffle(&mut random);
            fields.truncate([1, 2, 3, FIELDS.len()][round % 4]);
            let (rows, found) = ask(&app, root, &fields).await;
            let names: Vec<_> = fields
                .iter()
                .map(|field| field.split(' ').next().unwrap())
                .collect();
            for (row, whole) in rows.iter().zip(&all) {
                for name in &names {
                    assert_eq!(
                        row[*name].to_string(),
                        whole[*name].to_string(),
                        "{name} of {root} with {names:?}"
                    );
                }
            }
            let mut expected: Vec<_> = errors
                .iter()
                .filter(|error| names.iter().any(|name| error[0][2] == *name))
                .collect();
            let mut found: Vec<_> = found.iter().collect();
            expected.sort_by_key(|error| error.to_string());
            found.sort_by_key(|error| error.to_string());
            assert_eq!(found, expected, "{root} with {names:?}");
        }
    }
}
