//! Errors of batch methods: each object has its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use svc::{Environment, SvcConfig};
use svc_tests::{App, Log, eventually, without_error_ids};

use super::{Calls, Running, app, options};

const ENVIRONMENTS: [Environment; 2] = [Environment::Development, Environment::Production];

async fn serve(environment: Environment) -> App {
    let config = SvcConfig {
        environment,
        ..SvcConfig::default()
    };
    App::serve(options(config, &Calls::default()).await).await
}

fn errors(reply: &Value) -> &Vec<Value> {
    reply["errors"].as_array().unwrap()
}

/// Each field has a method with the same behavior that is called for each object.
#[tokio::test]
async fn errors_and_nulls_are_those_of_a_method_of_each_object() {
    for environment in ENVIRONMENTS {
        let app = serve(environment).await;
        for field in ["half", "exact_half", "closed", "unknown", "breaks"] {
            for list in [
                "{ made(count: 6)",
                "{ items(limit: 7)",
                "{ shelves { items",
                "mutation { touched",
                "mutation { added(count: 4)",
            ] {
                let end = if list.contains("shelves") { "} }" } else { "}" };
                let document = |field: &str| format!("{list} {{ id value: {field} }} {end}");
                let batch = app.query(&document(field)).await;
                let single = app.query(&document(&format!("{field}_one"))).await;
                assert!(batch.json()["errors"].is_array(), "{}", batch.text);
                assert_eq!(
                    (batch.status, without_error_ids(&batch.text)),
                    (single.status, without_error_ids(&single.text)),
                    "{}",
                    document(field)
                );
            }
        }
    }
}

#[tokio::test]
async fn an_error_of_one_object_leaves_the_others_alone() {
    let (app, _) = app().await;
    let reply = app.query("{ made(count: 4) { half exact_half } }").await;
    let json = reply.json();
    let even = |half: i32| json!({ "half": half, "exact_half": half });
    assert_eq!(json["data"]["made"], json!([null, even(1), null, even(2)]));
    let mut paths: Vec<String> = errors(&json)
        .iter()
        .map(|error| error["path"].to_string())
        .collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            r#"["made",0,"exact_half"]"#,
            r#"["made",0,"half"]"#,
            r#"["made",2,"exact_half"]"#,
            r#"["made",2,"half"]"#
        ]
    );
}

#[tokio::test]
async fn the_errors_of_two_places_are_in_request_order() {
    let (app, _) = app().await;
    let document = "{ pages(first: 3) { edges { node { half } } nodes { half } } }";
    let json = app.query(document).await.json();
    let nodes = json!([{ "half": null }, { "half": 1 }, { "half": null }]);
    assert_eq!(json["data"]["pages"]["nodes"], nodes, "{json}");
    let paths: Vec<String> = errors(&json)
        .iter()
        .map(|error| error["path"].to_string())
        .collect();
    assert_eq!(
        paths,
        [
            r#"["pages","edges",0,"node","half"]"#,
            r#"["pages","edges",2,"node","half"]"#,
            r#"["pages","nodes",0,"half"]"#,
            r#"["pages","nodes",2,"half"]"#
        ]
    );
}

#[tokio::test]
async fn a_wrong_number_of_values_fails_each_object() {
    for environment in ENVIRONMENTS {
        let log = Log::start();
        let app = serve(environment).await;
        for count in [0, 2, 4] {
            let document = format!("{{ made(count: 3) {{ id counted(count: {count}) }} }}");
            let reply = app.query(&document).await;
            let reason = format!(
                "`Item.counted` must return a value for each object; objects: 3, values: {count}"
            );
            let shown = match environment {
                Environment::Development => json!(reason),
                _ => json!(null),
            };
            let json = reply.json();
            let item = |id: i32| json!({ "id": id, "counted": null });
            assert_eq!(json["data"]["made"], json!([item(1), item(2), item(3)]));
            assert_eq!(errors(&json).len(), 3, "{}", reply.text);
            for (index, error) in errors(&json).iter().enumerate() {
                assert_eq!(error["path"], json!(["made", index, "counted"]));
                assert_eq!(error["message"], "internal server error");
                let extensions = &error["extensions"];
                assert_eq!(extensions["code"], "INTERNAL_SERVER_ERROR");
                assert_eq!(extensions["reason"], shown, "{}", reply.text);
                assert!(extensions["errorId"].is_string(), "{}", reply.text);
            }
            log.has(&reason).await;
        }
        app.query("{ made(count: 3) { counted(count: 3) } }")
            .await
            .data();
    }
}

#[tokio::test]
async fn a_panic_fails_the_objects_of_its_call() {
    let log = Log::start();
    let (app, _) = app().await;
    let reply = app.query("{ made(count: 3) { id breaks twice } }").await;
    let json = reply.json();
    let item = |id: i32| json!({ "id": id, "breaks": null, "twice": id * 2 });
    assert_eq!(json["data"]["made"], json!([item(1), item(2), item(3)]));
    assert_eq!(errors(&json).len(), 3, "{}", reply.text);
    for (index, error) in errors(&json).iter().enumerate() {
        assert_eq!(error["path"], json!(["made", index, "breaks"]));
        assert_eq!(error["message"], "internal server error");
    }
    log.has("the resolver panicked: the shelf broke under 3 items")
        .await;
}

#[tokio::test]
async fn a_call_ends_with_its_request() {
    let running = Arc::new(Running::default());
    let config = SvcConfig {
        request_timeout: Some(Duration::from_secs(1)),
        ..SvcConfig::default()
    };
    let options = options(config, &Calls::default()).await;
    let app = App::serve(options.data(running.clone())).await;
    let reply = app.query("{ made(count: 3) { waits } }").await;
    assert_eq!(reply.code(), "TIMEOUT", "{}", reply.text);
    assert_eq!(running.started.load(Ordering::SeqCst), 1);
    eventually(async || match running.ended.load(Ordering::SeqCst) {
        1 => Ok(()),
        count => Err(format!("{count} calls have ended")),
    })
    .await;
}
