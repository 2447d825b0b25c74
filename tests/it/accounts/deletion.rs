//! Accounts that end.

use serde_json::{Value, json};

use super::client::{PASSWORD, assert_accepted, assert_refused, login, register, with};
use super::service::serve;

#[tokio::test]
async fn deleting_an_account_requires_its_password_and_ends_its_sessions() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    let delete = async |password: &str| {
        with(
            &service.app,
            &held.access,
            "DELETE",
            "/auth/me",
            json!({ "password": password }),
        )
        .await
        .status
    };
    assert_eq!(delete("Wrong-horse-7").await, 401);
    assert_accepted(&service.app, &held).await;
    assert_eq!(delete(PASSWORD).await, 200);
    assert_refused(&service.app, &held).await;
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 401);
    let again = register(&service.app, "ada").await;
    assert_accepted(&service.app, &again).await;
}

/// The owner of the table deletes it, without the service.
#[tokio::test]
async fn deleting_the_row_of_an_account_ends_its_sessions() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    let other = register(&service.app, "eve").await;
    service
        .database
        .execute("DELETE FROM svc_auth.account WHERE username = 'ada'")
        .await;
    assert_refused(&service.app, &held).await;
    assert_accepted(&service.app, &other).await;
}

/// The response does not give the reason.
#[tokio::test]
async fn an_unavailable_database_makes_accounts_unavailable() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    service
        .database
        .execute("ALTER SCHEMA svc_auth RENAME TO moved")
        .await;
    let reply = login(&service.app, "ada", PASSWORD).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]),
        (503, &json!("service_unavailable"))
    );
    assert!(!reply.text.contains("svc_auth"), "{}", reply.text);
    assert_eq!(
        with(&service.app, &held.access, "GET", "/auth/me", Value::Null)
            .await
            .status,
        503
    );
    let reply = crate::auth::service::query(&service.app, &held.access, "{ open }").await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "SERVICE_UNAVAILABLE")
    );
    service
        .database
        .execute("ALTER SCHEMA moved RENAME TO svc_auth")
        .await;
    assert_accepted(&service.app, &held).await;
}
