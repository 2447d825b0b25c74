//! The log as JSON: each line is an object, whatever clients choose.

use std::process::Command;

use serde_json::{Value, json};
use svc::auth::UserContext;
use svc::axum::Extension;
use svc::{AppOptions, Server, create_svc_app};
use svc_tests::{Program, client};

use super::refused::queries;

const CHILD: &str = "SVC_TESTS_JSON_LOG";
const NAME: &str = "each_log_line_is_a_json_object";

/// A program that logs to its standard error, as one does that sets up no log.
async fn serve() {
    let options = AppOptions::from_env().unwrap().queries(queries());
    let router = create_svc_app(options).await.unwrap();
    let user = UserContext::new("ada\n{\"level\":\"ERROR\"}\u{2028}\u{202e}x");
    let server = Server::bind(([127, 0, 0, 1], 0)).await.unwrap();
    let url = format!("http://{}/graphql", server.local_addr());
    tokio::spawn(server.run(router.layer(Extension(user)), std::future::pending()));
    let body = json!({ "query": "query Named { waits(seconds: 0) }" });
    let reply = client()
        .post(url)
        .header("x-request-id", "json")
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status().as_u16(), 200);
}

#[tokio::test]
async fn each_log_line_is_a_json_object() {
    if std::env::var_os(CHILD).is_some() {
        return serve().await;
    }
    let test = format!("{}::{NAME}", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &test, "--nocapture"])
        .stdout(std::process::Stdio::null())
        .envs([
            (CHILD, "1"),
            ("SVC_LOG_FORMAT", "json"),
            ("SVC_LOG_REQUESTS", "true"),
            ("SVC_LOG_USERS", "true"),
            ("SVC_DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing"),
        ]);
    let (status, lines) = Program::start(&mut command).end();
    assert!(status.success(), "{lines:#?}");
    let objects: Vec<Value> = lines
        .iter()
        .map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
        })
        .collect();
    let request = objects
        .iter()
        .find(|object| object["target"] == "svc::request")
        .unwrap();
    assert_eq!(
        (&request["request_id"], &request["status"]),
        (&json!("json"), &json!(200))
    );
    assert_eq!(
        (&request["operation"], &request["kind"]),
        (&json!("Named"), &json!("query"))
    );
    assert_eq!(
        (&request["message"], &request["level"]),
        (&json!("request"), &json!("INFO"))
    );
    assert_eq!(
        request["user_id"],
        "ada\n{\"level\":\"ERROR\"}\u{2028}\u{202e}x"
    );
    assert!(
        request["duration_ms"].as_f64().unwrap() > 0.0 && request["timestamp"].is_string(),
        "{request}"
    );
    assert!(
        lines
            .iter()
            .all(|line| !line.contains(['\u{2028}', '\u{202e}']))
    );
}
