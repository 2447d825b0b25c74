//! A scripted hour of a service: each of its security events once, in the order in which they
//! happen, with what is known of the client.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use svc::{SecurityLogConfig, get_security_logger, init_security_logger};
use svc_tests::{App, Socket};

use super::files::{PATIENCE, events};
use super::service::serve;
use crate::accounts::client::{Held, PASSWORD, login, refresh, register, with};
use crate::accounts::service::{SECRET, database, url_of};
use svc_tests::is_alone;

const NAME: &str = "all_events_are_logged_in_order";
const WRONG: &str = "not the password";

/// Asks with a name for the request, as a user if there is a token.
async fn ask(app: &App, token: &str, id: &str, document: &str) -> Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-request-id", id);
    let request = if token.is_empty() {
        request
    } else {
        request.bearer_auth(token)
    };
    app.send(request.body(json!({ "query": document }).to_string()))
        .await
        .json()
}

/// Registers, logs in, and fails to; the session that was begun last.
async fn accounts(app: &App) -> Held {
    let first = register(app, "ada").await;
    assert_eq!(login(app, "ada", WRONG).await.status, 401);
    assert_eq!(login(app, "no such\nname", WRONG).await.status, 401);
    let held = Held::of(&login(app, "ada", PASSWORD).await);
    refresh(app, &first.refresh).await;
    assert_eq!(refresh(app, &first.refresh).await.status, 401);
    assert_eq!(refresh(app, "no.such.token").await.status, 401);
    assert_eq!(
        with(app, "no.such.token", "GET", "/auth/me", Value::Null)
            .await
            .status,
        401
    );
    held
}

/// Asks for what is denied.
async fn denials(app: &App, held: &Held) {
    ask(app, "no.such.token", "r1", "{ own_salary { id } }").await;
    ask(app, "", "r2", "{ salaries { id } }").await;
    ask(
        app,
        &held.access,
        "r3",
        "{ a: salaries { id } b: salaries { id } }",
    )
    .await;
    ask(app, &held.access, "r4", "{ own_salary { amount } }").await;
    ask(app, &held.access, "r5", "{ a: secret_plan b: secret_plan }").await;
}

/// Asks as pages of other sites do, and too often, and for too much; what the service says to its
/// panic.
async fn abuse(app: &App, held: &Held) -> Value {
    let form = app
        .request("POST", "/graphql")
        .header("content-type", "text/plain")
        .header("x-request-id", "r6");
    assert_eq!(app.send(form.body("{}")).await.status, 403);
    for status in [200, 429] {
        assert_eq!(app.get("/rare").await.status, status);
    }
    ask(app, "", "r7", "{ own_salary { next { id } } }").await;
    let wide: String = (0..30).map(|n| format!("a{n}: secret_plan ")).collect();
    ask(app, "", "r8", &format!("{{ {wide} }}")).await;
    let panicked = ask(app, &held.access, "r9", "{ broken }").await;
    ask(app, "", "r10", "{ never }").await;
    panicked
}

/// Opens sockets that are refused.
async fn sockets(app: &App) {
    let foreign = [("origin", "https://evil.example"), ("x-request-id", "r12")];
    assert_eq!(Socket::upgrade(app, &foreign).await.err(), Some(403));
    let mut socket =
        Socket::open_with(app, &[("user-agent", "a socket"), ("x-request-id", "r13")]).await;
    socket.send(&json!({ "type": "connection_init", "payload": { "authorization": "Bearer no.such.token" } })).await;
    assert_eq!(socket.closed().await.0, 4403);
}

/// The type, the request and the resource of each event. The routes of accounts name their requests
/// themselves.
fn rows(events: &[Value]) -> Vec<[&str; 3]> {
    events
        .iter()
        .map(|event| {
            let text = |key: &str| event[key].as_str().unwrap_or_default();
            let id = text("request_id");
            [
                text("event_type"),
                if id.len() > 3 { "*" } else { id },
                text("resource"),
            ]
        })
        .collect()
}

