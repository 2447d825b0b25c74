//! The log has no password, token or secret in it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use svc::RedisClient;
use svc::accounts::{AccountMail, AccountMailer, PostgresUserRepository};
use svc::auth::{RedisRevocationStore, RevocationConfig, TokenRevocationService};
use svc_tests::{App, Log, Redis};

use super::client::{Held, PASSWORD, login, post, refresh, register, with};
use super::service::{SECRET, accounts, database, factory, provider, serve_provider};
use crate::auth::service::query;

const WRONG: &str = "Wrong-horse-battery-9";
const NEW: &str = "Another-horse-8";

#[derive(Clone, Default)]
struct Outbox(Arc<Mutex<Vec<String>>>);

impl AccountMailer for Outbox {
    async fn send(
        &self,
        mail: AccountMail,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        assert!(!format!("{mail:?}").contains("token"));
        if let AccountMail::VerifyEmail { token, .. } | AccountMail::ResetPassword { token, .. } =
            mail
        {
            self.0.lock().unwrap().push(token);
        }
        Err("the mail server is away".into())
    }
}

impl Outbox {
    async fn holds(&self, count: usize) -> Vec<String> {
        svc_tests::eventually(async || {
            let tokens = self.0.lock().unwrap().clone();
            if tokens.len() >= count {
                Ok(tokens)
            } else {
                Err(format!("{} mails", tokens.len()))
            }
        })
        .await
    }
}

/// Everything that can be done is done, and goes wrong in every way, with the log at its most
/// talkative.
async fn everything(app: &App, mails: &Outbox) -> Vec<String> {
    let mut secrets = Vec::new();
    let mut keep = |held: Held| {
        secrets.extend([held.access.clone(), held.refresh.clone()]);
        held
    };
    let first = keep(register(app, "ada").await);
    let second = keep(Held::of(&login(app, "ada", PASSWORD).await));
    let third = keep(Held::of(&refresh(app, &second.refresh).await));
    refresh(app, &second.refresh).await;
    for password in [WRONG, &format!("{WRONG}\u{7}"), &WRONG.repeat(100)] {
        login(app, "ada", password).await;
        login(app, password, password).await;
    }
    post(
        app,
        "/auth/login",
        json!({ "username": 7, "password": WRONG }),
    )
    .await;
    post(
        app,
        "/auth/register",
        json!({ "username": "ada", "password": WRONG, "email": "ada@example.com" }),
    )
    .await;
    for token in [
        &first.access,
        &third.access,
        &first.refresh,
        &format!("{}x", first.access),
    ] {
        query(app, token, "{ me }").await;
        with(app, token, "GET", "/auth/sessions", Value::Null).await;
    }
    let change = json!({ "current_password": PASSWORD, "new_password": NEW });
    let fourth = keep(Held::of(
        &with(app, &first.access, "POST", "/auth/password", change).await,
    ));
    post(
        app,
        "/auth/password/forgot",
        json!({ "email": "ada@example.com" }),
    )
    .await;
    let tokens = mails.holds(2).await;
    for token in &tokens {
        post(app, "/auth/email/verify", json!({ "token": token })).await;
        post(
            app,
            "/auth/password/reset",
            json!({ "token": token, "password": WRONG }),
        )
        .await;
    }
    with(app, &fourth.access, "POST", "/auth/logout-all", Value::Null).await;
    let fifth = keep(Held::of(&login(app, "ada", WRONG).await));
    with(
        app,
        &fifth.access,
        "DELETE",
        "/auth/me",
        json!({ "password": WRONG }),
    )
    .await;
    secrets.extend(tokens);
    secrets
}

#[tokio::test]
async fn logs_and_debug_output_contain_no_secret() {
    let log = Log::everything();
    let (database, mut redis) = (database().await, Redis::new().await);
    let (accounts, mails) = (accounts(&database), Outbox::default());
    let url = redis
        .url()
        .replacen("redis://", "redis://default:hunter2@", 1);
    let client = RedisClient::with_timeout(&redis.url(), Duration::from_secs(30)).unwrap();
    assert!(!format!("{:?}", RedisClient::new(&url).unwrap()).contains("hunter2"));
    assert!(
        !RedisClient::new("redis://:hunter2@[")
            .unwrap_err()
            .to_string()
            .contains("hunter2")
    );
    let store = RedisRevocationStore::new(&client, Duration::from_secs(60));
    let revocation = TokenRevocationService::new(store, RevocationConfig::default());
    let native = provider(
        factory(&accounts)
            .mailer(mails.clone())
            .revocation(revocation),
        PostgresUserRepository::new(&accounts),
    );
    let app = serve_provider(&native).await;
    let mut secrets = everything(&app, &mails).await;
    redis.stop();
    let held = register(&app, "eve").await;
    query(&app, &held.access, "{ me }").await;
    with(&app, &held.access, "POST", "/auth/logout", Value::Null).await;
    database
        .execute("ALTER SCHEMA svc_auth RENAME TO moved")
        .await;
    login(&app, "eve", PASSWORD).await;
    refresh(&app, &held.refresh).await;
    log.has("accounts are not available").await;
    secrets.extend([
        held.access,
        held.refresh,
        SECRET.to_owned(),
        PASSWORD.to_owned(),
        WRONG.to_owned(),
    ]);
    secrets.extend([NEW.to_owned(), "$argon2id$".to_owned()]);

    let written = format!("{} {native:?} {accounts:?} {client:?}", log.text());
    assert!(
        written.contains("auth.failure") && written.contains("auth.success"),
        "{written}"
    );
    for secret in &secrets {
        // The signature alone would be enough.
        for part in secret.split('.').filter(|part| part.len() > 5) {
            assert!(!written.contains(part), "{part} is in {written}");
        }
    }
}
