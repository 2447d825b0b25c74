//! Texts that break their type leave the other rows alone, whatever PostgreSQL refuses of them.
//!
//! `BROKEN_TEXTS_SEED=7` tries others than every run.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use svc::prelude::*;
use svc::scalar::{Cidr, DateRange, Duration, Inet, MacAddress, SearchVector};
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_broken_text")]
struct BrokenText {
    id: i32,
    day: Option<NaiveDate>,
    at: Option<DateTime<Utc>>,
    clock: Option<NaiveTime>,
    amount: Option<Decimal>,
    large: Option<i64>,
    flag: Option<bool>,
    key: Option<Uuid>,
    span: Option<Duration>,
    host: Option<Inet>,
    card: Option<MacAddress>,
    network: Option<Cidr>,
    stay: Option<DateRange>,
    words: Option<SearchVector>,
}

#[svc::query]
async fn broken_texts() -> Vec<BrokenText>;

#[svc::query]
async fn broken_text_statistics() -> Aggregate<BrokenText>;

#[svc_type(sql_source = "v_loose")]
struct Loose {
    id: i32,
    rank: Option<i32>,
    name: Option<String>,
    extra: Option<Value>,
}

#[svc::query]
async fn looses() -> Vec<Loose>;

#[svc::query]
async fn loose_statistics() -> Aggregate<Loose>;

/// The fields, the types of PostgreSQL as which they are read, and texts of each.
const FIELDS: [(&str, &str, &[&str]); 13] = [
    (
        "day",
        "date",
        &[
            "2024-02-29",
            "1900-02-29",
            "2000-02-29",
            "0000-01-01",
            "0004-02-29 BC",
            "4712-01-01 BC",
            "4800-01-01 BC",
            "2024-02-30",
            "infinity",
            "9999-12-31",
        ],
    ),
    (
        "at",
        "timestamptz",
        &[
            "2024-01-31T10:00:00Z",
            "1900-02-29T00:00:00Z",
            "2024-01-31T10:00:00+16",
            "2024-01-31T10:00:00-15:59",
            "2024-01-31 24:00:00",
            "2024-01-31T10:00:00+99:99",
            "294277-01-01T00:00:00Z",
            "4800-01-01T00:00:00Z BC",
            "2024-01-31T10:00:00.123456789012345678901234567890Z",
        ],
    ),
    (
        "clock",
        "time",
        &[
            "10:00:00",
            "24:00:00",
            "24:00:01",
            "23:59:60",
            "23:59:59.9999999",
            "25:00:00",
            "10:60:00",
        ],
    ),
    (
        "amount",
        "numeric",
        &[
            "1", "-1.5e10", "1e9999", "1e131073", "NaN", "Infinity", ".", "1e", "\u{a0}1",
            "\u{663}", "1_000",
        ],
    ),
    (
        "large",
        "numeric",
        &[
            "1",
            "-9223372036854775808",
            "9223372036854775808",
            "1.0",
            "\u{663}",
            "1e3",
        ],
    ),
    ("flag", "boolean", &["true", "f", "2", "yes", "maybe"]),
    (
        "key",
        "uuid",
        &[
            "aaaaaaaa-0000-4000-8000-000000000001",
            "aaaaaaaa00004000800000000000000",
            "aaaaaaaa-0000-4000-8000-00000000000g",
        ],
    ),
    (
        "span",
        "interval",
        &[
            "P1DT2H",
            "1 day 02:00:00",
            "P",
            "PT",
            "P9999999999Y",
            "1 day1 mon",
            "P1Y1Y",
            "-00:00:01",
        ],
    ),
    (
        "host",
        "inet",
        &[
            "10.0.0.1",
            "10.0.0.256",
            "10.0.0.1/33",
            "10.0.0.1/8",
            "10.0.0",
            "2001:db8::1",
            "::1",
            "::",
            "1:2:3:4:5:6:7:8/64",
            "::ffff:10.0.0.1",
            "fe80::/129",
            "1::2::3",
        ],
    ),
    (
        "card",
        "macaddr8",
        &[
            "01:02:03:04:05:06",
            "01:02:03:04:05:06:07:08",
            "01:02:03:04:05:06:07",
            "01:02:03:04:05:0g",
        ],
    ),
    (
        "network",
        "cidr",
        &[
            "10.0.0.0/8",
            "10.0.0.1/8",
            "10.0.0.1/32",
            "2001:db8::/32",
            "2001:db8::1/32",
            "10.0.0.1",
        ],
    ),
    (
        "stay",
        "daterange",
        &[
            "[2024-01-01,2024-02-01)",
            "[2024-02-01,2024-01-01)",
            "empty",
            "[2024-01-01,)",
            "(,2024-01-01)",
            "[2024-02-30,2024-03-01)",
            "[infinity,2024-01-01]",
            "[2024-01-01",
        ],
    ),
    (
        "words",
        "tsvector",
        &[
            "'cat':2 'sat':3",
            "'",
            "''",
            "a fat cat",
            "'it''s':1A,2",
            "cat:0",
            "cat:1x",
            "\\",
        ],
    ),
];

