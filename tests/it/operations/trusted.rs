//! Documents that the tools of clients list, and services that answer nothing else.

use std::path::Path;

use serde_json::{Value, json};
use svc::{ErrorCode, OperationsConfig, ProtectionConfig, SvcConfig, create_svc_app};
use svc_tests::{cluster, node, run_beside};

use super::schema::{Runs, Store, hash, options, persisted, store_with};

const RESOLVED: &str = "query Resolved { resolved(n: 7) }";
const TOUCH: &str = "mutation Touch { touch }";

fn config(place: &Path) -> SvcConfig {
    let operations = OperationsConfig {
        trusted_documents: Some(place.to_owned()),
        registered_only: true,
        ..Default::default()
    };
    let protection = ProtectionConfig {
        batch_max: 10,
        ..ProtectionConfig::default()
    };
    let schema = svc::SchemaConfig {
        introspection: Some(false),
        ..Default::default()
    };
    SvcConfig {
        operations,
        protection,
        schema,
        ..SvcConfig::default()
    }
}

async fn trusting(files: &[(&str, &Value)]) -> Store {
    let folder = tempfile::tempdir().unwrap();
    for (name, manifest) in files {
        std::fs::write(folder.path().join(name), manifest.to_string()).unwrap();
    }
    store_with(config(folder.path()), |options| options).await
}

/// Why a service with these files does not start.
async fn refused(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let error = create_svc_app(options(
        config(folder.path()),
        cluster().url(),
        &Runs::default(),
    ))
    .await
    .unwrap_err();
    error
        .to_string()
        .replace(&folder.path().display().to_string(), "manifests")
}

fn apollo(operations: &[(&str, &str)]) -> Value {
    let operations: Vec<_> = operations
        .iter()
        .map(|(id, body)| json!({ "id": id, "body": body }))
        .collect();
    json!({ "format": "apollo-persisted-query-manifest", "version": 1, "operations": operations })
}

#[tokio::test]
async fn all_manifests_of_a_folder_are_answered() {
    // Two versions of a client have different documents of one name, and one that is the same.
    let changed = "query Resolved { resolved(n: 8) }";
    let store = trusting(&[
        ("web-1.json", &apollo(&[(&hash(RESOLVED), RESOLVED)])),
        (
            "web-2.json",
            &apollo(&[(&hash(changed), changed), ("resolved", RESOLVED)]),
        ),
        (
            "mobile.json",
            &json!({ "0d517f196d4e11a361393c8b1ba7dd61ca927abd": RESOLVED }),
        ),
        ("README.md", &json!("not a manifest")),
    ])
    .await;
    for (id, answer) in [
        ("resolved", 7),
        ("0d517f196d4e11a361393c8b1ba7dd61ca927abd", 7),
        (hash(RESOLVED).as_str(), 7),
        (format!("sha256:{}", hash(RESOLVED)).as_str(), 7),
        (hash(changed).as_str(), 8),
    ] {
        assert_eq!(
            store.by_id(id, json!({})).await.data(),
            json!({ "resolved": answer }),
            "{id}"
        );
    }
    assert_eq!(
        store.by_hash(changed, json!({})).await.data(),
        json!({ "resolved": 8 })
    );
    assert_eq!(
        store.app.query(RESOLVED).await.data(),
        json!({ "resolved": 7 })
    );
    // GraphQL Code Generator's clients send a SHA-1 in this place.
    let sha1 = json!({ "persistedQuery": { "version": 1, "sha256Hash": "0d517f196d4e11a361393c8b1ba7dd61ca927abd" } });
    assert_eq!(
        store.app.post(&json!({ "extensions": sha1 })).await.data(),
        json!({ "resolved": 7 })
    );
    let both = store
        .app
        .post(&json!({ "extensions": sha1, "query": RESOLVED }))
        .await;
    assert_eq!((both.status, both.code().as_str()), (400, "BAD_REQUEST"));
    assert_eq!(
        store.by_id("Resolved", json!({})).await.code(),
        "PERSISTED_QUERY_NOT_FOUND",
        "ids stand for names"
    );
}

