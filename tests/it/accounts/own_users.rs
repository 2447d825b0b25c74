//! A repository of an application's own that has only what it must have.

use serde_json::json;
use svc::accounts::{Account, AccountError, PasswordHash, PostgresUserRepository, UserRepository};
use svc_tests::Log;

use super::client::{Held, PASSWORD, assert_accepted, login, refresh, register, with};
use super::service::{accounts, database, factory, provider, serve_provider};

type Id = svc::prelude::Uuid;

/// The methods without a default.
struct Few(PostgresUserRepository);

impl UserRepository for Few {
    async fn get_user_by_username(&self, username: &str) -> Result<Option<Account>, AccountError> {
        self.0.get_user_by_username(username).await
    }
    async fn get_user_by_id(&self, user_id: Id) -> Result<Option<Account>, AccountError> {
        self.0.get_user_by_id(user_id).await
    }
    async fn create_user(
        &self,
        username: &str,
        hash: &PasswordHash,
        email: &str,
    ) -> Result<Account, AccountError> {
        self.0.create_user(username, hash, email).await
    }
    async fn password_salt(&self, user_id: Id) -> Result<Option<String>, AccountError> {
        self.0.password_salt(user_id).await
    }
    async fn password_matches(
        &self,
        user_id: Id,
        hash: &PasswordHash,
    ) -> Result<bool, AccountError> {
        self.0.password_matches(user_id, hash).await
    }
}

#[tokio::test]
async fn the_required_repository_methods_suffice_to_log_in() {
    let log = Log::start();
    let database = database().await;
    let accounts = accounts(&database);
    let users = Few(PostgresUserRepository::new(&accounts));
    let app = serve_provider(&provider(factory(&accounts), users)).await;
    register(&app, "ada").await;
    let held = Held::of(&login(&app, "ada", PASSWORD).await);
    let held = Held::of(&refresh(&app, &held.refresh).await);
    assert_accepted(&app, &held).await;
    let change = json!({ "current_password": PASSWORD, "new_password": "Another-horse-8" });
    for (method, path, body, missing) in [
        ("POST", "/auth/password", change, "set_password"),
        (
            "DELETE",
            "/auth/me",
            json!({ "password": PASSWORD }),
            "delete_user",
        ),
    ] {
        let reply = with(&app, &held.access, method, path, body).await;
        assert_eq!(
            (reply.status, &reply.json()["error"]),
            (503, &json!("service_unavailable")),
            "{path}: {}",
            reply.text
        );
        log.has(&format!("the repository of users has no `{missing}`"))
            .await;
    }
    // Neither has ended the session.
    assert_accepted(&app, &held).await;
}