/// More texts in the form in which svc writes them, besides the first of each field.
const CANONICAL: [(&str, &str); 10] = [
    ("host", "2001:db8::1"),
    ("host", "::1"),
    ("host", "::"),
    ("host", "1:2:3:4:5:6:7:8/64"),
    ("host", "::ffff:10.0.0.1"),
    ("network", "10.0.0.1/32"),
    ("network", "2001:db8::/32"),
    ("stay", "empty"),
    ("stay", "[2024-01-01,)"),
    ("stay", "(,2024-01-01)"),
];

/// Characters that texts of these types have, and some that are taken for them elsewhere.
const CHARACTERS: &str = "0123456789-+:. TZeEPYMDWHSabf\u{a0}\u{2003}\u{663}BC,/";

/// A text of a type with a letter more, less, or another one.
fn altered(text: &str, rng: &mut StdRng) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = rng.random_range(0..letters.len());
    let other = *CHARACTERS.chars().collect::<Vec<_>>().choose(rng).unwrap();
    match rng.random_range(0..3) {
        0 => letters[at] = other,
        1 => letters.insert(at, other),
        _ => drop(letters.remove(at)),
    }
    letters.into_iter().collect()
}

const SQL: &str = "
    CREATE TABLE tb_broken_text (id serial PRIMARY KEY, field text NOT NULL, value text NOT NULL);
    CREATE VIEW v_broken_text AS SELECT id, jsonb_build_object('id', id, field, value) AS data FROM tb_broken_text;
    CREATE FUNCTION is_valid(value text, type text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE format('SELECT %L::%s', value, type); RETURN true; EXCEPTION WHEN OTHERS THEN RETURN false; END $$;";

fn seed() -> u64 {
    std::env::var("BROKEN_TEXTS_SEED").map_or(2_026, |text| {
        text.parse().expect("BROKEN_TEXTS_SEED is a number")
    })
}

async fn fill(database: &TestDatabase) {
    let (rng, pool) = (&mut StdRng::seed_from_u64(seed()), database.pool().await);
    for (field, _, texts) in FIELDS {
        let altered = (0..300)
            .map(|_| altered(texts.choose(rng).unwrap(), rng))
            .filter(|text| !text.is_empty());
        let all: Vec<String> = texts
            .iter()
            .map(|text| (*text).to_owned())
            .chain(altered)
            .collect();
        let insert =
            sqlx::query("INSERT INTO tb_broken_text (field, value) SELECT $1, unnest($2::text[])");
        insert.bind(field).bind(&all).execute(&pool).await.unwrap();
    }
    pool.close().await;
}

#[tokio::test]
async fn invalid_texts_do_not_break_filters_of_other_rows() {
    let database = TestDatabase::new(SQL).await.uncounted().await;
    fill(&database).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![broken_texts, broken_text_statistics])).await;
    let pool = database.pool().await;
    for (field, ty, texts) in FIELDS {
        let accepted = "SELECT id FROM tb_broken_text WHERE field = $1 AND is_valid(value, $2)";
        let accepted: Vec<i32> = sqlx::query_scalar(accepted)
            .bind(field)
            .bind(ty)
            .fetch_all(&pool)
            .await
            .unwrap();
        let accepted: BTreeSet<i64> = accepted.into_iter().map(i64::from).collect();
        let found = app
            .query(&format!(
                "{{ brokenTexts(where: {{ {field}: {{ isnull: false }} }}) {{ id }} }}"
            ))
            .await
            .data();
        let found: BTreeSet<i64> = found["brokenTexts"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|row| row["id"].as_i64())
            .collect();
        assert!(
            found.is_subset(&accepted),
            "{field}: {:?}",
            found.difference(&accepted).collect::<Vec<_>>()
        );
        // The first of them is in the form in which svc writes it.
        let more = CANONICAL
            .iter()
            .filter(|(of, _)| *of == field)
            .map(|(_, text)| *text);
        for text in [texts[0]].into_iter().chain(more) {
            let canonical =
                "SELECT id FROM tb_broken_text WHERE field = $1 AND value = $2 ORDER BY id LIMIT 1";
            let canonical: i32 = sqlx::query_scalar(canonical)
                .bind(field)
                .bind(text)
                .fetch_one(&pool)
                .await
                .unwrap();
            assert!(found.contains(&i64::from(canonical)), "{field}: {text}");
        }
        // Documents are ordered by rank.
        if field == "words" {
            continue;
        }
        let ordered = app
            .query(&format!(
                "{{ brokenTexts(orderBy: [{{ {field}: ASC }}]) {{ id }} }}"
            ))
            .await
            .data();
        assert!(
            !ordered["brokenTexts"].as_array().unwrap().is_empty(),
            "{field}"
        );
    }
    // Infinite dates are valid in PostgreSQL alone.
    for (field, least, most) in [
        ("day", "-004000-01-01", "9999-12-31"),
        ("at", "-004000-01-01T00:00:00Z", "9999-12-31T00:00:00Z"),
    ] {
        let filter = format!("where: {{ {field}: {{ gte: \"{least}\", lte: \"{most}\" }} }}");
        let query = format!(
            "{{ brokenTextStatistics({filter}) {{ min {{ {field} }} max {{ {field} }} count }} }}"
        );
        let statistics = app.query(&query).await.data()["brokenTextStatistics"].clone();
        assert!(
            statistics["count"].as_i64() > Some(1) && statistics["min"][field].is_string(),
            "{statistics}"
        );
    }
    pool.close().await;
}

