//! Ways in which clients ask for a registered operation.

use serde_json::json;
use svc::{Operation, SvcConfig};
use svc_tests::Reply;

use super::schema::{Store, hash, persisted, store_with};

const TWICE: &str = "query Twice($n: Int) { a: resolved(n: $n) b: resolved(n: $n) }";
const TOUCH: &str = "mutation Touch { touch }";
const SEEN: &str = "query Seen { seen: optional }";

async fn with(persisted_queries: bool) -> Store {
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            persisted_queries,
            rust_endpoint: true,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let operations = [
        Operation::new(TWICE),
        Operation::new(format!("{TOUCH}\n\n")),
        Operation::new(SEEN).sql(r#"SELECT '"from SQL"'::json AS seen"#),
    ];
    store_with(config, |options| options.operations(operations)).await
}

fn get(parameters: &[(&str, &str)]) -> String {
    format!(
        "/graphql?{}",
        url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(parameters)
            .finish()
    )
}

#[tokio::test]
async fn operations_are_found_by_text_hash_and_name() {
    for persisted_queries in [true, false] {
        let store = with(persisted_queries).await;
        let (variables, expected) = (json!({ "n": 4 }), json!({ "a": 4, "b": 4 }));
        let answers: Vec<Reply> = vec![
            store.app.query_with(TWICE, variables.clone()).await,
            store.app.query_with(&format!("{TWICE} \n"), variables.clone()).await,
            store.by_hash(TWICE, variables.clone()).await,
            store.by_id(&format!("sha256:{}", hash(TWICE)), variables.clone()).await,
            store.by_id("Twice", variables.clone()).await,
            store.app.get(&get(&[("documentId", "Twice"), ("variables", r#"{"n": 4}"#)])).await,
            store.app.post(&json!({ "documentId": "Twice", "variables": variables, "operationName": "Twice" })).await,
            store.app.post(&json!({ "query": TWICE, "extensions": persisted(TWICE), "variables": variables })).await,
        ];
        for (index, answer) in answers.iter().enumerate() {
            assert_eq!(answer.data(), expected, "{index}");
        }
        // The hash of the file as it is, and of what it holds.
        for text in [TOUCH.to_owned(), format!("{TOUCH}\n\n")] {
            assert_eq!(
                store.by_hash(&text, json!({})).await.data(),
                json!({ "touch": null })
            );
        }
        // A browser that names a document wants the answer, not GraphiQL.
        let request = store
            .app
            .request("GET", &get(&[("documentId", "Seen")]))
            .header("accept", "text/html, */*");
        assert_eq!(
            store.app.send(request).await.data(),
            json!({ "seen": "from SQL" })
        );
        // Everything else is served as ever.
        assert_eq!(
            store.app.query("{ resolved }").await.data(),
            json!({ "resolved": -1 })
        );
    }
}

#[tokio::test]
async fn unknown_and_ambiguous_documents_are_refused() {
    let store = with(true).await;
    for id in [
        "Nobody",
        "twice",
        "md5:abc",
        "",
        &format!("sha256:{}", hash("{ resolved }")),
    ] {
        let reply = store.by_id(id, json!({})).await;
        assert_eq!(
            reply.code(),
            "PERSISTED_QUERY_NOT_FOUND",
            "{id}: {}",
            reply.text
        );
        assert!(
            reply
                .message()
                .contains("no document is known by this `documentId`"),
            "{}",
            reply.text
        );
    }
    let twice = "name the document once";
    for (body, part) in [
        (
            json!({ "documentId": "sha256:zz" }),
            "`documentId` must be `sha256:` with 64 hexadecimal digits",
        ),
        (json!({ "documentId": 7 }), "`documentId` must be a string"),
        (json!({ "documentId": "Twice", "query": TWICE }), twice),
        (
            json!({ "documentId": "Twice", "extensions": persisted(TWICE) }),
            twice,
        ),
        (
            json!({ "query": SEEN, "extensions": persisted(TWICE) }),
            "is not the SHA-256 of `query`",
        ),
        (
            json!({ "documentId": "Twice", "operationName": "Other" }),
            "the document has no operation named",
        ),
    ] {
        let reply = store.app.post(&body).await;
        assert!(reply.message().contains(part), "{body}: {}", reply.text);
    }
    // An id of a document that a client has persisted by itself.
    let text = "{ resolved(n: 9) }";
    store
        .app
        .post(&json!({ "query": text, "extensions": persisted(text) }))
        .await
        .data();
    assert_eq!(
        store
            .by_id(&format!("sha256:{}", hash(text)), json!({}))
            .await
            .data(),
        json!({ "resolved": 9 })
    );
    let off = with(false).await;
    let reply = off
        .app
        .post(&json!({ "query": text, "extensions": persisted(text) }))
        .await;
    assert_eq!(reply.code(), "PERSISTED_QUERY_NOT_SUPPORTED");
    assert_eq!(
        off.by_hash(text, json!({})).await.code(),
        "PERSISTED_QUERY_NOT_SUPPORTED"
    );
}

/// Neither a name nor SQL changes what may be sent how.
#[tokio::test]
async fn registered_operations_obey_the_rules_of_each_endpoint() {
    let store = with(true).await;
    let reply = store.app.get(&get(&[("documentId", "Touch")])).await;
    assert_eq!((reply.status, store.runs.get()), (405, 0), "{}", reply.text);
    let rust = async |id: &str| {
        let request = store
            .app
            .request("POST", "/graphql/rust")
            .header("content-type", "application/json");
        store
            .app
            .send(request.body(json!({ "documentId": id }).to_string()))
            .await
    };
    assert_eq!(rust("Twice").await.code(), "BAD_REQUEST");
    assert_eq!(
        rust("Seen").await.data(),
        json!({ "seen": "from SQL" }),
        "SQL needs no function"
    );
    assert_eq!(store.runs.get(), 0);
    let reply = store.by_id("Twice", json!({ "n": "four" })).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT");
}
