//! Numbers beyond the range of JSON, doubles or columns.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

macro_rules! number {
    ($name:ident, $source:literal, $list:ident) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            big: Option<i64>,
            price: Option<Decimal>,
            ratio: Option<f64>,
        }

        #[svc_type]
        impl $name {
            /// Selecting it reads whole rows.
            fn price_again(&self) -> Option<Decimal> {
                self.price
            }
        }

        #[svc::query]
        async fn $list() -> Vec<$name>;
    };
}

number!(ColumnNumber, "c_number", columns);
number!(DataNumber, "d_number", data);
number!(TableNumber, "tv_number", table);

#[svc::query]
fn echo(big: Option<i64>, price: Option<Decimal>, ratio: Option<f64>) -> Vec<Option<String>> {
    vec![
        big.map(|big| big.to_string()),
        price.map(|price| price.to_string()),
        ratio.map(|ratio| ratio.to_string()),
    ]
}

const SQL: &str = "
CREATE TABLE tb_number (id int, big bigint, price numeric, ratio float8);
INSERT INTO tb_number VALUES
  (1, 9007199254740991, 12345678901234567890.1234567890, 1e308),
  (2, 9007199254740993, 123456789012345678901234567890, 0.1),
  (3, -9223372036854775808, 0.000000000000000000000000000001, 5e-324),
  (4, 9223372036854775807, -99999999999999999999999999999.9, -0.5),
  (8, 1, 1.234567890123456789, 1),
  (5, 1, 'NaN', 'NaN'), (6, 1, 'Infinity', 'Infinity'), (7, 1, '-Infinity', '-Infinity');
";

const ROOTS: [&str; 3] = ["columns", "data", "table"];

async fn app() -> App {
    let url = TestDatabase::shared(
        "exact_numbers",
        &(SQL.to_owned() + &three_views("number", "id")),
    )
    .await;
    App::serve(
        AppOptions::new()
            .database_url(url)
            .queries(queries![columns, data, table, echo]),
    )
    .await
}

/// Each digit survives on the way out, and finds its row on the way in.
#[tokio::test]
async fn large_numbers_are_exact() {
    let app = app().await;
    let rows = [
        (
            json!(9_007_199_254_740_991_i64),
            "12345678901234567890.1234567890",
            json!(1e308),
        ),
        (
            json!("9007199254740993"),
            "123456789012345678901234567890",
            json!(0.1),
        ),
        (
            json!("-9223372036854775808"),
            "0.000000000000000000000000000001",
            json!(5e-324),
        ),
        (
            json!("9223372036854775807"),
            "-99999999999999999999999999999.9",
            json!(-0.5),
        ),
    ];
    for root in ROOTS {
        for (id, (big, price, ratio)) in (1..).zip(&rows) {
            let row = json!([{ "id": id, "big": big, "price": price, "ratio": ratio }]);
            for condition in [
                json!({ "id": { "eq": id } }),
                json!({ "big": { "eq": big } }),
                json!({ "ratio": { "eq": ratio } }),
            ] {
                let ty = format!(
                    "{}{}Number",
                    root[..1].to_uppercase(),
                    root[1..].trim_end_matches('s')
                );
                let query = format!(
                    "query ($w: {ty}Where) {{ {root}(where: $w) {{ id big price ratio }} }}"
                );
                let reply = app.query_with(&query, json!({ "w": condition })).await;
                assert_eq!(reply.data()[root], row, "{root} {condition}");
            }
        }
    }
}

/// A number of 30 digits filters exactly or is refused, and never finds its neighbour.
#[tokio::test]
async fn thirty_digits_filter_exactly_or_not_at_all() {
    let app = app().await;
    for root in ROOTS {
        for (price, id) in [
            ("12345678901234567890.1234567890", Some(1)),
            ("12345678901234567890.1234567891", None),
            ("123456789012345678901234567890", Some(2)),
            ("123456789012345678901234567891", None),
            ("0.000000000000000000000000000001", Some(3)),
            ("-99999999999999999999999999999.9", Some(4)),
            ("-99999999999999999999999999999.8", None),
        ] {
            // As a string and as a number: every digit of a literal counts.
            for literal in [format!("\"{price}\""), price.to_owned()] {
                let reply = app
                    .query(&format!(
                        "{{ {root}(where: {{price: {{eq: {literal}}}}}) {{ id }} }}"
                    ))
                    .await;
                if reply.json().get("errors").is_some() {
                    assert_eq!(
                        reply.code(),
                        "GRAPHQL_VALIDATION_FAILED",
                        "{root} {literal}: {}",
                        reply.text
                    );
                } else {
                    let expected = id.map_or(json!([]), |id| json!([{ "id": id }]));
                    assert_eq!(reply.data()[root], expected, "{root} {literal}");
                }
            }
            // Every digit of a JSON number counts as well.
            let query = format!(
                "query ($price: Decimal!) {{ {root}(where: {{price: {{eq: $price}}}}) {{ id }} }}"
            );
            let body = format!(
                "{{\"query\":{},\"variables\":{{\"price\":{price}}}}}",
                json!(query)
            );
            let request = app
                .request("POST", "/graphql")
                .header("content-type", "application/json")
                .body(body);
            let expected = id.map_or(json!([]), |id| json!([{ "id": id }]));
            assert_eq!(
                app.send(request).await.data()[root],
                expected,
                "{root} {price}"
            );
        }
    }
}

