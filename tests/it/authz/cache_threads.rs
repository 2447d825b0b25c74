//! The cache of decisions under many threads: each question is asked once, and each gets its own
//! answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc::ProtectionConfig;
use svc::authz::{AuthorizationCacheConfig, Authorizer};
use svc::prelude::*;
use svc_tests::App;

const THREADS: usize = 64;
const QUESTIONS: [&str; 8] = [
    "{ any(value: 1) }",
    r#"{ any(value: "1") }"#,
    "{ any(value: [1]) }",
    r#"{ any(value: ["1"]) }"#,
    "{ any(value: null) }",
    "{ any }",
    "{ other }",
    "mutation { other }",
];

#[svc::query]
fn any(value: Option<Value>) -> Option<String> {
    value.map(|value| value.to_string())
}
#[svc::query]
fn other() -> Option<i32> {
    Some(7)
}
#[svc::mutation(name = "other")]
fn change_other() -> Option<i32> {
    Some(8)
}

/// The questions with those who asked them, and how often.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<HashMap<String, usize>>>);

impl Authorizer for Asked {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let principal = request
            .context()
            .header("x-principal")
            .unwrap_or_default()
            .to_owned();
        let (kind, name) = (request.operation_type(), request.operation_name());
        *self
            .0
            .lock()
            .unwrap()
            .entry(format!(
                "{principal} {kind} {name} {:?}",
                request.arguments()
            ))
            .or_default() += 1;
        // Others come while this one is thinking.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(AuthorizationDecision::deny_with(
            format!("NOT_{principal}"),
            format!("{kind} {name}"),
        ))
    }
}

/// Asks all questions as all principals, each thread in an order of its own; every answer names its
/// question.
fn ask_all(address: &str, thread: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = svc_tests::client();
        for step in 0..QUESTIONS.len() * 4 {
            let at = (step + thread * 5) % (QUESTIONS.len() * 4);
            let (query, principal) = (
                QUESTIONS[at % QUESTIONS.len()],
                ["a", "b", "a,b", "A"][at / QUESTIONS.len()],
            );
            let request = client
                .post(address)
                .header("content-type", "application/json");
            let body = json!({ "query": query }).to_string();
            let reply = request
                .header("x-principal", principal)
                .body(body)
                .send()
                .await
                .unwrap();
            let answer: Value = serde_json::from_str(&reply.text().await.unwrap()).unwrap();
            let error = &answer["errors"][0];
            assert_eq!(
                error["extensions"]["code"],
                format!("NOT_{principal}"),
                "{query}: {answer}"
            );
            let kind = if query.starts_with("mutation") {
                "mutation"
            } else {
                "query"
            };
            let name = if query.contains("any") {
                "any"
            } else {
                "other"
            };
            assert_eq!(
                error["message"],
                format!("{kind} {name}"),
                "{query}: {answer}"
            );
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_threads_request_each_decision_once() {
    let (asked, clock) = (Asked::default(), Arc::new(Mutex::new(Instant::now())));
    let now = clock.clone();
    let cache = AuthorizationCacheConfig::new(|ctx| ctx.header("x-principal").map(str::to_owned))
        .ttl(Duration::from_secs(5))
        .clock(move || *now.lock().unwrap());
    // All of them are answered, however slow the machine is.
    let protection = ProtectionConfig {
        load_shedding: false,
        ..ProtectionConfig::default()
    };
    let options = AppOptions::new()
        .config(SvcConfig {
            protection,
            ..SvcConfig::default()
        })
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![any, other])
        .mutations(mutations![change_other])
        .authorizer(asked.clone())
        .authorization_cache(cache);
    let app = App::serve(options).await;
    let address = app.url("/graphql");
    for round in 1..=2 {
        let address = address.clone();
        let threads = move || {
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let address = &address;
                    scope.spawn(move || ask_all(address, thread));
                }
            });
        };
        tokio::task::spawn_blocking(threads).await.unwrap();
        let counts = asked.0.lock().unwrap().clone();
        assert_eq!(counts.len(), QUESTIONS.len() * 4, "{counts:?}");
        assert!(
            counts.values().all(|count| *count == round),
            "once in each time: {counts:?}"
        );
        *clock.lock().unwrap() += Duration::from_secs(5);
    }
}