/// Some tools hash documents in a form of their own. Their hashes are ids like any other, with the
/// prefix and without it.
#[tokio::test]
async fn hashes_of_other_forms_are_ids() {
    let (other, prefixed) = ("ab".repeat(32), format!("sha256:{}", "cd".repeat(32)));
    let store = trusting(&[(
        "web.json",
        &apollo(&[(&other, RESOLVED), (&prefixed, TOUCH)]),
    )])
    .await;
    for id in [other.clone(), format!("sha256:{other}")] {
        assert_eq!(
            store.by_id(&id, json!({})).await.data(),
            json!({ "resolved": 7 }),
            "{id}"
        );
    }
    assert!(
        store
            .by_id(&prefixed, json!({}))
            .await
            .json()
            .get("data")
            .is_some(),
        "{prefixed}"
    );
    let extension = json!({ "persistedQuery": { "version": 1, "sha256Hash": "cd".repeat(32) } });
    assert!(
        store
            .app
            .post(&json!({ "extensions": extension }))
            .await
            .json()
            .get("data")
            .is_some()
    );
}

#[tokio::test]
async fn unlisted_documents_are_refused_on_every_path() {
    let store = trusting(&[(
        "web.json",
        &apollo(&[("resolved", RESOLVED), ("touch", TOUCH)]),
    )])
    .await;
    let other = "query Resolved { resolved(n: 9) }";
    assert_eq!(
        store.by_id("resolved", json!({})).await.data(),
        json!({ "resolved": 7 })
    );
    let runs = store.runs.get();
    let encoded = "query%20Resolved%20%7B%20resolved(n%3A%209)%20%7D";
    let hashed = format!(
        "%7B%22persistedQuery%22:%7B%22version%22:1,%22sha256Hash%22:%22{}%22%7D%7D",
        hash(other)
    );
    for round in 0..2 {
        for (path, code) in [
            (format!("/graphql?query={encoded}"), ErrorCode::Forbidden),
            (
                format!("/graphql?query={encoded}&extensions={hashed}"),
                ErrorCode::Forbidden,
            ),
            (
                format!("/graphql?extensions={hashed}"),
                ErrorCode::PersistedQueryNotFound,
            ),
            (
                format!("/graphql?documentId=sha256:{}", hash(other)),
                ErrorCode::PersistedQueryNotFound,
            ),
            (
                "/graphql?documentId=other".to_owned(),
                ErrorCode::PersistedQueryNotFound,
            ),
        ] {
            assert_eq!(
                store.app.get(&path).await.code(),
                code.as_str(),
                "{path}, round {round}"
            );
        }
        for (body, code) in [
            (json!({ "query": other }), ErrorCode::Forbidden),
            (
                json!({ "query": other, "extensions": persisted(other) }),
                ErrorCode::Forbidden,
            ),
            (
                json!({ "extensions": persisted(other) }),
                ErrorCode::PersistedQueryNotFound,
            ),
            (
                json!({ "documentId": "other" }),
                ErrorCode::PersistedQueryNotFound,
            ),
            (
                json!({ "query": other, "documentId": "resolved" }),
                ErrorCode::BadRequest,
            ),
            (
                json!({ "query": other, "extensions": persisted(RESOLVED) }),
                ErrorCode::BadRequest,
            ),
        ] {
            let reply = store.app.post(&body).await;
            assert_eq!(reply.code(), code.as_str(), "{body}, round {round}");
            let batch = store
                .app
                .post(&json!([{ "documentId": "resolved" }, body]))
                .await
                .json();
            assert_eq!(
                batch[1]["errors"][0]["extensions"]["code"],
                code.as_str(),
                "{body} in a batch"
            );
        }
    }
    // Each batch has run the trusted one.
    assert_eq!(store.runs.get(), runs + 12);
    assert_eq!(
        store.app.get("/graphql?documentId=touch").await.status,
        405,
        "a mutation by GET"
    );
    assert_eq!(
        store.by_id("touch", json!({})).await.data(),
        json!({ "touch": null })
    );
}

