//! Variables are the parameters of the statement.

use serde_json::{Value, json};
use svc::Operation;

use super::schema::{Store, store};

const ECHO: &str = "query Echo($text: String, $id: UUID, $number: BigInt, $yes: Boolean, $at: DateTime, $color: Color, \
    $texts: [String], $wish: Wish, $json: JSON) {
    echo(text: $text, id: $id, number: $number, yes: $yes, at: $at, color: $color, texts: $texts, wish: $wish, json: $json)
}";

const ECHO_SQL: &str =
    "SELECT jsonb_build_object('text', $1::text, 'id', $2::uuid, 'number', $3::bigint, 'yes', $4::bool,
    'at', $5::timestamptz AT TIME ZONE 'UTC', 'color', $6::text, 'texts', to_jsonb($7::text[]), 'wish', $8::jsonb,
    'json', $9::jsonb, 'size', array_length($7::text[], 1)) AS echo";

async fn echo() -> Store {
    store([Operation::new(ECHO).sql(ECHO_SQL)]).await
}

#[tokio::test]
async fn each_kind_of_value_becomes_its_parameter() {
    let store = echo().await;
    let given = json!({
        "text": "it's \"$1\"", "id": "c4ca4238-a0b9-2382-0dcc-509a6f75849b", "number": 9007199254740993_i64, "yes": true,
        "at": "2024-02-29T23:59:59.5Z", "color": "RED", "texts": ["a", null, "b"],
        "wish": { "maxWidth": 7, "color": "BLUE", "words": ["x"] }, "json": { "k": [1, "two", null] },
    });
    let data = store.by_id("Echo", given).await.data();
    let expected = json!({
        "text": "it's \"$1\"", "id": "c4ca4238-a0b9-2382-0dcc-509a6f75849b", "number": 9007199254740993_i64, "yes": true,
        "at": "2024-02-29T23:59:59.5", "color": "r", "texts": ["a", null, "b"], "size": 3,
        "wish": { "max_width": 7, "color": "b", "words": ["x"] }, "json": { "k": [1, "two", null] },
    });
    assert_eq!(data["echo"], expected);
    let data = store
        .by_id(
            "Echo",
            json!({ "text": null, "texts": "one", "json": "text" }),
        )
        .await
        .data();
    let absent = json!({
        "text": null, "id": null, "number": null, "yes": null, "at": null, "color": null, "texts": ["one"], "size": 1,
        "wish": null, "json": "text",
    });
    assert_eq!(data["echo"], absent);
    assert_eq!(store.runs.get(), 0, "no function runs");
}

#[tokio::test]
async fn special_characters_in_values_have_no_meaning() {
    let store = echo().await;
    let texts = [
        "",
        " ",
        "'",
        "''",
        "\"",
        "\\",
        "\\'",
        "{}",
        "{a,b}",
        "NULL",
        "null",
        "$1",
        "$$",
        "%s",
        "a,b",
        "a\nb\tc",
        "--",
        "/*",
        "'; DROP TABLE tb_box; --",
        "ü😀\u{202e}",
        "(1,2)",
        "[1]",
        "\u{1}\u{7f}",
    ];
    for text in texts {
        let data = store
            .by_id(
                "Echo",
                json!({ "text": text, "texts": [text, text], "json": { text: text } }),
            )
            .await
            .data();
        assert_eq!(
            (&data["echo"]["text"], &data["echo"]["texts"]),
            (&json!(text), &json!([text, text])),
            "{text:?}"
        );
        assert_eq!(data["echo"]["json"], json!({ text: text }), "{text:?}");
    }
    for variables in [
        json!({ "text": "a\0" }),
        json!({ "texts": ["\0"] }),
        json!({ "json": { "\0": 1 } }),
    ] {
        let reply = store.by_id("Echo", variables).await;
        assert_eq!(
            (reply.code().as_str(), reply.message().as_str()),
            (
                "BAD_USER_INPUT",
                "strings cannot contain the character U+0000"
            )
        );
    }
    let crates = store.app.query("{ crates { id } }").await.data();
    assert_eq!(crates["crates"].as_array().map(Vec::len), Some(3));
}

/// A value that a parameter's type does not take is the client's mistake; every other error of the
/// statement is masked.
#[tokio::test]
async fn a_mismatched_value_is_a_client_error() {
    let store = store([
        Operation::new("query Number($text: String, $n: JSON) { echo(text: $text, json: $n) }")
            .sql("SELECT to_jsonb(100 / ($2::jsonb)::int + $1::int) AS echo"),
        Operation::new("query List($texts: [String]) { echo(texts: $texts) }")
            .sql("SELECT to_jsonb($1::text) AS echo"),
        Operation::new("query Object($wish: Wish) { echo(wish: $wish) }")
            .sql("SELECT to_jsonb($1::text[]) AS echo"),
    ])
    .await;
    assert_eq!(
        store
            .by_id("Number", json!({ "text": "1", "n": 5 }))
            .await
            .data()["echo"],
        21
    );
    let reply = store
        .by_id("Number", json!({ "text": "one", "n": 5 }))
        .await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert_eq!(
        reply.message(),
        "variable `$text`: invalid input syntax for type integer: \"one\""
    );
    let masked = [
        store.by_id("Number", json!({ "text": "1", "n": 0 })).await,
        store.by_id("List", json!({ "texts": ["a"] })).await,
        store
            .by_id("Object", json!({ "wish": { "maxWidth": 1, "words": [] } }))
            .await,
    ];
    for reply in masked {
        assert_eq!(
            (reply.code().as_str(), reply.message().as_str()),
            ("INTERNAL_SERVER_ERROR", "internal server error")
        );
        assert!(
            reply.json()["errors"][0]["extensions"]["errorId"].is_string(),
            "{}",
            reply.text
        );
    }
    assert_eq!(
        store
            .by_id("Number", json!({ "text": "1", "n": 5 }))
            .await
            .data()["echo"],
        21,
        "the service goes on"
    );
}

/// Parameters may be named in any order and several times, or not at all.
#[tokio::test]
async fn a_statement_needs_not_name_all_variables() {
    let document = "query Some($a: BigInt = 5, $b: String, $c: JSON, $on: Boolean!) { echo(number: $a, text: $b, json: $c) @include(if: $on) }";
    let store = store([Operation::new(document).sql(
        "SELECT to_jsonb(($3::jsonb)::int * ($3::jsonb)::int + coalesce($1, 0)) AS echo -- $9",
    )])
    .await;
    for (variables, expected) in [
        (json!({ "c": 3, "on": true }), json!({ "echo": 14 })),
        (
            json!({ "a": null, "b": "x", "c": 3, "on": true }),
            json!({ "echo": 9 }),
        ),
        (json!({ "on": true }), json!({ "echo": null })),
        (json!({ "on": false }), json!({})),
    ] {
        let reply = store.by_id("Some", variables.clone()).await;
        let data: Value = reply.json()["data"].clone();
        if expected["echo"].is_null() && variables["on"] == true {
            assert_eq!(
                reply.message(),
                "Cannot return null for non-nullable field Query.echo.",
                "{}",
                reply.text
            );
        } else {
            assert_eq!(data, expected, "{variables}: {}", reply.text);
        }
    }
}
