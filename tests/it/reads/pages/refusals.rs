//! Invalid pages, and empty ones.

use base64::Engine as _;
use serde_json::json;

use super::app;

#[tokio::test]
async fn an_invalid_page_is_a_client_error() {
    let (_database, app) = app().await;
    let cursor = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let query = "{ columns(first: 1, orderBy: [{at: ASC}]) { pageInfo { endCursor } } }";
    let good = app.query(query).await.data()["columns"]["pageInfo"]["endCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let decoded = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(&good)
        .unwrap();
    let forged = cursor(
        &String::from_utf8(decoded)
            .unwrap()
            .replace("2024-01-01", "2024-99-99' OR 1=1 --"),
    );
    for (arguments, part) in [
        ("first: 1, last: 1".to_owned(), "not both"),
        ("first: -2".to_owned(), "`first` must not be negative"),
        ("last: -2".to_owned(), "`last` must not be negative"),
        ("first: 1001".to_owned(), "first is 1001, and at most 1000"),
        (
            "after: \"\"".to_owned(),
            "the cursor is not one of this list",
        ),
        (
            "after: \"no cursor\"".to_owned(),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{}\"", cursor("[1, []]")),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{}\"", cursor("[[[[")),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{good}\""),
            "the cursor is not one of this list",
        ),
        (
            format!("after: \"{good}\", orderBy: [{{at: DESC}}]"),
            "the cursor is not one of this list",
        ),
        (
            format!("before: \"{forged}\", orderBy: [{{at: ASC}}]"),
            "the cursor is not one of this list",
        ),
    ] {
        let reply = app
            .query(&format!("{{ columns({arguments}) {{ nodes {{ id }} }} }}"))
            .await;
        assert_eq!(
            reply.code(),
            "BAD_USER_INPUT",
            "{arguments}: {}",
            reply.text
        );
        assert!(
            reply.message().contains(part),
            "{arguments}: {}",
            reply.text
        );
    }
    let reply = app.query("{ words { nodes { name } } }").await;
    assert_eq!(reply.code(), "BAD_USER_INPUT");
    assert!(reply.message().contains("give `orderBy`"), "{}", reply.text);
    assert_eq!(
        app.query("{ words { totalCount } }").await.data(),
        json!({"words": {"totalCount": 61}})
    );
    let reply = app
        .query("{ columns(orderBy: [{nope: ASC}]) { nodes { id } } }")
        .await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
    let empty = app.query("{ columnList(offset: 1000) { id } columns(where: {name: {eq: \"x\"}}) { nodes { id } edges { cursor } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }").await.data();
    assert_eq!(empty["columnList"], json!([]));
    let info = json!({"hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null});
    assert_eq!(
        empty["columns"],
        json!({"nodes": [], "edges": [], "totalCount": 0, "pageInfo": info})
    );
    let none = app
        .query("{ columns(first: 0) { nodes { id } pageInfo { hasNextPage } } }")
        .await
        .data();
    assert_eq!(
        none["columns"],
        json!({"nodes": [], "pageInfo": {"hasNextPage": true}})
    );
}