#[tokio::test]
async fn a_manifest_that_cannot_be_used_stops_the_start() {
    for (files, message) in [
        (
            &[][..],
            "manifests: there is no manifest (*.json) in the folder; add one, or leave `SVC_TRUSTED_DOCUMENTS` out",
        ),
        (
            &[("web.json", "[]")],
            "manifests/web.json: it must be a manifest of Apollo's, Relay's or GraphQL Code Generator's tools: JSON with \
             documents by their ids",
        ),
        (
            &[(
                "web.json",
                r#"{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}"#,
            )],
            "manifests/web.json: its format is \"apollo-persisted-query-manifest\" 2; it must be \
             \"apollo-persisted-query-manifest\" 1",
        ),
        (
            &[("web.json", r#"{"":"{ resolved }"}"#)],
            "manifests/web.json: a document has an empty id",
        ),
        (
            &[("web.json", r#"{"sha256:12":"{ resolved }"}"#)],
            "manifests/web.json: the id `sha256:12` is not `sha256:` and 64 hexadecimal digits, so clients cannot send it",
        ),
        (
            &[
                ("a.json", r#"{"x":"{ resolved }"}"#),
                ("b.json", r#"{"x":"{ optional }"}"#),
            ],
            "manifests/a.json: x: manifests/b.json: x is named `x` as well; every name can be given once",
        ),
    ] {
        let refused = refused(files).await;
        assert!(refused.contains(message), "{refused}");
    }
    let invalid = refused(&[("web.json", r#"{"x":"{ nope }"}"#)]).await;
    assert!(
        invalid.contains("manifests/web.json: x: the document is not valid"),
        "{invalid}"
    );
    let missing = SvcConfig {
        operations: OperationsConfig {
            trusted_documents: Some("/nowhere/web.json".into()),
            ..Default::default()
        },
        ..SvcConfig::default()
    };
    let error = create_svc_app(options(missing, cluster().url(), &Runs::default()))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("/nowhere/web.json: the manifest cannot be read"),
        "{error}"
    );
}

/// Each tool makes the manifests of a client. The documents of one are all that is answered.
#[tokio::test(flavor = "multi_thread")]
async fn manifests_of_the_real_tools_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.graphql");
    std::fs::write(&schema, SCHEMA).unwrap();
    for (tool, made) in [("apollo", 1), ("relay", 1), ("codegen", 2)] {
        let client = folder.path().join(tool);
        std::fs::create_dir(&client).unwrap();
        let mut command = node("manifest.mjs");
        command.arg(tool).arg(&schema).arg(&client);
        let output = run_beside(command).await;
        assert!(
            output.status.success(),
            "{tool}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let said = String::from_utf8(output.stdout).unwrap();
        let said: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        let manifests = said["manifests"].as_array().unwrap();
        assert_eq!(manifests.len(), made, "{tool}");
        for manifest in manifests {
            assert_served(Path::new(manifest.as_str().unwrap())).await;
        }
    }
}

/// Checks that the documents of a manifest are answered by their ids and texts, and no others.
async fn assert_served(manifest: &Path) {
    let name = manifest.display();
    let store = store_with(config(manifest), |options| options).await;
    let documents = documents(manifest);
    assert_eq!(documents.len(), 2, "{name}");
    for (id, body) in documents {
        let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": id } });
        let by_extension = store
            .app
            .post(&json!({ "extensions": extensions }))
            .await
            .data();
        let is_resolved = by_extension == json!({ "resolved": 7 });
        assert!(
            is_resolved || by_extension["crates"].as_array().map(Vec::len) == Some(3),
            "{name}: {by_extension}"
        );
        assert_eq!(
            store.by_id(&id, json!({})).await.data(),
            by_extension,
            "{name}"
        );
        assert_eq!(store.app.query(&body).await.data(), by_extension, "{name}");
    }
    assert_eq!(
        store.app.query("{ resolved }").await.code(),
        "FORBIDDEN",
        "{name}"
    );
    let unknown = store
        .app
        .post(&json!({ "extensions": persisted("{ resolved }") }))
        .await;
    assert_eq!(unknown.code(), "PERSISTED_QUERY_NOT_FOUND", "{name}");
}

/// The ids and documents of a manifest.
fn documents(manifest: &Path) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let manifest: Value = serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    match manifest["operations"].as_array() {
        Some(operations) => operations
            .iter()
            .map(|one| (text(&one["id"]), text(&one["body"])))
            .collect(),
        None => manifest
            .as_object()
            .unwrap()
            .iter()
            .map(|(id, body)| (id.clone(), text(body)))
            .collect(),
    }
}

/// As much of the schema as the clients use.
const SCHEMA: &str =
    "type Query { resolved(n: Int): Int! crates: [Crate!]! } type Crate { label: String! }";
