//! The questions that a policy is asked about a field.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::schema::{CACHED, VIEWS, options};
use super::{Guarded, Question};

/// A question as text.
pub(super) fn shown(question: &dyn Question) -> String {
    let arguments: Vec<_> =
        question.arguments().unwrap().iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let name = question.operation_name().unwrap_or("-");
    let gated = question.gated_fields().join(" ");
    let transport = question.context().transport();
    let hash = &hex::encode(question.document_hash())[..8];
    format!(
        "{:?} {name} {}({}) [{gated}] {transport:?} {hash}",
        question.kind(),
        question.field(),
        arguments.join(", ")
    )
}

fn hash(document: &str) -> String {
    hex::encode(Sha256::digest(document))[..8].to_owned()
}

#[tokio::test]
async fn it_has_the_arguments_and_the_operation() {
    let app = Guarded::new(options(VIEWS[0]).await, Vec::new()).await;
    let document = "query Other { plain } query Wanted($id: Int!) { note(id: $id) { id } }";
    let body = json!({ "query": document, "operationName": "Wanted", "variables": { "id": 2 } });
    assert_eq!(app.post_to("/graphql", body).await, json!({"data": {"note": {"id": 2}}}));
    assert_eq!(app.asked(), [format!("Query Wanted note(id: 2) [] HttpPost {}", hash(document))]);

    app.send(Request::get("/graphql?query={plain}").body(Body::empty()).unwrap()).await;
    assert_eq!(app.asked(), [format!("Query - plain() [] HttpGet {}", hash("{plain}"))]);
    app.post_to("/graphql/rust", json!({ "query": "{ notes(limit: 1) { id } }" })).await;
    let expected = format!("Query - notes(limit: 1) [] RustEndpoint {}", hash("{ notes(limit: 1) { id } }"));
    assert_eq!(app.asked(), [expected]);
    app.ask("mutation { touch }").await;
    assert_eq!(app.asked(), [format!("Mutation - touch() [] HttpPost {}", hash("mutation { touch }"))]);
    app.ask(CACHED).await;
    let each = format!("Query Cached notes() [] HttpPost {}", hash(CACHED));
    assert_eq!(app.asked(), [each.clone(), each]);
    app.ask("{ __schema { queryType { name } } __typename }").await;
    assert_eq!(app.asked().len(), 1, "the schema is asked for, the name of the root type is not");
}

/// However the value of a gated field can be learnt, the policy is told of it.
#[tokio::test]
async fn it_has_the_gated_fields() {
    let app = Guarded::new(options(VIEWS[0]).await, Vec::new()).await;
    for (query, is_gated) in [
        ("{ notes { id } }", false),
        ("{ notes { x: secret } }", true),
        ("{ notes { siblings { id } } }", false),
        ("{ notes { siblings { ... on Note { ...N } } } } fragment N on Note { secret }", true),
        (r#"{ notes(where: { owner: { eq: "ada" } }) { id } }"#, false),
        (r#"{ notes(where: { secret: { eq: "a" } }) { id } }"#, true),
        (r#"{ notes(where: { AND: [{ NOT: { secret: { isnull: true } } }] }) { id } }"#, true),
        (r#"{ notes(where: { siblings: { some: { secret: { eq: "a" } } } }) { id } }"#, true),
        ("{ notes(order_by: [{ secret: ASC }]) { id } }", true),
        ("{ notes { siblings(order_by: [{ secret: ASC }]) { id } } }", true),
        (r#"{ noted(secret: "a") { id } }"#, true),
        ("{ page { nodes { secret } } }", true),
        ("{ page { edges { node { secret } } } }", true),
        (r#"{ page(where: { secret: { eq: "a" } }) { totalCount } }"#, true),
        ("{ page(where: {}) { totalCount } }", false),
        ("{ statistics { max { stars } } }", false),
        ("{ statistics { max { secret } } }", true),
        ("{ statistics { groups { key { secret } } } }", true),
        ("{ statistics { groups(order_by: [{ min: { secret: ASC } }]) { count } } }", true),
        (r#"{ found(where: { secret: { eq: "a" } }) { id } }"#, true),
    ] {
        let query =
            if query.contains("totalCount") { query.replace("totalCount", "total_count") } else { query.into() };
        let answer = app.ask(&query).await;
        let asked = app.asked();
        assert_eq!(asked.len(), 1, "{query}: {answer}");
        assert_eq!(asked[0].contains("[Note.secret]"), is_gated, "{query}: {asked:?}");
    }
}

#[tokio::test]
async fn it_has_the_gated_fields_that_variables_touch() {
    let app = Guarded::new(options(VIEWS[0]).await, Vec::new()).await;
    for (variables, is_gated) in [
        (json!({}), false),
        (json!({ "w": { "id": { "eq": 1 } } }), false),
        (json!({ "w": { "OR": [{ "secret": { "eq": "a" } }] } }), true),
        (json!({ "o": [{ "secret": "ASC" }] }), true),
        (json!({ "f": { "eq": "a" } }), true),
    ] {
        let plain = "query ($w: NoteWhere, $o: [NoteOrderBy!]) { notes(where: $w, order_by: $o) { id } }";
        let nested = "query ($f: StringFilter) { notes(where: { NOT: { secret: $f } }) { id } }";
        let query = if variables.get("f").is_some() { nested } else { plain };
        app.post_to("/graphql", json!({ "query": query, "variables": variables })).await;
        let asked = app.asked();
        assert_eq!(asked[0].contains("[Note.secret]"), is_gated, "{variables}: {asked:?}");
    }
}
