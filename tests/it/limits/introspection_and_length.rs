//! Introspection has a cost; chains of fragments and long texts hold nobody up.

use std::fmt::Write as _;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use svc::prelude::*;
use svc::{Limits, Operation};
use svc_tests::{App, TestDatabase};

#[svc_type]
#[derive(Clone)]
struct Node {
    id: i32,
}

#[svc_type]
impl Node {
    fn next(&self) -> Node {
        self.clone()
    }
}

#[svc::query]
fn start() -> Node {
    Node { id: 0 }
}

async fn app(limits: Limits) -> App {
    let url = TestDatabase::empty().await;
    let operation = Operation::new("query Start { start { id } }");
    let options = AppOptions::new()
        .database_url(url)
        .limits(limits)
        .operations([operation]);
    App::serve(options.queries(queries![start])).await
}

/// The query that tools send, with as many levels of types as GraphiQL's.
fn whole_schema() -> String {
    let mut ty = "kind name".to_owned();
    for _ in 0..9 {
        ty = format!("kind name ofType {{ {ty} }}");
    }
    let value =
        format!("name description type {{ {ty} }} defaultValue isDeprecated deprecationReason");
    format!(
        "description queryType {{ name }} mutationType {{ name }} subscriptionType {{ name }} types {{ kind name \
         description specifiedByURL fields(includeDeprecated: true) {{ name description \
         args(includeDeprecated: true) {{ {value} }} type {{ {ty} }} isDeprecated deprecationReason }} \
         inputFields(includeDeprecated: true) {{ {value} }} interfaces {{ {ty} }} \
         enumValues(includeDeprecated: true) {{ name description isDeprecated deprecationReason }} \
         possibleTypes {{ {ty} }} }} directives {{ name description isRepeatable locations \
         args(includeDeprecated: true) {{ {value} }} }}"
    )
}

#[tokio::test]
async fn a_full_introspection_query_is_answered() {
    let schema = whole_schema();
    for complexity in [Limits::default().complexity, 100] {
        let app = app(Limits {
            complexity,
            ..Limits::default()
        })
        .await;
        let data = app
            .query(&format!("{{ __schema {{ {schema} }} }}"))
            .await
            .data();
        assert!(data["__schema"]["types"].as_array().unwrap().len() > 10);
        app.query(
            "{ __type(name: \"Node\") { fields { name type { fields { name } } } } start { id } }",
        )
        .await
        .data();
    }
}

#[tokio::test]
async fn repetitive_introspection_is_refused() {
    let app = app(Limits::default()).await;
    let schema = whole_schema();
    let many: String = (0..12)
        .map(|n| format!("s{n}: __schema {{ {schema} }} "))
        .collect();
    let names = "name ".repeat(4_000);
    let mut doubled = "{ __schema { types { ...f0 } } }".to_owned();
    for n in 0..40 {
        let next = n + 1;
        let _ = write!(
            doubled,
            " fragment f{n} on __Type {{ a: ofType {{ ...f{next} }} b: ofType {{ ...f{next} }} }}"
        );
    }
    doubled += " fragment f40 on __Type { name }";
    for (what, document) in [
        ("the whole schema twelve times", format!("{{ {many} }}")),
        (
            "repeated names",
            format!("{{ __schema {{ types {{ fields {{ {names} }} }} }} }}"),
        ),
        ("lists in lists", {
            let nested = "fields { type { possibleTypes { name } fields { name args { name } } } }";
            let all: String = (0..60)
                .map(|n| format!("t{n}: types {{ {nested} }} "))
                .collect();
            format!("{{ __schema {{ {all} }} }}")
        }),
        ("fragments that double", doubled),
    ] {
        let reply = app.query(&document).await;
        assert!(
            ["QUERY_TOO_COMPLEX", "QUERY_TOO_DEEP"].contains(&reply.code().as_str()),
            "{what}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn introspection_adds_to_the_complexity_of_other_fields() {
    let app = app(Limits {
        complexity: 4,
        ..Limits::default()
    })
    .await;
    app.query("{ start { id next { id } } }").await.data();
    app.query("{ __schema { queryType { name } } }")
        .await
        .data();
    let reply = app
        .query("{ start { id next { id } } __schema { queryType { name } } }")
        .await;
    assert_eq!(reply.code(), "QUERY_TOO_COMPLEX", "{}", reply.text);
}

/// Fragments that each spread the next, inside as many inline fragments.
fn chain(fragments: usize, inline: usize) -> String {
    let mut text = "{start{...f0}}".to_owned();
    for n in 0..fragments {
        let (open, close) = ("...{".repeat(inline), "}".repeat(inline));
        let _ = write!(text, "fragment f{n} on Node{{{open}...f{}{close}}}", n + 1);
    }
    let _ = write!(text, "fragment f{fragments} on Node{{id}}");
    text
}

#[tokio::test]
async fn long_fragment_chains_are_refused() {
    let app = app(Limits::default()).await;
    for (fragments, inline) in [(1_300, 0), (99, 45), (95, 46), (60, 60)] {
        let reply = app.query(&chain(fragments, inline)).await;
        assert_eq!(
            reply.code(),
            "QUERY_TOO_DEEP",
            "{fragments} fragments: {}",
            reply.text
        );
    }
    assert_eq!(
        app.query(&chain(40, 0)).await.data(),
        json!({ "start": { "id": 0 } })
    );
}

#[tokio::test]
async fn registered_operations_are_found_despite_long_texts() {
    let app = app(Limits::default()).await;
    let answer = json!({ "start": { "id": 0 } });
    let text = "query Start { start { id } }";
    let hash = hex::encode(Sha256::digest(text));
    for body in [
        json!({ "query": text }),
        json!({ "query": format!("{text}{}", " ".repeat(900_000)) }),
        json!({ "documentId": format!("sha256:{hash}") }),
        json!({ "documentId": "Start" }),
        json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": hash } } }),
        json!({ "query": format!("#{}\n{text}", "x".repeat(900_000)) }),
    ] {
        assert_eq!(app.post(&body).await.data(), answer);
    }
}
