//! The routes, row by row.

use serde_json::{Value, json};
use svc::accounts::PasswordRules;

use super::client::{Held, PASSWORD, login, post, refresh, register, user_id, with};
use super::service::{SECRET, serve, serve_with};
use crate::auth::service::query;

#[tokio::test]
async fn registration_logs_the_user_in() {
    let service = serve().await;
    let body = json!({ "username": "Ada", "password": PASSWORD, "email": "ada@example.com" });
    let reply = post(&service.app, "/auth/register", body.clone()).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert_eq!(reply.headers["cache-control"], "no-store");
    let json = reply.json();
    assert_eq!(
        (&json["user"]["username"], &json["user"]["email"]),
        (&json!("ada"), &json!("ada@example.com"))
    );
    assert_eq!(
        (&json["expires_in"], &json["user"]["roles"]),
        (&json!(900), &json!([]))
    );
    assert!(!reply.text.contains("argon2") && !reply.text.contains(PASSWORD));
    let held = Held::of(&reply);
    let user = query(&service.app, &held.access, "{ me }").await.data()["me"].clone();
    assert_eq!(
        (&user["user_id"], &user["email"]),
        (&json["user"]["user_id"], &json!("ada@example.com"))
    );

    // The same name in capitals, and the same address in another case.
    let taken = post(&service.app, "/auth/register", body).await;
    assert_eq!(
        (taken.status, &taken.json()["error"]),
        (409, &json!("taken"))
    );
    let address = json!({ "username": "eve", "password": PASSWORD, "email": "ADA@example.com" });
    assert_eq!(
        post(&service.app, "/auth/register", address).await.json(),
        taken.json()
    );
}

#[tokio::test]
async fn an_invalid_registration_is_explained() {
    let service = serve().await;
    let whole = json!({ "username": "ada", "password": PASSWORD, "email": "a@b.example" });
    for (field, value, status, rule) in [
        ("password", json!("Ab1-"), 422, json!("min_length")),
        ("password", json!("password"), 422, json!("common")),
        ("password", json!("Qwertyuiop!"), 422, json!("common")),
        ("password", json!("!!ADA-2024"), 422, json!("own_name")),
        ("password", json!("a@b.example"), 422, json!("own_name")),
        (
            "password",
            json!(format!("Aa1-{}", "x".repeat(1_021))),
            422,
            json!("max_length"),
        ),
        (
            "password",
            json!("Correct-horse-7\u{7}"),
            422,
            json!("characters"),
        ),
        ("username", json!(""), 422, Value::Null),
        ("username", json!("a da"), 422, Value::Null),
        ("username", json!("a".repeat(256)), 422, Value::Null),
        ("email", json!("ada"), 422, Value::Null),
        ("email", json!("ada@"), 422, Value::Null),
        ("email", json!(7), 400, Value::Null),
        ("password", Value::Null, 400, Value::Null),
    ] {
        let mut body = whole.clone();
        body[field] = value.clone();
        let reply = post(&service.app, "/auth/register", body).await;
        assert_eq!(
            (reply.status, &reply.json()["rule"]),
            (status, &rule),
            "{field} {value}: {}",
            reply.text
        );
        assert!(reply.json()["error"].is_string() && reply.json()["message"].is_string());
    }
    let form = service
        .app
        .request("POST", "/auth/register")
        .body("username=ada");
    assert_eq!(service.app.send(form).await.status, 415);
    let large = json!({ "username": "a".repeat(20_000) });
    assert_eq!(post(&service.app, "/auth/login", large).await.status, 413);
    assert_eq!(service.app.get("/auth/login").await.status, 405);
}

#[tokio::test]
async fn a_log_in_issues_tokens_that_can_be_refreshed() {
    let service = serve().await;
    register(&service.app, "ada").await;
    let reply = login(&service.app, "ADA", PASSWORD).await;
    assert_eq!(
        (
            reply.status,
            &reply.headers["cache-control"].to_str().unwrap()
        ),
        (200, &"no-store")
    );
    let held = Held::of(&reply);
    let id = user_id(&service.app, &held.access).await;
    let renewed = refresh(&service.app, &held.refresh).await;
    assert_eq!(renewed.status, 200, "{}", renewed.text);
    let renewed = Held::of(&renewed);
    assert_eq!(user_id(&service.app, &renewed.access).await, id);
    let me = with(
        &service.app,
        &renewed.access,
        "GET",
        "/auth/me",
        Value::Null,
    )
    .await;
    assert_eq!((me.status, &me.json()["user"]["user_id"]), (200, &id));
}

