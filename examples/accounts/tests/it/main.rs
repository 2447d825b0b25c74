//! The page in a browser, and the routes that are the application's own.

#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};
use svc::AppOptions;
use svc::accounts::MIGRATION;
use svc_tests::{App, Reply, TestDatabase, chromium, node};

const SECRET: &str = "a secret of the example, longer than 32 bytes";

async fn serve() -> (App, TestDatabase) {
    let database = TestDatabase::new(MIGRATION).await;
    let router = accounts::app(AppOptions::new().database_url(database.url()), SECRET)
        .await
        .unwrap();
    (App::serve_router(router).await, database)
}

async fn post(app: &App, path: &str, token: &str, body: &Value) -> Reply {
    let request = app
        .request("POST", path)
        .bearer_auth(token)
        .header("content-type", "application/json");
    app.send(request.body(body.to_string())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_registers_logs_in_and_out() {
    let (app, _database) = serve().await;
    let mut command = node("accounts.mjs");
    command.arg(app.url("/")).env("CHROMIUM", chromium());
    let output = tokio::task::spawn_blocking(move || command.output())
        .await
        .unwrap()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();

    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test]
async fn weak_passwords_are_refused() {
    let (app, _database) = serve().await;
    for (password, rule) in [
        ("fourteen chars", "min_length"),
        ("password1234567", "common"),
        ("Accounts-Example-1", "context_word"),
        ("may the force be with you", "breached"),
    ] {
        let ada = json!({ "username": "ada", "password": password, "email": "ada@example.com" });
        let reply = post(&app, "/auth/register", "", &ada).await;
        assert_eq!(
            (reply.status, &reply.json()["rule"]),
            (422, &json!(rule)),
            "{password}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn the_routes_of_the_application_end_sessions() {
    let (app, _database) = serve().await;
    let ada =
        json!({ "username": "ada", "password": "Correct-horse-7", "email": "ada@example.com" });
    let registered = post(&app, "/auth/register", "", &ada).await;

    assert_eq!(registered.status, 201, "{}", registered.text);
    let login = async || {
        post(&app, "/auth/login", "", &ada).await.json()["access_token"]
            .as_str()
            .unwrap()
            .to_owned()
    };

    let me = async |token: &str| {
        post(
            &app,
            "/graphql",
            token,
            &json!({ "query": "{ me { name } }" }),
        )
        .await
        .json()
    };

    let [first, second, third] = [login().await, login().await, login().await];
    assert_eq!(
        me(&first).await,
        json!({ "data": { "me": { "name": "ada" } } })
    );

    let reply = post(&app, "/logout", &first, &json!({})).await;
    assert_eq!(
        (reply.status, reply.json()),
        (200, json!({ "message": "logged out" }))
    );
    assert_eq!(
        me(&first).await["errors"][0]["extensions"]["code"],
        "UNAUTHENTICATED"
    );
    assert_eq!(me(&second).await["data"]["me"]["name"], "ada");

    for path in ["/logout", "/logout-all"] {
        for bad in [first.as_str(), "nonsense"] {
            let reply = post(&app, path, bad, &json!({})).await;
            assert_eq!(
                (reply.status, reply.json()["message"].is_string()),
                (401, true),
                "{path}"
            );
        }
    }

    let reply = post(&app, "/logout-all", &second, &json!({})).await;
    assert_eq!(
        (reply.status, reply.json()),
        (200, json!({ "message": "logged out everywhere" }))
    );

    for token in [&second, &third] {
        assert_eq!(
            me(token).await["errors"][0]["extensions"]["code"],
            "UNAUTHENTICATED"
        );
    }

    assert_eq!(me(&login().await).await["data"]["me"]["name"], "ada");
}
