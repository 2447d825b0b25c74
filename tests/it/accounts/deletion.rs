//! Accounts that end.

use serde_json::{Value, json};

use super::client::{PASSWORD, assert_accepted, assert_refused, login, register, with};
use super::service::serve;

#[tokio::test]
async fn who_deletes_an_account_needs_its_password_and_is_logged_out() {
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

/// Also where the owner of the table deletes the row.
#[tokio::test]
async fn a_deleted_row_leaves_no_session() {
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

/// A database that is away closes the routes, and nothing is told of why.
#[tokio::test]
async fn without_the_database_nobody_logs_in() {
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
