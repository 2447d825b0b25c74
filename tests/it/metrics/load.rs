//! Counts that agree with the load.

use serde_json::json;
use sha2::{Digest as _, Sha256};
use svc::MetricsConfig;
use svc::prelude::*;
use svc_tests::{App, is_alone};

use super::series::Series;
use super::shop::{shop, things_database};

#[tokio::test]
async fn each_series_counts_exactly_the_load_sent() {
    if !is_alone(module_path!(), "each_series_counts_exactly_the_load_sent") {
        return;
    }
    let database = things_database().await;
    let app =
        App::serve_router(shop(&database, SvcConfig::default(), MetricsConfig::default()).await)
            .await;
    app.until_data(
        "query warmUp { things(limit: 1) { id } }",
        &json!({ "things": [{ "id": 1 }] }),
    )
    .await;
    let before = Series::of(&app).await;
    send(&app).await;
    let after = Series::of(&app).await;
    let moved = Series(
        after
            .0
            .iter()
            .map(|(series, value)| (series.clone(), value - before.value(series)))
            .collect(),
    );
    moved.assert(&[
        (r#"svc_graphql_queries_total{operation_type="query",operation_name="list"}"#, 7.0),
        (r#"svc_graphql_queries_success_total{operation_type="query",operation_name="list"}"#, 7.0),
        (r#"svc_graphql_query_duration_seconds_count{operation_type="query",operation_name="list"}"#, 7.0),
        (r#"svc_graphql_query_duration_seconds_bucket{le="+Inf",operation_type="query",operation_name="list"}"#, 7.0),
        (r#"svc_graphql_queries_total{operation_type="query",operation_name="anonymous"}"#, 3.0),
        (r#"svc_graphql_queries_errors_total{operation_type="query",operation_name="anonymous"}"#, 2.0),
        (r#"svc_graphql_queries_success_total{operation_type="query",operation_name="anonymous"}"#, 1.0),
        (r#"svc_graphql_queries_total{operation_type="mutation",operation_name="add"}"#, 3.0),
        (r#"svc_graphql_mutations_total{mutation_name="addThing"}"#, 0.0),
        (r#"svc_graphql_mutations_total{mutation_name="add_thing"}"#, 3.0),
        (r#"svc_graphql_mutations_success_total{mutation_name="add_thing",result_type="AddThingSuccess"}"#, 2.0),
        (r#"svc_graphql_mutations_errors_total{mutation_name="add_thing",error_type="AddThingError"}"#, 1.0),
        (r#"svc_graphql_mutations_errors_total{mutation_name="fail",error_type="application"}"#, 1.0),
        (r#"svc_db_queries_total{query_type="select",table_name="v_thing"}"#, 10.0),
        (r#"svc_db_query_duration_seconds_count{query_type="select",table_name="v_thing"}"#, 10.0),
        (r#"svc_db_queries_total{query_type="call",table_name="public.fn_add_thing"}"#, 3.0),
        (r#"svc_errors_total{error_type="application",error_code="OUT_OF_STOCK",operation="anonymous"}"#, 2.0),
        (r#"svc_errors_total{error_type="application",error_code="CONFLICT",operation="failing"}"#, 1.0),
        (r#"svc_errors_total{error_type="request",error_code="GRAPHQL_PARSE_FAILED",operation="unknown"}"#, 1.0),
        (r#"svc_errors_total{error_type="request",error_code="BAD_REQUEST",operation="unknown"}"#, 1.0),
        (r#"svc_cache_hits_total{cache_type="persisted_query"}"#, 1.0),
        (r#"svc_cache_misses_total{cache_type="persisted_query"}"#, 1.0),
        (r#"svc_cache_misses_total{cache_type="decision"}"#, 1.0),
        (r#"svc_cache_hits_total{cache_type="decision"}"#, 4.0),
        (r#"svc_http_requests_total{method="GET",endpoint="/report",status="200"}"#, 2.0),
        (r#"svc_http_requests_total{method="POST",endpoint="/graphql",status="415"}"#, 1.0),
        (r#"svc_http_requests_total{method="GET",endpoint="unmatched",status="404"}"#, 1.0),
        (r#"svc_http_request_duration_seconds_count{method="GET",endpoint="/report",status="200"}"#, 2.0),
    ]);
    assert_eq!(
        after.sum("svc_http_requests_total"),
        after.sum("svc_http_request_duration_seconds_count")
    );
    let health = after.0.keys().filter(|series| series.contains("/health"));
    assert_eq!(health.count(), 0, "excluded paths are not counted");
    after.assert(&[
        (r#"svc_db_connections_active{pool="svc"}"#, 0.0),
        (r#"svc_db_connections_waiting{pool="svc"}"#, 0.0),
        (r#"svc_db_connections_active{pool="sqlx"}"#, 0.0),
    ]);
    let (idle, total) = (
        r#"svc_db_connections_idle{pool="svc"}"#,
        r#"svc_db_connections_total{pool="svc"}"#,
    );
    assert!(
        after.value(idle) >= 1.0 && after.value(idle) == after.value(total),
        "{:#?}",
        after.0
    );
}

/// A mixed load, of which each number is told above.
async fn send(app: &App) {
    let list = "query list { things(limit: 3) { name } }";
    for _ in 0..5 {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("x-user", "me");
        app.send(request.body(json!({ "query": list }).to_string()))
            .await
            .data();
    }
    let hash = hex::encode(Sha256::digest(list));
    let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    assert_eq!(
        app.post(&json!({ "extensions": persisted })).await.code(),
        "PERSISTED_QUERY_NOT_FOUND"
    );
    app.post(&json!({ "query": list, "extensions": persisted }))
        .await
        .data();
    app.post(&json!({ "extensions": persisted })).await.data();
    app.query("{ things(limit: 2) { id } }").await.data();
    for _ in 0..2 {
        assert_eq!(app.query("{ broken }").await.code(), "OUT_OF_STOCK");
    }
    let add = "mutation add($id: Int!) { add_thing(input: {id: $id, name: \"new\"}) { __typename
        ... on AddThingSuccess { thing { name } } } }";
    for (id, expected) in [
        (100, "AddThingSuccess"),
        (101, "AddThingSuccess"),
        (100, "AddThingError"),
    ] {
        let data = app.query_with(add, json!({ "id": id })).await.data();
        assert_eq!(data["add_thing"]["__typename"], expected);
    }
    assert_eq!(
        app.query("mutation failing { fail }").await.code(),
        "CONFLICT"
    );
    assert_eq!(
        app.query("{ things { ").await.code(),
        "GRAPHQL_PARSE_FAILED"
    );
    assert_eq!(
        app.send(app.request("POST", "/graphql").body("{}"))
            .await
            .status,
        415
    );
    for path in ["/report", "/report", "/nowhere", "/health", "/ready"] {
        app.get(path).await;
    }
}
