//! The requests that a policy receives for a field.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use super::schema::{CACHED, VIEWS, options};
use super::{AuthorizationRequest, Guarded};

/// A request as text.
pub(super) fn shown(request: &AuthorizationRequest) -> String {
    let arguments: Vec<_> = request
        .arguments()
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();

    let (kind, name, transport) = (
        request.operation_type(),
        request.operation_name(),
        request.context().transport(),
    );

    format!("{kind} {name}({}) {transport:?}", arguments.join(", "))
}

#[tokio::test]
async fn a_request_has_the_arguments_and_the_operation() {
    let app = Guarded::new(options(VIEWS[0]).await, Vec::new()).await;
    let document = "query Other { plain } query Wanted($id: Int!) { note(id: $id) { id } }";
    let body = json!({ "query": document, "operationName": "Wanted", "variables": { "id": 2 } });

    assert_eq!(
        app.post_to("/graphql", body).await,
        json!({"data": {"note": {"id": 2}}})
    );
    assert_eq!(app.asked(), ["query note(id: 2) HttpPost"]);

    app.send(
        Request::get("/graphql?query={plain}")
            .body(Body::empty())
            .unwrap(),
    )
    .await;

    assert_eq!(app.asked(), ["query plain() HttpGet"]);
    app.post_to(
        "/graphql/rust",
        json!({ "query": "{ notes(limit: 1) { id } }" }),
    )
    .await;

    assert_eq!(app.asked(), ["query notes(limit: 1) RustEndpoint"]);
    app.ask("mutation { touch }").await;
    assert_eq!(app.asked(), ["mutation touch() HttpPost"]);
    app.ask(CACHED).await;
    assert_eq!(
        app.asked(),
        ["query notes() HttpPost", "query notes() HttpPost"]
    );
    app.ask("{ __schema { queryType { name } } __typename }")
        .await;

    assert_eq!(
        app.asked().len(),
        1,
        "the schema is asked for, the name of the root type is not"
    );
}
