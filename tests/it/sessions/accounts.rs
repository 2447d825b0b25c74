//! The session of a browser that uses the routes of native accounts.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use svc::accounts::{
    AccountMail, AccountMailer, NativeAuthFactory, PostgresUserRepository, create_auth_router,
};
use svc::create_svc_app;
use svc::sessions::{MemorySessionStore, SessionLayer};
use svc_tests::{App, Redis, Reply, TestDatabase};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::browser::{Browser, config, options};
use super::stores::redis_layer;
use crate::accounts::client::{Held, PASSWORD};
use crate::accounts::{accounts, database, factory, provider};

const NEW: &str = "Another-horse-8";

/// A service of native accounts with sessions in memory, and its database.
async fn serve_with(
    change: impl FnOnce(NativeAuthFactory) -> NativeAuthFactory,
) -> (App, TestDatabase) {
    let database = database().await;
    let accounts = accounts(&database);
    let native = provider(
        change(factory(&accounts)),
        PostgresUserRepository::new(&accounts),
    );
    let layer = SessionLayer::with_store(config(), MemorySessionStore::new()).unwrap();
    let router = create_svc_app(options().auth_provider(native.clone()))
        .await
        .unwrap();
    (
        App::serve_router(
            router
                .nest("/auth", create_auth_router(&native))
                .layer(layer),
        )
        .await,
        database,
    )
}

async fn serve() -> (App, TestDatabase) {
    serve_with(|factory| factory).await
}

async fn post(app: &App, browser: &mut Browser, path: &str, body: Value) -> Reply {
    let request = app
        .request("POST", path)
        .header("content-type", "application/json");
    browser
        .send_request(app, request.body(body.to_string()))
        .await
}

async fn with(
    app: &App,
    browser: &mut Browser,
    token: &str,
    (method, path): (&str, &str),
    body: Value,
) -> Reply {
    let request = app
        .request(method, path)
        .bearer_auth(token)
        .header("content-type", "application/json");
    browser
        .send_request(app, request.body(body.to_string()))
        .await
}

/// A browser with a value in its session.
async fn visitor(app: &App) -> Browser {
    let mut browser = Browser::default();
    browser.set(app, "basket").await;
    browser
}

async fn register(app: &App, browser: &mut Browser, name: &str) -> Held {
    let body =
        json!({ "username": name, "password": PASSWORD, "email": format!("{name}@example.com") });
    let reply = post(app, browser, "/auth/register", body).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    Held::of(&reply)
}

/// The values that a browser and a copy of its earlier cookie see.
async fn values(app: &App, browser: &mut Browser, mut copy: Browser) -> (Value, Value) {
    (browser.value(app).await, copy.value(app).await)
}

/// The session keeps its values under a new identifier: what was planted before is worth nothing.
#[tokio::test]
async fn a_log_in_renews_the_session() {
    let (app, _database) = serve().await;
    let mut browser = visitor(&app).await;
    let planted = browser.clone();
    register(&app, &mut browser, "ada").await;
    assert_eq!(
        values(&app, &mut browser, planted).await,
        (json!("basket"), Value::Null)
    );
    let planted = browser.clone();
    let reply = post(
        &app,
        &mut browser,
        "/auth/login",
        json!({ "username": "ada", "password": PASSWORD }),
    )
    .await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(
        values(&app, &mut browser, planted).await,
        (json!("basket"), Value::Null)
    );
}

#[tokio::test]
async fn every_end_of_a_log_in_ends_the_session() {
    let (app, _database) = serve().await;
    for (name, method, path) in [
        ("ada", "POST", "/auth/logout"),
        ("bob", "POST", "/auth/logout-all"),
        ("cleo", "DELETE", "/auth/sessions/{id}"),
        ("dora", "DELETE", "/auth/me"),
    ] {
        let mut browser = visitor(&app).await;
        let held = register(&app, &mut browser, name).await;
        let copy = browser.clone();
        let listed = with(
            &app,
            &mut browser,
            &held.access,
            ("GET", "/auth/sessions"),
            Value::Null,
        )
        .await
        .json();
        let path = path.replace("{id}", listed["sessions"][0]["id"].as_str().unwrap());
        let password = json!({ "password": PASSWORD });
        let reply = with(
            &app,
            &mut browser,
            &held.access,
            (method, path.as_str()),
            password,
        )
        .await;
        assert_eq!(
            (reply.status, &browser.cookie),
            (200, &None),
            "{path} {}",
            reply.text
        );
        assert_eq!(
            values(&app, &mut browser, copy).await,
            (Value::Null, Value::Null),
            "{path}"
        );
    }
}

