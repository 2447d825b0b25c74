//! Exceptions that carry fields.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_result]
enum RaiseResult {
    Success,
    Error {
        clash: Option<svc::serde_json::Value>,
        retry_after: Option<i32>,
        extra: Option<svc::serde_json::Value>,
    },
}

#[svc::query]
fn nothing() -> bool {
    true
}
#[svc::mutation(function = "fn_raise")]
async fn raise(detail: Option<String>, hint: Option<String>) -> RaiseResult;
#[svc::mutation(function = "fn_raise", name = "plain")]
async fn raise_plain(detail: Option<String>, hint: Option<String>) -> Option<bool>;

const SQL: &str = r#"
CREATE TABLE tb_note (text text);
CREATE FUNCTION fn_raise(detail text, hint text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tb_note VALUES ('left');
    IF detail IS NULL AND hint IS NULL THEN
        RAISE EXCEPTION 'no';
    ELSIF hint IS NULL THEN
        RAISE EXCEPTION 'no' USING DETAIL = detail;
    ELSIF detail IS NULL THEN
        RAISE EXCEPTION 'no' USING HINT = hint;
    END IF;
    RAISE EXCEPTION 'no' USING DETAIL = detail, HINT = hint;
END $$;"#;

async fn app() -> App {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url());
    App::serve(
        options
            .queries(queries![nothing])
            .mutations(mutations![raise, raise_plain]),
    )
    .await
}

const FIELDS: &str = "{ ... on RaiseError { status message code retryAfter errors { code identifier message details } } }";

async fn run(app: &App, field: &str, detail: Value, hint: Value) -> svc_tests::Reply {
    let selection = if field == "plain" { "" } else { FIELDS };
    let query = format!(
        "mutation ($d: String, $h: String) {{ it: {field}(detail: $d, hint: $h) {selection} }}"
    );
    app.query_with(&query, json!({ "d": detail, "h": hint }))
        .await
}

#[tokio::test]
async fn json_in_detail_or_hint_makes_the_error() {
    let app = app().await;
    let text = json!({
        "status": "validation:form",
        "errors": [
            { "identifier": "too_short", "message": "the name is too short", "field": "name" },
            { "code": 409, "identifier": "taken", "details": { "by": "ada" }, "field": "email" },
        ],
        "extensions": { "retry_after": 3, "status": "mine", "code": "mine" },
    })
    .to_string();
    let errors = json!([
        { "code": 422, "identifier": "too_short", "message": "the name is too short", "details": { "field": "name" } },
        { "code": 409, "identifier": "taken", "message": "no", "details": { "by": "ada", "field": "email" } },
    ]);
    for (detail, hint) in [
        (json!(text), Value::Null),
        (Value::Null, json!(text)),
        (json!(text), json!("look")),
    ] {
        let reply = run(&app, "raise", detail.clone(), hint.clone()).await;
        assert_eq!(
            reply.data()["it"],
            json!({ "status": "validation:form", "message": "no", "code": 422, "retryAfter": 3, "errors": errors })
        );
        let reply = run(&app, "plain", detail, hint).await;
        let extensions = json!({
            "code": "BAD_USER_INPUT", "status": "validation:form", "errors": errors, "retry_after": 3, "mutation": "NOT_DONE",
        });
        assert_eq!(
            reply.json()["errors"][0]["extensions"],
            extensions,
            "{}",
            reply.text
        );
        assert_eq!(reply.message(), "no");
    }
    let reply = run(
        &app,
        "plain",
        json!(r#"{"code": 404, "identifier": "gone", "field": "id"}"#),
        Value::Null,
    )
    .await;
    assert_eq!(reply.code(), "NOT_FOUND");
    let one =
        json!({ "code": 404, "identifier": "gone", "message": "no", "details": { "field": "id" } });
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["errors"],
        json!([one])
    );
}

/// Details often hold rows, so any key that has no meaning here makes it none of the client's.
#[tokio::test]
async fn any_other_detail_stays_in_the_log() {
    let app = app().await;
    for detail in [
        "row 7 of s3cret",
        r#"{"id": 7, "name": "s3cret"}"#,
        r#"{"code": 409, "password": "s3cret"}"#,
        r#"{"code": 200, "identifier": "s3cret"}"#,
        r#"{"status": "created", "identifier": "s3cret"}"#,
        r#"["s3cret"]"#,
        r#"{"identifier": "s3cret""#,
    ] {
        for field in ["raise", "plain"] {
            let reply = run(&app, field, json!(detail), Value::Null).await;
            assert!(
                !reply.text.contains("s3cret") && reply.text.contains("failed:raised"),
                "{}",
                reply.text
            );
        }
    }
    let reply = run(&app, "raise", json!("s3cret"), json!("come back at nine")).await;
    assert_eq!(
        reply.data()["it"]["errors"][0]["details"],
        json!({ "hint": "come back at nine" })
    );
}

/// Numbers that no double holds lose neither the status nor their digits.
#[tokio::test]
async fn numbers_of_any_size_keep_their_digits_in_errors() {
    let app = app().await;
    let long = "9".repeat(200);
    for (number, in_extensions) in [
        ("1e400", "\"1e400\""),
        (&*long, &*format!("\"{long}\"")),
        ("0.12345678901234567890123", "\"0.12345678901234567890123\""),
        ("123456789012345678901", "\"123456789012345678901\""),
        ("2.50", "2.5"),
        ("18446744073709551615", "18446744073709551615"),
        ("-7", "-7"),
    ] {
        let errors = format!(
            r#"[{{"identifier": "a", "details": {{"n": {number}}}}}, {{"identifier": "b"}}]"#
        );
        for detail in [
            format!(
                r#"{{"status": "conflict:x", "errors": {errors}, "extensions": {{"extra": {number}}}}}"#
            ),
            format!(
                r#"{{"code": 409, "details": {{"n": {number}}}, "extensions": {{"extra": {number}}}}}"#
            ),
        ] {
            let query = "mutation ($d: String) { raise(detail: $d) { ... on RaiseError { extra code errors { details } } } }";
            let reply = app.query_with(query, json!({ "d": detail })).await;
            let begin = format!(
                r#"{{"data":{{"raise":{{"extra":{number},"code":409,"errors":[{{"details":{{"n":{number}}}}}"#
            );
            assert!(reply.text.starts_with(&begin), "{}", reply.text);
            let reply = run(&app, "plain", json!(detail), Value::Null).await;
            assert_eq!(reply.code(), "CONFLICT", "{}", reply.text);
            assert!(
                reply.text.contains(&format!("\"extra\":{in_extensions}")),
                "{}",
                reply.text
            );
            assert!(
                reply
                    .text
                    .contains(&format!(r#""details":{{"n":{in_extensions}}}"#)),
                "{}",
                reply.text
            );
        }
    }
}