const EVENTS: &[[&str; 3]] = &[
    ["auth.success", "*", ""],
    ["auth.failure", "*", ""],
    ["auth.failure", "*", ""],
    ["auth.success", "*", ""],
    ["auth.token_invalid", "*", ""],
    ["auth.token_revoked", "*", "session"],
    ["auth.token_invalid", "*", ""],
    ["auth.token_invalid", "*", ""],
    ["auth.token_invalid", "r1", ""],
    ["auth.permission_denied", "r2", "Query.salaries"],
    ["auth.permission_denied", "r3", "Query.salaries"],
    ["authz.field_denied", "r4", "Salary.amount"],
    ["authz.denied", "r5", "Query.secret_plan"],
    ["csrf.form", "r6", "/graphql"],
    ["rate_limit.exceeded", "", "/rare"],
    ["query.depth_exceeded", "r7", ""],
    ["query.complexity_exceeded", "r8", ""],
    ["system.panic", "r9", "Query.broken"],
    ["query.timeout", "r10", ""],
    ["csrf.foreign_origin", "r12", "/graphql"],
    ["auth.token_invalid", "r13", ""],
    ["auth.token_revoked", "*", "session"],
    ["auth.logout", "*", ""],
    ["auth.token_invalid", "r11", ""],
];

/// The one event of a request.
fn of<'e>(events: &'e [Value], request: &str) -> &'e Value {
    let mut found = events.iter().filter(|event| event["request_id"] == request);
    let (Some(event), None) = (found.next(), found.next()) else {
        panic!("{request}: {events:#?}")
    };
    event
}

#[tokio::test]
async fn all_events_are_logged_in_order() {
    if !is_alone(module_path!(), NAME) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    init_security_logger(SecurityLogConfig {
        path: Some(path.clone()),
        stdout: false,
    });
    let database = database().await;
    let app = serve(&url_of(&database)).await;
    let held = accounts(&app).await;
    denials(&app, &held).await;
    let panicked = abuse(&app, &held).await;
    sockets(&app).await;
    assert_eq!(
        with(&app, &held.access, "POST", "/auth/logout", Value::Null)
            .await
            .status,
        200
    );
    ask(&app, &held.access, "r11", "{ own_salary { id } }").await;

    assert!(get_security_logger().flush(PATIENCE));
    let found = events(&path);
    assert_eq!(rows(&found), EVENTS);
    assert_details(&found, &panicked);
    assert_no_secret(&path, &held);
}

fn assert_details(found: &[Value], panicked: &Value) {
    let user = found[0]["user_id"].as_str().expect("a user");
    for known in ["r3", "r4", "r5", "r9"] {
        assert_eq!(of(found, known)["user_id"], user, "{known}");
    }
    assert_eq!(found[0]["user_email"], "ada@example.com");
    let is_of_client = |event: &&Value| event["event_type"] != "auth.token_revoked";
    assert!(
        found
            .iter()
            .filter(is_of_client)
            .all(|event| event["ip_address"] == "127.0.0.1"),
        "{found:#?}"
    );
    assert_eq!(of(found, "r13")["user_agent"], "a socket");
    assert_eq!(of(found, "r3")["metadata"]["times"], 2);
    let denied = of(found, "r5");
    assert_eq!(denied["metadata"], json!({ "code": "NOT_YET", "times": 2 }));
    assert_eq!(
        (&denied["reason"], &denied["action"]),
        (&json!("it is secret"), &json!("query"))
    );
    let panic = of(found, "r9");
    assert_eq!(
        panic["metadata"]["error_id"],
        panicked["errors"][0]["extensions"]["errorId"]
    );
    assert!(panic["reason"].as_str().unwrap().contains("out of paper"));
    let times: Vec<_> = found
        .iter()
        .map(|event| event["timestamp"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
}

fn assert_no_secret(path: &Path, held: &Held) {
    let text = fs::read_to_string(path).unwrap();
    for secret in [
        PASSWORD,
        WRONG,
        SECRET,
        "no such",
        "no.such.token",
        &held.access,
        &held.refresh,
    ] {
        assert!(!text.contains(secret), "{secret:?} was written");
    }
}