#[tokio::test]
async fn character_classes_are_required_only_if_configured() {
    let open = serve().await;
    let mut rules = PasswordRules::default();
    rules.four_classes = true;
    let strict = serve_with(|factory| factory.password_rules(rules)).await;
    for (index, (password, rule)) in [
        ("NO-SMALL-1", "lowercase"),
        ("no-capital-1", "uppercase"),
        ("No-digit-at-all", "digit"),
        ("NoSymbol1234", "symbol"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("user{index}");
        let email = format!("{name}@example.com");
        let body = json!({ "username": name, "password": password, "email": email });
        let refused = post(&strict.app, "/auth/register", body.clone()).await;
        assert_eq!(
            (refused.status, &refused.json()["rule"]),
            (422, &json!(rule))
        );
        let made = post(&open.app, "/auth/register", body).await;
        assert_eq!(made.status, 201, "{}", made.text);
    }
}

/// An unknown name, a wrong password and a suspended account get the same response.
#[tokio::test]
async fn a_failed_log_in_does_not_reveal_the_reason() {
    let service = serve().await;
    register(&service.app, "ada").await;
    let wrong = login(&service.app, "ada", "Wrong-horse-7").await;
    assert_eq!(
        (wrong.status, &wrong.json()["error"]),
        (401, &json!("invalid_credentials"))
    );
    let unknown = login(&service.app, "eve", "Wrong-horse-7").await;
    assert_eq!((unknown.status, unknown.json()), (401, wrong.json()));
    service
        .database
        .execute("UPDATE svc_auth.account SET disabled = true")
        .await;
    let suspended = login(&service.app, "ada", PASSWORD).await;
    assert_eq!((suspended.status, suspended.json()), (401, wrong.json()));
}

/// Neither is accepted as the other, and no token with a foreign signature is.
#[tokio::test]
async fn access_and_refresh_tokens_are_not_interchangeable() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    assert_eq!(refresh(&service.app, &held.access).await.status, 401);
    assert_eq!(user_id(&service.app, &held.refresh).await, Value::Null);
    let reply = with(
        &service.app,
        &held.refresh,
        "POST",
        "/auth/logout",
        Value::Null,
    )
    .await;
    assert_eq!(reply.status, 401);
    assert!(
        reply.headers["www-authenticate"]
            .to_str()
            .unwrap()
            .starts_with("Bearer")
    );
    let [_, payload, _] = held.refresh.split('.').collect::<Vec<_>>()[..] else {
        panic!("three parts")
    };
    let forged = crate::auth::sign(
        r#"{"alg":"HS256"}"#,
        payload,
        b"another secret of more than 32 bytes.",
    );
    assert_eq!(refresh(&service.app, &forged).await.status, 401);
    let resigned = crate::auth::sign(r#"{"alg":"HS256"}"#, payload, SECRET.as_bytes());
    assert_eq!(refresh(&service.app, &resigned).await.status, 200);
}

/// RFC 6750, section 3.1.
#[tokio::test]
async fn a_challenge_has_an_error_only_if_a_token_was_sent() {
    let service = serve().await;
    let app = &service.app;
    let none = app.send(app.request("POST", "/auth/logout")).await;
    assert_eq!(
        (
            none.status,
            none.headers["www-authenticate"].to_str().unwrap()
        ),
        (401, "Bearer")
    );
    let bad = with(app, "nonsense", "POST", "/auth/logout", Value::Null).await;
    assert_eq!(
        (
            bad.status,
            bad.headers["www-authenticate"].to_str().unwrap()
        ),
        (401, "Bearer error=\"invalid_token\"")
    );
    let none = none.json();
    assert_eq!(none["error"], bad.json()["error"]);
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one() {
    let service = serve().await;
    let first = register(&service.app, "ada").await;
    let second = Held::of(&login(&service.app, "ada", PASSWORD).await);
    let strangers = register(&service.app, "eve").await;
    let list = async |held: &Held| {
        with(
            &service.app,
            &held.access,
            "GET",
            "/auth/sessions",
            Value::Null,
        )
        .await
        .json()["sessions"]
            .clone()
    };
    let sessions = list(&second).await;
    let sessions = sessions.as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    let other = sessions
        .iter()
        .find(|session| session["current"] == json!(false))
        .unwrap();
    let path = format!("/auth/sessions/{}", other["id"].as_str().unwrap());
    assert_eq!(
        with(
            &service.app,
            &strangers.access,
            "DELETE",
            &path,
            Value::Null
        )
        .await
        .status,
        404
    );
    assert_eq!(
        with(&service.app, &second.access, "DELETE", &path, Value::Null)
            .await
            .status,
        200
    );
    super::client::assert_refused(&service.app, &first).await;
    super::client::assert_accepted(&service.app, &second).await;
    assert_eq!(list(&second).await.as_array().unwrap().len(), 1);
    assert_eq!(
        with(
            &service.app,
            &second.access,
            "DELETE",
            "/auth/sessions/x",
            Value::Null
        )
        .await
        .status,
        404
    );
}
