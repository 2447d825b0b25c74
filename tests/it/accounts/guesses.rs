//! Passwords that are guessed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use svc::accounts::{
    Account, AccountError, AttemptLimits, PasswordHash, PostgresUserRepository, UserRepository,
};

use super::client::{PASSWORD, login, post, register, with};
use super::service::{accounts, database, factory, provider, serve_provider, serve_with};

type Id = svc::prelude::Uuid;

/// An application's own repository, that counts the hashes that are compared.
#[derive(Clone)]
struct Counting {
    users: PostgresUserRepository,
    compared: Arc<AtomicUsize>,
}

impl UserRepository for Counting {
    async fn get_user_by_username(&self, username: &str) -> Result<Option<Account>, AccountError> {
        self.users.get_user_by_username(username).await
    }
    async fn get_user_by_id(&self, user_id: Id) -> Result<Option<Account>, AccountError> {
        self.users.get_user_by_id(user_id).await
    }
    async fn get_user_by_email(&self, email: &str) -> Result<Option<Account>, AccountError> {
        self.users.get_user_by_email(email).await
    }
    async fn create_user(
        &self,
        username: &str,
        hash: &PasswordHash,
        email: &str,
    ) -> Result<Account, AccountError> {
        self.users.create_user(username, hash, email).await
    }
    async fn password_salt(&self, user_id: Id) -> Result<Option<String>, AccountError> {
        self.users.password_salt(user_id).await
    }
    async fn password_matches(
        &self,
        user_id: Id,
        hash: &PasswordHash,
    ) -> Result<bool, AccountError> {
        self.compared.fetch_add(1, Ordering::Relaxed);
        self.users.password_matches(user_id, hash).await
    }
    async fn set_password(
        &self,
        user_id: Id,
        hash: &PasswordHash,
        old: Option<&PasswordHash>,
    ) -> Result<bool, AccountError> {
        self.users.set_password(user_id, hash, old).await
    }
    async fn verify_email(&self, user_id: Id, email: &str) -> Result<bool, AccountError> {
        self.users.verify_email(user_id, email).await
    }
    async fn delete_user(&self, user_id: Id) -> Result<bool, AccountError> {
        self.users.delete_user(user_id).await
    }
}

fn limits(per_account: u32, per_address: u32) -> AttemptLimits {
    let mut limits = AttemptLimits::default();
    (limits.per_account, limits.per_address) = (per_account, per_address);
    limits
}

/// For a name that exists and for one that does not. With more than fifty at a time, a guess could
/// wait too long for one of the eight connections.
#[tokio::test]
async fn two_hundred_concurrent_guesses_cause_ten_hashes() {
    let database = database().await;
    let accounts = accounts(&database);
    let users = Counting {
        users: PostgresUserRepository::new(&accounts),
        compared: Arc::default(),
    };
    let native = provider(
        factory(&accounts).attempt_limits(limits(10, 1_000)),
        users.clone(),
    );
    let app = serve_provider(&native).await;
    register(&app, "ada").await;
    for name in ["ada", "nobody"] {
        users.compared.store(0, Ordering::Relaxed);
        let guesses = stream::iter((0..200).map(|_| login(&app, name, "Wrong-horse-7")));
        let replies: Vec<_> = guesses.buffer_unordered(50).collect().await;
        let count = |status: u16| {
            replies
                .iter()
                .filter(|reply| reply.status == status)
                .count()
        };
        assert_eq!((count(401), count(429)), (10, 190), "{name}");
        assert_eq!(users.compared.load(Ordering::Relaxed), 10, "{name}");
        let late = replies.iter().find(|reply| reply.status == 429).unwrap();
        let wait = late.json()["retry_after"].as_u64().unwrap();
        assert_eq!(
            late.headers["retry-after"].to_str().unwrap(),
            wait.to_string()
        );
        assert!((1..=900).contains(&wait), "{wait}");
        assert_eq!(late.json()["error"], "Rate Limit Exceeded");
    }
    // The right one neither, and another instance knows of it.
    let other = serve_provider(&provider(
        factory(&accounts).attempt_limits(limits(10, 1_000)),
        users,
    ))
    .await;
    assert_eq!(login(&other, "ada", PASSWORD).await.status, 429);
}

#[tokio::test]
async fn guesses_are_also_counted_per_address() {
    let service = serve_with(|factory| factory.attempt_limits(limits(10, 20))).await;
    let names: Vec<_> = (0..60).map(|number| format!("user{number}")).collect();
    let guesses = stream::iter(
        names
            .iter()
            .map(|name| login(&service.app, name, "Wrong-horse-7")),
    );
    let replies: Vec<_> = guesses.buffer_unordered(16).collect().await;
    assert_eq!(
        replies.iter().filter(|reply| reply.status == 401).count(),
        20
    );
    assert_eq!(
        replies.iter().filter(|reply| reply.status == 429).count(),
        40
    );
    // On every route that takes a credential.
    for (path, body) in [
        ("/auth/refresh", json!({ "refresh_token": "x" })),
        (
            "/auth/register",
            json!({ "username": "eve", "password": PASSWORD, "email": "eve@example.com" }),
        ),
    ] {
        assert_eq!(post(&service.app, path, body).await.status, 429, "{path}");
    }
}

/// Only the wrong passwords after them count.
#[tokio::test]
async fn successful_attempts_are_not_counted() {
    let service = serve_with(|factory| factory.attempt_limits(limits(3, 5))).await;
    register(&service.app, "ada").await;
    for _ in 0..10 {
        assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 200);
    }
    for status in [401, 401, 401, 429] {
        assert_eq!(
            login(&service.app, "ada", "Wrong-horse-7").await.status,
            status
        );
    }
}

#[tokio::test]
async fn the_count_of_attempts_expires_with_its_window() {
    let window = Duration::from_secs(600);
    let service = serve_with(|factory| {
        let mut limits = limits(1, 100);
        limits.window = window;
        factory.attempt_limits(limits)
    })
    .await;
    register(&service.app, "ada").await;
    assert_eq!(
        login(&service.app, "ada", "Wrong-horse-7").await.status,
        401
    );
    let late = login(&service.app, "ada", PASSWORD).await;
    assert_eq!(late.status, 429, "{}", late.text);
    let wait = late.json()["retry_after"].as_u64().unwrap();
    assert!(
        (500..=window.as_secs()).contains(&wait),
        "{wait} of the window are left"
    );
    // It would take ten minutes.
    service
        .database
        .execute("UPDATE svc_auth.attempt SET until = now()")
        .await;
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 200);
}

/// The holder of a token must not find the password with it either.
#[tokio::test]
async fn guesses_by_changing_the_password_are_limited() {
    let service = serve_with(|factory| factory.attempt_limits(limits(5, 100))).await;
    let held = register(&service.app, "ada").await;
    let guess = json!({ "current_password": "Wrong-horse-7", "new_password": "Other-horse-7" });
    let guesses = (0..40).map(|_| {
        with(
            &service.app,
            &held.access,
            "POST",
            "/auth/password",
            guess.clone(),
        )
    });
    let replies: Vec<_> = stream::iter(guesses).buffer_unordered(16).collect().await;
    assert_eq!(
        replies.iter().filter(|reply| reply.status == 401).count(),
        5
    );
    assert_eq!(
        replies.iter().filter(|reply| reply.status == 429).count(),
        35
    );
    let delete = with(
        &service.app,
        &held.access,
        "DELETE",
        "/auth/me",
        json!({ "password": PASSWORD }),
    )
    .await;
    assert_eq!(delete.status, 429);
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 429);
}
