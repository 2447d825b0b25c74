//! Counts besides those of plain requests: batches, sockets, kept answers, statements of
//! operations, clients that go.

use serde_json::json;
use svc::MetricsConfig;
use svc::prelude::*;
use svc_tests::raw::{self, Client};
use svc_tests::{App, Socket, TestDatabase, eventually, is_alone};

use super::series::Series;
use super::shop::{shop, things_database};

async fn app() -> (TestDatabase, App) {
    let database = things_database().await;
    let protection = svc::ProtectionConfig {
        batch_max: 10,
        ..svc::ProtectionConfig::default()
    };
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    let app = App::serve_router(shop(&database, config, MetricsConfig::default()).await).await;
    app.until_data(
        "query warmUp { things(limit: 1) { id } }",
        &json!({ "things": [{ "id": 1 }] }),
    )
    .await;
    (database, app)
}

#[tokio::test]
async fn each_request_of_a_batch_is_counted() {
    if !is_alone(module_path!(), "each_request_of_a_batch_is_counted") {
        return;
    }
    let (_database, app) = app().await;
    let one = json!({ "query": "query one { things(limit: 1) { id } }" });
    let posts = r#"svc_http_requests_total{method="POST",endpoint="/graphql",status="200"}"#;
    let before = Series::of(&app).await.value(posts);
    app.post(&json!([one, 5, one, { "query": "{ broken }" }, { "query": "{ nothing }" }]))
        .await;
    let after = Series::of(&app).await;
    assert_eq!(after.value(posts) - before, 1.0);
    after.assert(&[
        (r#"svc_graphql_queries_success_total{operation_type="query",operation_name="one"}"#, 2.0),
        (r#"svc_graphql_queries_errors_total{operation_type="query",operation_name="anonymous"}"#, 1.0),
        (r#"svc_errors_total{error_type="request",error_code="BAD_REQUEST",operation="unknown"}"#, 1.0),
        (r#"svc_errors_total{error_type="request",error_code="GRAPHQL_VALIDATION_FAILED",operation="unknown"}"#, 1.0),
    ]);
}

#[tokio::test]
async fn operations_on_sockets_are_counted() {
    if !is_alone(module_path!(), "operations_on_sockets_are_counted") {
        return;
    }
    let (_database, app) = app().await;
    let mut socket = Socket::ready(&app).await;
    for (id, document) in [
        ("1", "subscription ticking { ticks }"),
        ("2", "query onSocket { things(limit: 1) { id } }"),
        ("3", "subscription unknown { nothing }"),
    ] {
        socket.subscribe(id, document).await;
        while !matches!(
            socket.next().await["type"].as_str(),
            Some("complete" | "error")
        ) {}
    }
    Series::of(&app).await.assert(&[
        (r#"svc_graphql_queries_success_total{operation_type="subscription",operation_name="ticking"}"#, 1.0),
        (r#"svc_graphql_queries_success_total{operation_type="query",operation_name="onSocket"}"#, 1.0),
        (r#"svc_errors_total{error_type="request",error_code="GRAPHQL_VALIDATION_FAILED",operation="unknown"}"#, 1.0),
        (r#"svc_http_requests_total{method="GET",endpoint="/graphql",status="101"}"#, 1.0),
    ]);
}

#[tokio::test]
async fn undone_mutations_are_counted_as_failed() {
    if !is_alone(module_path!(), "undone_mutations_are_counted_as_failed") {
        return;
    }
    let (_database, app) = app().await;
    let undone = r#"mutation @atomic {
        add_thing(input: {id: 40, name: "undone"}) { __typename }
        fail
    }"#;
    let reply = app.query(undone).await;
    assert_eq!(reply.code(), "CONFLICT", "{}", reply.text);
    Series::of(&app).await.assert(&[
        (r#"svc_graphql_mutations_total{mutation_name="add_thing"}"#, 1.0),
        (r#"svc_graphql_mutations_errors_total{mutation_name="add_thing",error_type="application"}"#, 1.0),
        (r#"svc_graphql_mutations_errors_total{mutation_name="fail",error_type="application"}"#, 1.0),
    ]);
}

#[tokio::test]
async fn cached_responses_and_operation_sql_are_counted() {
    if !is_alone(
        module_path!(),
        "cached_responses_and_operation_sql_are_counted",
    ) {
        return;
    }
    let (_database, app) = app().await;
    let (hits, misses) = (
        r#"svc_cache_hits_total{cache_type="response"}"#,
        r#"svc_cache_misses_total{cache_type="response"}"#,
    );
    // Nothing is kept before changes are heard of.
    let before = eventually(async || {
        app.query("query double { double(of: 1) }").await.data();
        let series = Series::of(&app).await;
        if series.value(hits) > 0.0 {
            Ok(series)
        } else {
            Err("nothing is kept".to_owned())
        }
    })
    .await;
    for of in [2, 2, 2, 3] {
        app.query(&format!("query double {{ double(of: {of}) }}"))
            .await
            .data();
    }
    let after = Series::of(&app).await;
    assert_eq!(
        (
            after.value(hits) - before.value(hits),
            after.value(misses) - before.value(misses)
        ),
        (2.0, 2.0)
    );
    let double =
        r#"svc_graphql_queries_success_total{operation_type="query",operation_name="double"}"#;
    assert_eq!(
        after.value(double) - before.value(double),
        4.0,
        "kept answers are operations too"
    );

    assert_eq!(
        app.query("query oneThing { things(limit: 1) { name } }")
            .await
            .data()["things"][0]["name"],
        "thing 1"
    );
    Series::of(&app).await.assert(&[
        (r#"svc_db_queries_total{query_type="operation",table_name="oneThing"}"#, 1.0),
        (r#"svc_graphql_queries_success_total{operation_type="query",operation_name="oneThing"}"#, 1.0),
    ]);
}

#[tokio::test]
async fn a_request_whose_client_disconnects_is_counted_once() {
    if !is_alone(
        module_path!(),
        "a_request_whose_client_disconnects_is_counted_once",
    ) {
        return;
    }
    let (_database, app) = app().await;
    let mut client = Client::open(app.address()).await;
    client
        .send(&raw::post(
            &json!({ "query": "query endless { endless }" }).to_string(),
        ))
        .await;
    // Its document has been prepared by then, so that it runs.
    eventually(
        async || match Series::of(&app).await.sum("svc_cache_misses_total") {
            misses if misses >= 2.0 => Ok(()),
            misses => Err(format!("{misses} documents")),
        },
    )
    .await;
    drop(client);
    let gone = [
        (
            r#"svc_graphql_queries_errors_total{operation_type="query",operation_name="endless"}"#,
            1.0,
        ),
        (
            r#"svc_http_requests_total{method="POST",endpoint="/graphql",status="499"}"#,
            1.0,
        ),
    ];
    eventually(async || {
        let series = Series::of(&app).await;
        let is_told = gone
            .iter()
            .all(|(name, value)| series.value(name) == *value);
        if is_told {
            Ok(())
        } else {
            Err(format!("{series:#?}"))
        }
    })
    .await;
}
