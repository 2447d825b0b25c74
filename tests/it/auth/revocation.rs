//! Tokens that end before their time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use serde_json::{Value, json};
use svc::auth::{
    AuthError, MemoryRevocationStore, RevocableToken, RevocationConfig, RevocationStore,
    TokenRevocationService,
};
use svc::prelude::*;
use svc_tests::App;

use super::service::{options, provider, query};
use super::token::{USER, now, token};

#[svc::mutation]
async fn logout(ctx: &Context<'_>) -> Result<bool> {
    ctx.require_user()?;
    let token = ctx
        .token()
        .ok_or_else(|| Error::new(ErrorCode::BadUserInput, "there is no token"))?;
    ctx.data::<TokenRevocationService>()?.revoke(token).await?;
    Ok(true)
}

#[svc::mutation]
async fn logout_all(ctx: &Context<'_>) -> Result<bool> {
    ctx.data::<TokenRevocationService>()?
        .revoke_all(&ctx.require_user()?.user_id)
        .await?;
    Ok(true)
}

async fn serve(store: impl RevocationStore) -> App {
    let revocation = TokenRevocationService::new(store, RevocationConfig::default());
    let options = options()
        .mutations(mutations![logout, logout_all])
        .auth_provider(provider());
    App::serve(
        options
            .data(revocation.clone())
            .token_revocation(revocation),
    )
    .await
}

pub(super) async fn user(app: &App, token: &str) -> Value {
    query(app, token, "{ user_id }").await.data()["user_id"].clone()
}

/// Also if it was cached, and no other token is.
#[tokio::test]
async fn a_revoked_token_is_refused_at_once() {
    let app = serve(MemoryRevocationStore::new()).await;
    let (first, second) = (token(json!({ "jti": "1" })), token(json!({ "jti": "2" })));
    assert_eq!(user(&app, &first).await, USER);
    assert_eq!(
        query(&app, &first, "mutation { logout }").await.data(),
        json!({ "logout": true })
    );
    let reply = query(&app, &first, "{ me }").await;
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["reason"],
        "TOKEN_INVALID"
    );
    assert_eq!(user(&app, &second).await, USER);
    let without = token(json!({}));
    assert_eq!(
        query(&app, &without, "mutation { logout }").await.code(),
        "INTERNAL_SERVER_ERROR"
    );
    assert_eq!(user(&app, &without).await, USER);
}

#[tokio::test]
async fn a_log_out_everywhere_revokes_all_earlier_tokens() {
    let app = serve(MemoryRevocationStore::new()).await;
    let stranger = token(json!({ "sub": "11111111-2222-4333-8444-555555555555" }));
    let old = [
        json!({ "iat": now() - 100 }),
        json!({ "jti": "1" }),
        json!({ "iat": null }),
    ]
    .map(token);
    for old in &old {
        assert_eq!(user(&app, old).await, USER);
    }
    query(&app, &old[0], "mutation { logout_all }").await.data();
    for old in &old {
        assert_eq!(user(&app, old).await, Value::Null);
    }
    assert_eq!(user(&app, &token(json!({ "iat": now() + 1 }))).await, USER);
    assert_ne!(user(&app, &stranger).await, Value::Null);
}

/// The identity is that of the user, as resolvers see it, and not a claim.
#[tokio::test]
async fn tokens_without_sub_are_revoked_with_their_user() {
    let app = serve(MemoryRevocationStore::new()).await;
    let held = token(json!({ "sub": null, "user_id": USER, "iat": now() - 100 }));
    let stranger = "11111111-2222-4333-8444-555555555555";
    let strangers = token(json!({ "sub": null, "user_id": stranger, "iat": now() - 100 }));
    assert_eq!(user(&app, &held).await, USER);
    query(&app, &held, "mutation { logout_all }").await.data();
    assert_eq!(
        [user(&app, &held).await, user(&app, &strangers).await],
        [Value::Null, json!(stranger)]
    );
}

/// A user who logs out again is logged out, although there is no room for other users.
#[tokio::test]
async fn a_full_store_still_updates_an_existing_log_out() {
    let app = serve(MemoryRevocationStore::with_max(1)).await;
    let stranger = token(json!({ "sub": "11111111-2222-4333-8444-555555555555" }));
    let first = token(json!({}));
    query(&app, &first, "mutation { logout_all }").await.data();
    let seconds = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    let second = token(json!({ "iat": seconds }));
    assert_eq!(
        [user(&app, &first).await, user(&app, &second).await],
        [Value::Null, json!(USER)]
    );
    assert_eq!(
        query(&app, &second, "mutation { logout_all }").await.data(),
        json!({ "logout_all": true })
    );
    assert_eq!(user(&app, &second).await, Value::Null);
    assert_eq!(
        query(&app, &stranger, "mutation { logout_all }")
            .await
            .code(),
        "INTERNAL_SERVER_ERROR"
    );
    assert_ne!(user(&app, &stranger).await, Value::Null);
}

/// A store that counts its readers, and may be away.
#[derive(Clone, Default)]
pub(super) struct Counting {
    pub(super) reads: Arc<AtomicUsize>,
    pub(super) away: Arc<AtomicBool>,
}

impl RevocationStore for Counting {
    async fn revoke(&self, _: &str, _: SystemTime) -> Result<(), AuthError> {
        Ok(())
    }
    async fn revoke_all(&self, _: &str, _: SystemTime, _: SystemTime) -> Result<(), AuthError> {
        Ok(())
    }
    async fn is_revoked(&self, _: &RevocableToken) -> Result<bool, AuthError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.away.load(Ordering::Relaxed) {
            Err(AuthError::unavailable("the store is away"))
        } else {
            Ok(false)
        }
    }
}

#[tokio::test]
async fn the_store_is_read_once_per_request_with_a_token() {
    let store = Counting::default();
    let app = serve(store.clone()).await;
    let held = token(json!({ "jti": "1" }));
    for reads in 1..4 {
        query(&app, &held, "{ me a: me user_id open }").await.data();
        assert_eq!(store.reads.load(Ordering::Relaxed), reads);
    }
    app.query("{ open }").await.data();
    query(&app, "nonsense", "{ open }").await.data();
    assert_eq!(store.reads.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn tokens_are_unavailable_while_the_store_is_unavailable() {
    let store = Counting::default();
    let app = serve(store.clone()).await;
    let held = token(json!({ "jti": "1" }));
    store.away.store(true, Ordering::Relaxed);
    let reply = query(&app, &held, "{ open }").await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "SERVICE_UNAVAILABLE")
    );
    assert!(
        !reply.text.contains("store") && reply.json().get("data").is_none(),
        "{}",
        reply.text
    );
    app.query("{ open }").await.data();
    store.away.store(false, Ordering::Relaxed);
    assert_eq!(user(&app, &held).await, USER);
}
