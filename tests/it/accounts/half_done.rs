//! Sessions that end while the store of revocations is broken: the same request, sent again, revokes
//! their tokens, and so does the service itself when the store works again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use serde_json::{Value, json};
use svc::accounts::PostgresUserRepository;
use svc::auth::{
    AuthError, MemoryRevocationStore, RevocableToken, RevocationConfig, RevocationStore,
    TokenRevocationService,
};

use svc_tests::{App, eventually};

use super::client::{
    Held, PASSWORD, assert_accepted, assert_refused, login, refresh, register, user_id, with,
};
use super::service::{Service, accounts, factory, provider, serve_provider, serve_with};

/// A store of revocations that takes none while it is broken.
#[derive(Clone, Default)]
pub(super) struct Breaking {
    kept: Arc<MemoryRevocationStore>,
    is_broken: Arc<AtomicBool>,
}

impl Breaking {
    pub(super) fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::SeqCst);
    }

    /// The same revocations, for another instance.
    fn beside(&self) -> Self {
        Self {
            kept: self.kept.clone(),
            is_broken: Arc::default(),
        }
    }

    pub(super) fn service(&self) -> TokenRevocationService {
        TokenRevocationService::new(self.clone(), RevocationConfig::default())
    }

    fn check(&self) -> Result<(), AuthError> {
        if self.is_broken.load(Ordering::SeqCst) {
            Err(AuthError::unavailable("the store is broken"))
        } else {
            Ok(())
        }
    }
}

impl RevocationStore for Breaking {
    async fn revoke(&self, id: &str, until: SystemTime) -> Result<(), AuthError> {
        self.check()?;
        self.kept.revoke(id, until).await
    }
    async fn revoke_all(
        &self,
        subject: &str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> Result<(), AuthError> {
        self.check()?;
        self.kept.revoke_all(subject, cut_off, until).await
    }
    async fn is_revoked(&self, token: &RevocableToken) -> Result<bool, AuthError> {
        self.kept.is_revoked(token).await
    }
}

async fn serve() -> (Service, Breaking) {
    let store = Breaking::default();
    let service = serve_with(|factory| factory.revocation(store.service())).await;
    (service, store)
}

/// Waits until the service refuses the tokens of a session.
pub(super) async fn until_refused(app: &App, held: &Held) {
    eventually(async || match user_id(app, &held.access).await {
        Value::Null => Ok(()),
        user => Err(format!("the token is still the one of {user}")),
    })
    .await;
    assert_refused(app, held).await;
}

#[tokio::test]
async fn a_retry_ends_a_session_whose_revocation_failed() {
    let (service, store) = serve().await;
    let app = &service.app;
    let ended = register(app, "ada").await;
    let held = Held::of(&login(app, "ada", PASSWORD).await);
    let sessions = with(app, &held.access, "GET", "/auth/sessions", Value::Null)
        .await
        .json();
    let other = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|session| session["current"] == json!(false))
        .unwrap();
    let path = format!("/auth/sessions/{}", other["id"].as_str().unwrap());
    for (is_broken, status) in [(true, 503), (false, 200)] {
        store.set_broken(is_broken);
        let reply = with(app, &held.access, "DELETE", &path, Value::Null).await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert_refused(app, &ended).await;
    assert_accepted(app, &held).await;
}

#[tokio::test]
async fn a_retried_reuse_of_a_refresh_token_ends_its_session() {
    let (service, store) = serve().await;
    let app = &service.app;
    let held = register(app, "ada").await;
    let renewed = Held::of(&refresh(app, &held.refresh).await);
    for (is_broken, status) in [(true, 503), (false, 401)] {
        store.set_broken(is_broken);
        let reply = refresh(app, &held.refresh).await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert_refused(app, &renewed).await;
}

#[tokio::test]
async fn a_retry_completes_a_deletion_whose_revocation_failed() {
    let (service, store) = serve().await;
    let app = &service.app;
    let held = register(app, "ada").await;
    for (is_broken, status) in [(true, 503), (false, 200)] {
        store.set_broken(is_broken);
        let body = json!({ "password": PASSWORD });
        let reply = with(app, &held.access, "DELETE", "/auth/me", body).await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert_refused(app, &held).await;
}

/// The password is set, and the database keeps what is left to do.
#[tokio::test]
async fn a_changed_password_ends_older_tokens_when_the_store_works_again() {
    let (service, store) = serve().await;
    let app = &service.app;
    let first = register(app, "ada").await;
    let second = Held::of(&login(app, "ada", PASSWORD).await);
    store.set_broken(true);
    let body = json!({ "current_password": PASSWORD, "new_password": "Another-horse-8" });
    let reply = with(app, &second.access, "POST", "/auth/password", body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let new = Held::of(&reply);
    assert_eq!(login(app, "ada", "Another-horse-8").await.status, 200);
    assert_accepted(app, &first).await;
    store.set_broken(false);
    until_refused(app, &first).await;
    until_refused(app, &second).await;
    assert_accepted(app, &new).await;
}

/// The instance whose store is broken stays behind.
#[tokio::test]
async fn another_instance_retries_a_failed_revocation() {
    let (service, store) = serve().await;
    let held = register(&service.app, "ada").await;
    store.set_broken(true);
    let reply = with(
        &service.app,
        &held.access,
        "POST",
        "/auth/logout-all",
        Value::Null,
    )
    .await;
    assert_eq!(reply.status, 503, "{}", reply.text);
    let accounts = accounts(&service.database);
    let other = serve_provider(&provider(
        factory(&accounts).revocation(store.beside().service()),
        PostgresUserRepository::new(&accounts),
    ))
    .await;
    assert_accepted(&other, &held).await;
    let new = Held::of(&login(&other, "ada", PASSWORD).await);
    until_refused(&other, &held).await;
    assert_accepted(&other, &new).await;
}

#[tokio::test]
async fn a_session_that_is_pushed_out_loses_its_tokens_when_the_store_works_again() {
    let (service, store) = serve().await;
    let app = &service.app;
    let first = register(app, "ada").await;
    for _ in 0..99 {
        assert_eq!(login(app, "ada", PASSWORD).await.status, 200);
    }
    assert_accepted(app, &first).await;
    store.set_broken(true);
    let newest = Held::of(&login(app, "ada", PASSWORD).await);
    assert_accepted(app, &first).await;
    store.set_broken(false);
    until_refused(app, &first).await;
    assert_accepted(app, &newest).await;
}