/// Documents of `json`, of which `jsonb` takes the first and the last.
const LOOSE: &str = r#"
    CREATE TABLE tb_loose (data json, extra json);
    INSERT INTO tb_loose VALUES
        ('{"id": 1, "rank": 2, "name": "\u00e9 \ud83d\ude00 \\u0000 \\\\ud83d"}', '{"a": 1}'),
        ('{"id": 2, "rank": 5, "name": "\u0000"}', '{"a": 1}'),
        ('{"id": 3, "rank": 6, "name": "\\\ud83d"}', '{"a": 1}'),
        ('{"id": 4, "rank": 7, "far": 1e200000}', '{"a": 1}'),
        ('{"id": 5, "rank": 1, "name": "1e200000"}', '{"a": "\u0000"}');
    CREATE VIEW v_loose AS SELECT data, extra FROM tb_loose;"#;

/// `json` may hold what `jsonb` does not: U+0000, half a pair of surrogates, too large numbers.
#[tokio::test]
async fn documents_rejected_by_jsonb_do_not_affect_other_rows() {
    let database = TestDatabase::new(LOOSE).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![looses, loose_statistics])).await;
    for (arguments, expected) in [
        (
            "where: {rank: {gte: 1}}, orderBy: [{rank: ASC}]",
            json!([5, 1]),
        ),
        ("where: {name: {contains: \"u0000\"}}", json!([1])),
        ("where: {name: {eq: \"1e200000\"}}", json!([5])),
        ("orderBy: [{id: ASC}], limit: 2", json!([1, 5])),
        (
            "where: {extra: {contains: {a: 1}}, rank: {lte: 2}}",
            json!([1]),
        ),
        // More conditions read the document once.
        (
            "where: {rank: {gte: 1, lte: 9, neq: 2}, id: {gte: 1, lte: 9}, name: {isnull: false}}",
            json!([5]),
        ),
    ] {
        let found = app
            .query(&format!("{{ looses({arguments}) {{ id }} }}"))
            .await
            .data();
        let ids: Value = found["looses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].clone())
            .collect();
        assert_eq!(ids, expected, "{arguments}");
    }

    // A sum of all rows lacks values that nobody can read.
    let statistics = "{ looseStatistics { count sum { rank } } }";
    let reply = app.query(statistics).await.json();
    assert_eq!(
        reply["data"]["looseStatistics"],
        json!({"count": 5, "sum": {"rank": null}}),
        "{reply}"
    );
    let path = json!(["looseStatistics", "sum", "rank"]);
    assert_eq!(reply["errors"][0]["path"], path, "{reply}");

    let statistics = "{ looseStatistics(where: {rank: {gte: 1}}) { count sum { rank } } }";
    assert_eq!(
        app.query(statistics).await.data()["looseStatistics"],
        json!({"count": 2, "sum": {"rank": 3}})
    );
}
