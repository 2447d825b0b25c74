//! The spans of steps: of documents, the gate, the response cache, failing statements, and of the
//! program's own work.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use serde_json::json;
use svc::TracingConfig;
use svc::prelude::*;
use svc_tests::is_alone_with;

use super::receiver::{Receiver, attributes};
use super::shop::{SOON, ask, options, serve, things_database, to, traced};

/// The tree of the spans of a request with this document.
pub(super) async fn tree(
    app: &svc_tests::App,
    receiver: &Receiver,
    trace: &str,
    document: &str,
) -> String {
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    ask(app, document, json!({}), &[("traceparent", &parent)]).await;
    let id = hex::decode(trace).unwrap();
    svc_tests::eventually(async || {
        let tree = receiver.tree(&id);
        if tree.starts_with("POST") {
            Ok(tree)
        } else {
            Err(tree)
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn preparation_the_gate_and_the_cache_have_spans() {
    if !is_alone_with(
        module_path!(),
        "preparation_the_gate_and_the_cache_have_spans",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let options = options(&database).authorizer(async |_: AuthorizationRequest| true);
    let config = TracingConfig {
        graphql_document: true,
        ..to(&receiver)
    };
    let app = serve(options, config).await;
    let document = "{ things(limit: 1) { id } }";
    let first = tree(
        &app,
        &receiver,
        "1af7651916cd43dd8448eb211c80319c",
        document,
    )
    .await;
    let rest = "  query\n    Query.things\n      authorize\n      SELECT v_thing\n";
    assert_eq!(
        first,
        format!("POST /graphql\n  graphql.parse\n  graphql.validate\n  graphql.plan\n{rest}")
    );
    let second = tree(
        &app,
        &receiver,
        "2af7651916cd43dd8448eb211c80319c",
        document,
    )
    .await;
    assert_eq!(second, format!("POST /graphql\n{rest}"));
    let operation = attributes(&receiver.span("query").await.attributes);
    assert_eq!(operation["graphql.document"], document);
    let gate = attributes(&receiver.span("authorize").await.attributes);
    assert_eq!(gate["svc.field"], "things");

    // Nothing is kept before the service hears of changes.
    let mut number = 0;
    svc_tests::eventually(async || {
        number += 1;
        let kept = tree(
            &app,
            &receiver,
            &format!("{number:08x}16cd43dd8448eb211c80319c"),
            "{ kept { id } }",
        )
        .await;
        if kept == "POST /graphql\n  query\n    authorize\n    cache get\n" {
            Ok(())
        } else {
            Err(kept)
        }
    })
    .await;
    let hits: Vec<_> = receiver
        .spans()
        .into_iter()
        .filter(|span| span.name == "cache get")
        .collect();
    let hits: Vec<_> = hits
        .iter()
        .map(|span| attributes(&span.attributes)["cache.hit"].contains("true"))
        .collect();
    assert!(!hits[0] && hits[hits.len() - 1], "{hits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_statements_have_their_code_and_own_work_has_spans() {
    if !is_alone_with(
        module_path!(),
        "failing_statements_have_their_code_and_own_work_has_spans",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let app = traced(&database, to(&receiver)).await;
    ask(&app, "{ doomed { id } }", json!({}), &[]).await;
    let failed = receiver.span("SELECT v_doomed").await;
    assert_eq!(failed.status.as_ref().unwrap().code(), StatusCode::Error);
    let told = attributes(&failed.attributes);
    assert_eq!(
        (&*told["error.type"], &*told["db.response.status_code"]),
        ("22012", "22012")
    );

    let counted = tree(
        &app,
        &receiver,
        "6af7651916cd43dd8448eb211c80319c",
        "{ counted }",
    )
    .await;
    assert!(
        counted.ends_with("    Query.counted\n      get counts\n      SELECT v_thing\n"),
        "{counted}"
    );
    let parent = "5af7651916cd43dd8448eb211c80319c";
    let tree = tree(&app, &receiver, parent, "{ helped }").await;
    let own =
        "      GraphQL Price\n      SELECT tb_order\n      query Nightly\n        get prices\n";
    assert!(
        tree.ends_with(&format!("  query\n    Query.helped\n{own}")),
        "{tree}"
    );
    let asked = receiver.span("GraphQL Price").await;
    let told = attributes(&asked.attributes);
    assert_eq!(
        (
            &*told["graphql.variable.names"],
            told.get("graphql.document")
        ),
        ("token", None)
    );
    let counted = receiver.span("SELECT tb_order").await;
    assert_eq!(
        (counted.kind(), counted.status.as_ref().unwrap().code()),
        (SpanKind::Client, StatusCode::Error)
    );
    assert_eq!(
        attributes(&counted.attributes)["db.statement"],
        "SELECT count(*) FROM tb_order"
    );
    let all = format!("{:?}", receiver.spans());
    assert!(
        !all.contains("of secret kind") && !all.contains("graphql.document"),
        "{all}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_functions_with_attributes_have_spans() {
    if !is_alone_with(
        module_path!(),
        "calls_of_functions_with_attributes_have_spans",
        &[SOON],
    ) {
        return;
    }
    let receiver = Receiver::start().await;
    let database = things_database().await;
    let app = traced(&database, to(&receiver)).await;
    let tree = tree(
        &app,
        &receiver,
        "7af7651916cd43dd8448eb211c80319c",
        "{ restocked }",
    )
    .await;
    let own = "      mutation Restock\n        SELECT tb_shelf\n          get upper\n";
    assert!(
        tree.ends_with(&format!("  query\n    Query.restocked\n{own}")),
        "{tree}"
    );
    let operation = receiver.span("mutation Restock").await;
    let told = attributes(&operation.attributes);
    assert_eq!(
        (
            &*told["graphql.operation.type"],
            &*told["graphql.operation.name"]
        ),
        ("mutation", "Restock")
    );
    assert!(
        operation
            .status
            .is_none_or(|status| status.code() == StatusCode::Unset)
    );
    let statement = receiver.span("SELECT tb_shelf").await;
    assert_eq!(
        (statement.kind(), statement.status.as_ref().unwrap().code()),
        (SpanKind::Client, StatusCode::Error)
    );
    let told = attributes(&statement.attributes);
    assert_eq!(
        (&*told["db.collection.name"], told.get("db.query.text")),
        ("tb_shelf", None)
    );
    assert!(!format!("{:?}", receiver.spans()).contains("of secret kind"));
}
