//! The tokens that are looked up among the revoked ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use serde_json::{Value, json};
use svc::auth::{
    AuthError, RevocableToken, RevocationConfig, RevocationStore, TokenRevocationService,
};
use svc::prelude::*;
use svc_tests::App;

use super::service::{options, provider, query};
use super::token::{USER, token};

/// A store in which every token is revoked; it counts its readers.
#[derive(Clone, Default)]
struct Everything(Arc<AtomicUsize>);

impl RevocationStore for Everything {
    async fn revoke(&self, _: &str, _: SystemTime) -> Result<(), AuthError> {
        Ok(())
    }
    async fn revoke_all(&self, _: &str, _: SystemTime, _: SystemTime) -> Result<(), AuthError> {
        Ok(())
    }
    async fn is_revoked(&self, _: &RevocableToken) -> Result<bool, AuthError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(true)
    }
}

/// The user that a service with these settings sees behind a token, and the number of times its
/// store was read.
async fn seen(enabled: bool, check_revocation: bool, claims: Value) -> (Value, usize) {
    let store = Everything::default();
    let mut config = RevocationConfig::default();
    (config.enabled, config.check_revocation) = (enabled, check_revocation);
    let revocation = TokenRevocationService::new(store.clone(), config);
    let app = App::serve(
        options()
            .auth_provider(provider())
            .token_revocation(revocation),
    )
    .await;
    let user = query(&app, &token(claims), "{ user_id }").await.data()["user_id"].clone();
    (user, store.0.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_token_is_checked_for_revocation_by_any_identifier() {
    for claims in [
        json!({ "jti": "1" }),
        json!({}),
        json!({ "sub": null, "user_id": USER, "jti": "1" }),
        json!({ "sub": null, "user_id": USER, "sid": "1" }),
        json!({ "sub": null, "user_id": USER }),
    ] {
        assert_eq!(
            seen(true, true, claims.clone()).await,
            (Value::Null, 1),
            "{claims}"
        );
    }
}

#[tokio::test]
async fn revocation_checks_can_be_switched_off() {
    for (enabled, check_revocation) in [(false, true), (true, false), (false, false)] {
        let found = seen(enabled, check_revocation, json!({ "jti": "1" })).await;
        assert_eq!(found, (json!(USER), 0), "{enabled} {check_revocation}");
    }
}

/// The error of revoking a token in each way, where that is switched on or off.
async fn revoked(enabled: bool, claims: Value) -> [bool; 3] {
    #[svc::mutation]
    async fn revoke_in_each_way(ctx: &Context<'_>) -> Result<Vec<bool>> {
        let (revocation, token) = (ctx.data::<TokenRevocationService>()?, ctx.token());
        let token =
            token.ok_or_else(|| Error::new(ErrorCode::BadUserInput, "there is no token"))?;
        let is_off = |result: Result<(), AuthError>| matches!(result, Err(AuthError::NotSupported));
        Ok(vec![
            revocation.revoke(token).await.is_ok(),
            is_off(revocation.revoke_session(None, "s").await),
            is_off(revocation.revoke_all(USER).await),
        ])
    }
    let mut config = RevocationConfig::default();
    (config.enabled, config.check_revocation) = (enabled, false);
    let revocation = TokenRevocationService::new(Everything::default(), config);
    let options = options()
        .mutations(mutations![revoke_in_each_way])
        .auth_provider(provider());
    let app = App::serve(
        options
            .data(revocation.clone())
            .token_revocation(revocation),
    )
    .await;
    let answer = query(&app, &token(claims), "mutation { revoke_in_each_way }")
        .await
        .data();
    svc::serde_json::from_value(answer["revoke_in_each_way"].clone()).unwrap()
}

#[tokio::test]
async fn revoking_requires_an_enabled_service_and_an_identified_token() {
    assert_eq!(
        revoked(true, json!({ "jti": "1" })).await,
        [true, false, false]
    );
    assert_eq!(
        revoked(false, json!({ "jti": "1" })).await,
        [false, true, true]
    );
    assert_eq!(
        revoked(true, json!({})).await,
        [false, false, false],
        "no `jti`"
    );
    assert_eq!(
        revoked(true, json!({ "jti": "" })).await,
        [false, false, false],
        "an empty `jti`"
    );
    let without_subject = json!({ "sub": null, "user_id": USER, "jti": "1" });
    assert_eq!(
        revoked(true, without_subject).await,
        [false, false, false],
        "no `sub`"
    );
}
