//! Documents with subscriptions: what is valid, what the schema says, and which transports carry
//! them.

use serde_json::json;
use svc::futures_util::stream;
use svc::prelude::*;
use svc_tests::App;

use super::service::{answers, refused, service};

#[svc::query]
fn hello() -> &'static str {
    "world"
}

/// The numbers from one.
#[svc::subscription(name = "numbers")]
#[deprecated(note = "count yourself")]
fn count() -> impl Stream<Item = i32> {
    stream::iter([1])
}

#[svc::subscription]
fn other() -> impl Stream<Item = i32> {
    stream::iter([2])
}

fn options() -> AppOptions {
    AppOptions::new()
        .queries(queries![hello])
        .subscriptions(subscriptions![count, other])
}

#[test]
fn the_schema_has_a_root_type() {
    let sdl = options().sdl().unwrap();
    let expected = "type Subscription {\n  \"The numbers from one.\"\n  numbers: Int! \
                    @deprecated(reason: \"count yourself\")\n  other: Int!\n}\n";
    assert!(sdl.contains(expected), "{sdl}");
}

#[tokio::test]
async fn introspection_shows_the_subscription_type() {
    let service = service(options()).await;
    let document = "{ __schema { subscriptionType { name fields(includeDeprecated: true) { name isDeprecated } } } }";
    let answer = refused(&service, document).await;
    let fields = json!([{"name": "numbers", "isDeprecated": true}, {"name": "other", "isDeprecated": false}]);
    assert_eq!(
        answer["data"]["__schema"]["subscriptionType"],
        json!({"name": "Subscription", "fields": fields})
    );
}

/// Fields with one response key are one field, wherever they stand.
#[tokio::test]
async fn root_fields_with_one_response_key_are_one() {
    let service = service(options()).await;
    for (document, key) in [
        ("subscription { other other }", "other"),
        ("subscription { a: other a: other }", "a"),
        (
            "subscription { ...A ...B } fragment A on Subscription { other } fragment B on Subscription { other }",
            "other",
        ),
        (
            "subscription { ...A ...A other } fragment A on Subscription { ... on Subscription { other } }",
            "other",
        ),
        (
            "subscription { ... { other } ... on Subscription { ...A } } fragment A on Subscription { other }",
            "other",
        ),
    ] {
        assert_eq!(
            answers(&service, document).await,
            [json!({"data": {key: 2}})],
            "{document}"
        );
    }
    // Other errors are told all the same, and this one is not.
    let answer = refused(&service, "subscription { other other @nope }").await;
    assert!(
        !answer.to_string().contains("root field") && answer.to_string().contains("nope"),
        "{answer}"
    );
    for document in [
        "subscription { other b: other }",
        "subscription { ...A other } fragment A on Subscription { b: other }",
        "subscription { other other @include(if: true) }",
        "subscription { a: numbers a: other }",
    ] {
        assert_eq!(
            refused(&service, document).await["errors"][0]["extensions"]["code"],
            "GRAPHQL_VALIDATION_FAILED",
            "{document}"
        );
    }
}

#[tokio::test]
async fn a_subscription_has_one_root_field() {
    let service = service(options()).await;
    for document in [
        "subscription { numbers other }",
        "subscription { a: other b: other }",
        "subscription { ...F } fragment F on Subscription { numbers other }",
        "subscription { __typename }",
        "subscription { other __typename }",
        "subscription { __schema { types { name } } }",
        "subscription ($on: Boolean = true) { other @include(if: $on) }",
        "subscription ($on: Boolean = true) { numbers @skip(if: $on) other }",
    ] {
        let refused = refused(&service, document).await;
        assert_eq!(
            refused["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED",
            "{document}: {refused}"
        );
    }
    let document =
        "subscription { ...F } fragment F on Subscription { ... on Subscription { other } }";
    assert_eq!(
        answers(&service, document).await,
        [json!({"data": {"other": 2}})]
    );
}

#[tokio::test]
async fn transports_without_streams_refuse_subscriptions() {
    let app = App::serve(options().database_url("postgres://nobody@127.0.0.1:1/nothing")).await;
    let message = "a subscription is answered with a stream; send it over a WebSocket, or accept `text/event-stream`";
    assert_eq!(app.query("subscription { other }").await.message(), message);
    assert_eq!(
        app.get("/graphql?query=subscription{other}")
            .await
            .message(),
        message
    );
}

#[test]
fn a_subscription_listed_twice_is_an_error() {
    let error = options()
        .subscriptions(subscriptions![other])
        .sdl()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("subscriptions::documents::other` is listed twice; remove one"),
        "{error}"
    );
}