#[tokio::test]
async fn ending_another_session_keeps_that_of_the_browser() {
    let (app, _database) = serve().await;
    let (mut browser, mut other) = (visitor(&app).await, Browser::default());
    let held = register(&app, &mut browser, "ada").await;
    post(
        &app,
        &mut other,
        "/auth/login",
        json!({ "username": "ada", "password": PASSWORD }),
    )
    .await;
    let listed = with(
        &app,
        &mut browser,
        &held.access,
        ("GET", "/auth/sessions"),
        Value::Null,
    )
    .await
    .json();
    let sessions = listed["sessions"].as_array().unwrap();
    let id = sessions
        .iter()
        .find(|session| session["current"] == json!(false))
        .unwrap()["id"]
        .as_str()
        .unwrap();
    let path = format!("/auth/sessions/{id}");
    assert_eq!(
        with(
            &app,
            &mut browser,
            &held.access,
            ("DELETE", path.as_str()),
            Value::Null
        )
        .await
        .status,
        200
    );
    assert_eq!(browser.value(&app).await, "basket");
}

#[tokio::test]
async fn a_password_change_renews_the_session() {
    let (app, _database) = serve().await;
    let mut browser = visitor(&app).await;
    let held = register(&app, &mut browser, "ada").await;
    let stolen = browser.clone();
    for (current, status) in [("Wrong-horse-7", 401), (PASSWORD, 200)] {
        assert_eq!(browser.cookie, stolen.cookie);
        let change = json!({ "current_password": current, "new_password": NEW });
        let reply = with(
            &app,
            &mut browser,
            &held.access,
            ("POST", "/auth/password"),
            change,
        )
        .await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert_eq!(
        values(&app, &mut browser, stolen).await,
        (json!("basket"), Value::Null)
    );
}

/// Whether the session can be renewed is known before anything is changed.
#[tokio::test]
async fn a_password_stays_if_the_session_of_the_browser_is_unavailable() {
    let mut redis = Redis::new().await;
    let database = database().await;
    let accounts = accounts(&database);
    let native = provider(factory(&accounts), PostgresUserRepository::new(&accounts));
    let router = create_svc_app(options().auth_provider(native.clone()))
        .await
        .unwrap();
    let router = router.nest("/auth", create_auth_router(&native));
    let app = App::serve_router(router.layer(redis_layer(&redis))).await;
    let mut browser = visitor(&app).await;
    let held = register(&app, &mut browser, "ada").await;
    redis.stop();
    let change = json!({ "current_password": PASSWORD, "new_password": NEW });
    let route = ("POST", "/auth/password");
    let reply = with(&app, &mut browser, &held.access, route, change).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]),
        (503, &json!("service_unavailable")),
        "{}",
        reply.text
    );

    // Without a cookie, the log-in needs no store.
    for (password, status) in [(NEW, 401), (PASSWORD, 200)] {
        let body = json!({ "username": "ada", "password": password });
        let reply = post(&app, &mut Browser::default(), "/auth/login", body).await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
}

struct Outbox(UnboundedSender<AccountMail>);

impl AccountMailer for Outbox {
    async fn send(&self, mail: AccountMail) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.0.send(mail)?)
    }
}

#[tokio::test]
async fn a_password_that_is_reset_renews_the_session() {
    let (sender, mut mails) = unbounded_channel();
    let (app, _database) = serve_with(|factory| factory.mailer(Outbox(sender))).await;
    let mut browser = visitor(&app).await;
    register(&app, &mut browser, "ada").await;
    post(
        &app,
        &mut browser,
        "/auth/password/forgot",
        json!({ "email": "ada@example.com" }),
    )
    .await;
    let mailed = async {
        loop {
            if let AccountMail::ResetPassword { token, .. } = mails.recv().await.unwrap() {
                return token;
            }
        }
    };
    let token = tokio::time::timeout(Duration::from_secs(30), mailed)
        .await
        .unwrap();
    let stolen = browser.clone();
    let reply = post(
        &app,
        &mut browser,
        "/auth/password/reset",
        json!({ "token": token, "password": NEW }),
    )
    .await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(
        values(&app, &mut browser, stolen).await,
        (json!("basket"), Value::Null)
    );
}
