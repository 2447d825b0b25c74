//! Registrations have a bound, and sessions that are pushed out end with their tokens.

use serde_json::{Value, json};
use svc::accounts::AttemptLimits;

use super::client::{Held, PASSWORD, assert_accepted, assert_refused, login, post, register, with};
use super::service::{serve, serve_with};

#[tokio::test]
async fn registrations_are_limited_per_address() {
    let mut limits = AttemptLimits::default();
    limits.registrations_per_address = 3;
    let service = serve_with(|factory| factory.attempt_limits(limits)).await;
    let app = &service.app;
    // One that fails is none.
    let short = json!({ "username": "ada", "password": "short", "email": "ada@example.com" });
    assert_eq!(post(app, "/auth/register", short).await.status, 422);
    for name in ["ada", "bob", "cyd"] {
        register(app, name).await;
    }
    let taken = json!({ "username": "dan", "password": PASSWORD, "email": "dan@example.com" });
    let refused = post(app, "/auth/register", taken).await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert!(refused.headers.contains_key("retry-after"));
    // Those who have an account log in.
    assert_eq!(login(app, "ada", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn the_oldest_session_ends_beyond_a_hundred_sessions() {
    let service = serve().await;
    let app = &service.app;
    let first = register(app, "ada").await;
    let second = Held::of(&login(app, "ada", PASSWORD).await);
    for _ in 0..99 {
        assert_eq!(login(app, "ada", PASSWORD).await.status, 200);
    }
    assert_refused(app, &first).await;
    assert_accepted(app, &second).await;
    let sessions = with(app, &second.access, "GET", "/auth/sessions", Value::Null)
        .await
        .json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 100);
}
