//! A client of the routes.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc_tests::{App, Reply};

use crate::auth::service::query;

pub(crate) const PASSWORD: &str = "Correct-horse-7";

/// The tokens of a session.
pub(crate) struct Held {
    pub(crate) access: String,
    pub(crate) refresh: String,
}

impl Held {
    pub(crate) fn of(reply: &Reply) -> Self {
        let json = reply.json();
        let text = |name: &str| {
            json[name]
                .as_str()
                .unwrap_or_else(|| panic!("no {name}: {}", reply.text))
                .to_owned()
        };
        assert_eq!(json["token_type"], "bearer");
        Self {
            access: text("access_token"),
            refresh: text("refresh_token"),
        }
    }
}

/// Sends a JSON body to a route.
pub(crate) async fn post(app: &App, path: &str, body: Value) -> Reply {
    app.send(
        app.request("POST", path)
            .header("content-type", "application/json")
            .body(body.to_string()),
    )
    .await
}

/// Sends a request with an access token, and a JSON body where there is one.
pub(crate) async fn with(app: &App, token: &str, method: &str, path: &str, body: Value) -> Reply {
    let request = app
        .request(method, path)
        .bearer_auth(token)
        .header("content-type", "application/json");
    app.send(if body.is_null() {
        request
    } else {
        request.body(body.to_string())
    })
    .await
}

/// Registers `name`.
pub(crate) async fn register(app: &App, name: &str) -> Held {
    let email = format!("{name}@example.com");
    let reply = post(
        app,
        "/auth/register",
        json!({ "username": name, "password": PASSWORD, "email": email }),
    )
    .await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    Held::of(&reply)
}

pub(crate) async fn login(app: &App, name: &str, password: &str) -> Reply {
    post(
        app,
        "/auth/login",
        json!({ "username": name, "password": password }),
    )
    .await
}

pub(crate) async fn refresh(app: &App, token: &str) -> Reply {
    post(app, "/auth/refresh", json!({ "refresh_token": token })).await
}

/// The user whom the service sees.
pub(crate) async fn user_id(app: &App, token: &str) -> Value {
    query(app, token, "{ user_id }").await.data()["user_id"].clone()
}

/// An access token is refused on every path, and a refresh token where it is exchanged.
pub(crate) async fn assert_refused(app: &App, held: &Held) {
    let reply = query(app, &held.access, "{ me }").await;
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["reason"],
        "TOKEN_INVALID",
        "{}",
        reply.text
    );
    let get = app
        .request("GET", "/graphql?query={user_id}")
        .bearer_auth(&held.access);
    assert_eq!(app.send(get).await.data(), json!({ "user_id": null }));
    for (method, path) in [
        ("GET", "/auth/me"),
        ("GET", "/auth/sessions"),
        ("POST", "/auth/logout"),
        ("POST", "/auth/logout-all"),
        (
            "DELETE",
            "/auth/sessions/6f9619ff-8b86-4011-b42d-00c04fc964ff",
        ),
    ] {
        let reply = with(app, &held.access, method, path, Value::Null).await;
        assert_eq!(reply.status, 401, "{method} {path} {}", reply.text);
    }
    let change = json!({ "current_password": PASSWORD, "new_password": PASSWORD });
    assert_eq!(
        with(app, &held.access, "POST", "/auth/password", change)
            .await
            .status,
        401
    );
    let delete = with(
        app,
        &held.access,
        "DELETE",
        "/auth/me",
        json!({ "password": PASSWORD }),
    )
    .await;
    assert_eq!(delete.status, 401, "{}", delete.text);
    // It is there where mails are sent.
    let mail = with(
        app,
        &held.access,
        "POST",
        "/auth/email/verification",
        Value::Null,
    )
    .await;
    assert!([401, 404].contains(&mail.status), "{}", mail.text);
    // By the hash of a document, after the text has been sent with it.
    let hash = hex::encode(Sha256::digest("{ user_id }"));
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    for body in [
        json!({ "query": "{ user_id }", "extensions": extensions }),
        json!({ "extensions": extensions }),
    ] {
        let reply = with(app, &held.access, "POST", "/graphql", body).await;
        assert_eq!(reply.data(), json!({ "user_id": null }));
    }
    assert_eq!(refresh(app, &held.refresh).await.status, 401);
}

/// The access token holds on every path.
pub(crate) async fn assert_accepted(app: &App, held: &Held) {
    assert_ne!(user_id(app, &held.access).await, Value::Null);
    assert_eq!(
        with(app, &held.access, "GET", "/auth/me", Value::Null)
            .await
            .status,
        200
    );
}