/// A method gets the exact number, or its row fails.
#[tokio::test]
async fn thirty_digits_reach_a_method_or_fail() {
    let app = app().await;
    for root in ROOTS {
        for (id, price) in [
            (1, "12345678901234567890.1234567890"),
            (2, "123456789012345678901234567890"),
            (3, "0.000000000000000000000000000001"),
            (4, "-99999999999999999999999999999.9"),
            (8, "1.234567890123456789"),
        ] {
            let reply = app
                .query(&format!(
                    "{{ {root}(where: {{id: {{eq: {id}}}}}) {{ price_again }} }}"
                ))
                .await;
            if reply.json().get("errors").is_some() {
                assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR", "{}", reply.text);
                assert!(![1, 8].contains(&id), "its digits fit: {}", reply.text);
            } else {
                let got = reply.data()[root][0]["price_again"]
                    .as_str()
                    .unwrap()
                    .to_owned();
                assert_eq!(
                    got.trim_end_matches('0'),
                    price.trim_end_matches('0'),
                    "{root} {id}"
                );
            }
        }
    }
}

/// JSON has no NaN and no infinity, so the field is null, with an error that names it.
#[tokio::test]
async fn numbers_that_json_lacks_fail_only_their_field() {
    let app = app().await;
    for root in ROOTS {
        for id in [5, 6, 7] {
            let reply = app
                .query(&format!(
                    "{{ {root}(where: {{id: {{eq: {id}}}}}) {{ id ratio price big }} }}"
                ))
                .await;
            let json = reply.json();
            assert_eq!(json["data"][root][0]["id"], id, "{root}: {}", reply.text);
            assert_eq!(json["data"][root][0]["big"], 1);
            assert_eq!(json["data"][root][0]["ratio"], Value::Null);
            let errors = json["errors"].as_array().unwrap();
            assert!(
                errors
                    .iter()
                    .any(|error| error["path"] == json!([root, 0, "ratio"])),
                "{}",
                reply.text
            );
            // A number of the type Decimal is a text, which may hold the word.
            if json["data"][root][0]["price"].is_null() {
                assert!(
                    errors
                        .iter()
                        .any(|error| error["path"] == json!([root, 0, "price"])),
                    "{}",
                    reply.text
                );
            }
        }
    }
}

/// On the way in, what does not fit is refused and what fits keeps its digits.
#[tokio::test]
async fn numbers_of_clients_fit_or_are_refused() {
    let app = app().await;
    for (arguments, expected) in [
        (
            r#"big: "9223372036854775807""#,
            json!(["9223372036854775807", null, null]),
        ),
        (
            r#"big: "-9223372036854775808""#,
            json!(["-9223372036854775808", null, null]),
        ),
        (
            "big: 9007199254740993",
            json!(["9007199254740993", null, null]),
        ),
        (
            r#"price: "1234567890123456789.012345678""#,
            json!([null, "1234567890123456789.012345678", null]),
        ),
        ("ratio: 1e308", json!([null, null, 1e308_f64.to_string()])),
    ] {
        assert_eq!(
            app.query(&format!("{{ echo({arguments}) }}")).await.data()["echo"],
            expected,
            "{arguments}"
        );
    }
    for arguments in [
        r#"big: "9223372036854775808""#,
        "big: 9223372036854775808",
        r#"big: "1.5""#,
        "big: 1e40",
        "ratio: 1e400",
        r#"ratio: "NaN""#,
        r#"price: "NaN""#,
        r#"price: "Infinity""#,
        r#"price: "123456789012345678901234567890.5""#,
        r#"price: "1234567890123456789012345678.12""#,
        "ratio: NaN",
    ] {
        let reply = app.query(&format!("{{ echo({arguments}) }}")).await;
        assert!(
            ["GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"].contains(&reply.code().as_str()),
            "{arguments}: {}",
            reply.text
        );
    }
}
