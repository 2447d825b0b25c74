//! Times: from when and until when a token counts, and for how long it is known that it does not.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use svc::auth::{
    AuthError, AuthProvider as _, MemoryRevocationStore, RevocableToken, RevocationConfig,
    RevocationStore, TokenRevocationService,
};
use svc::prelude::*;
use svc_tests::App;

use super::service::{options, provider, query};
use super::token::{USER, now, token};

#[tokio::test]
async fn claims_are_accepted_within_the_leeway() {
    let (exact, lenient) = (provider(), provider().leeway(Duration::from_secs(60)));
    let is_expired = |error: AuthError| matches!(error, AuthError::TokenExpired);
    for (claims, counts) in [
        (json!({ "exp": now() - 30 }), true),
        (json!({ "exp": now() - 90 }), false),
        (json!({ "nbf": now() + 30 }), true),
        (json!({ "nbf": now() + 90 }), false),
        // A minute more: an issuer notes when it begins, and not when it has ended.
        (json!({ "iat": now() + 90 }), true),
        (json!({ "iat": now() + 150 }), false),
    ] {
        let token = token(claims.clone());
        assert_eq!(
            lenient.validate_token(&token).await.is_ok(),
            counts,
            "{claims}"
        );
        let refused = exact.validate_token(&token).await.unwrap_err();
        assert_eq!(is_expired(refused), claims.get("exp").is_some(), "{claims}");
    }
    for claim in ["exp", "nbf", "iat"] {
        let before_1970 = provider()
            .validate_token(&token(json!({ claim: -1 })))
            .await
            .unwrap_err();
        assert!(!is_expired(before_1970), "{claim} is not a time");
    }
}

/// A token is accepted until its `exp` plus the leeway, so its revocation must last as long. A
/// store with room for one entry has no room while it keeps that one.
#[tokio::test]
async fn a_token_stays_revoked_during_the_leeway() {
    let lenient = provider().leeway(Duration::from_secs(60));
    let held = token(json!({ "jti": "1", "sid": "s", "iat": now() - 20, "exp": now() - 10 }));
    let claims = lenient.validate_token(&held).await.unwrap();
    let user = lenient.get_user_from_token(&held).await.unwrap();
    let revocable = RevocableToken::new(&claims, &user);
    let mut config = RevocationConfig::default();
    config.ttl = Duration::ZERO;
    for way in ["token", "session", "user"] {
        let store = MemoryRevocationStore::with_max(1);
        let revocation = TokenRevocationService::new(store, config.clone());
        let revoked = match way {
            "token" => revocation.revoke(&revocable).await,
            "session" => revocation.revoke_session(None, "s").await,
            _ => revocation.revoke_all(USER).await,
        };
        revoked.unwrap();
        let full = revocation.revoke_all("eve").await;
        assert!(matches!(full, Err(AuthError::Unavailable(_))), "{way}");
        assert!(revocation.is_revoked(&revocable).await.unwrap(), "{way}");
    }
}

/// Revocations are kept for five more minutes, so no token is accepted for longer.
#[tokio::test]
async fn the_leeway_is_five_minutes_at_most() {
    let lenient = provider().leeway(Duration::from_secs(3_600));
    let ended = |ago: i64| token(json!({ "iat": now() - 3_600, "exp": now() - ago }));
    assert!(lenient.validate_token(&ended(100)).await.is_ok());
    assert!(matches!(
        lenient.validate_token(&ended(310)).await,
        Err(AuthError::TokenExpired)
    ));
}

#[tokio::test]
async fn the_memory_store_is_bounded_and_drops_expired_entries() {
    let (store, now) = (MemoryRevocationStore::with_max(2), SystemTime::now());
    let (past, future) = (now - Duration::from_secs(1), now + Duration::from_secs(60));
    store.revoke("a", past).await.unwrap();
    store.revoke("b", future).await.unwrap();
    store.revoke("c", future).await.unwrap();
    assert!(
        format!("{store:?}").contains("tokens: 2, subjects: 0"),
        "{store:?}"
    );
    assert!(matches!(
        store.revoke("d", future).await,
        Err(AuthError::Unavailable(_))
    ));
    let store = MemoryRevocationStore::new();
    store.revoke_all("ada", now, past).await.unwrap();
    store.revoke_all("bob", now, future).await.unwrap();
    store.revoke_all("eve", now, future).await.unwrap();
    store.revoke("a", past).await.unwrap();
    assert!(
        format!("{store:?}").contains("tokens: 1, subjects: 3"),
        "{store:?}"
    );
    store.remove_expired().await.unwrap();
    assert!(
        format!("{store:?}").contains("tokens: 0, subjects: 2"),
        "{store:?}"
    );
}

/// The times until which revocations are to be kept.
#[derive(Clone, Default)]
struct Until(Arc<Mutex<Vec<SystemTime>>>);

impl RevocationStore for Until {
    async fn revoke(&self, _: &str, until: SystemTime) -> Result<(), AuthError> {
        self.0.lock().unwrap().push(until);
        Ok(())
    }
    async fn revoke_all(&self, _: &str, _: SystemTime, until: SystemTime) -> Result<(), AuthError> {
        self.0.lock().unwrap().push(until);
        Ok(())
    }
    async fn is_revoked(&self, _: &RevocableToken) -> Result<bool, AuthError> {
        Ok(false)
    }
}

#[svc::mutation]
async fn log_out(ctx: &Context<'_>) -> Result<bool> {
    let token = ctx
        .token()
        .ok_or_else(|| Error::new(ErrorCode::BadUserInput, "there is no token"))?;
    ctx.data::<TokenRevocationService>()?.revoke(token).await?;
    Ok(true)
}

#[tokio::test]
async fn a_revocation_lasts_for_its_ttl_or_as_long_as_its_token() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let until = Until::default();
    let mut config = RevocationConfig::default();
    config.ttl = HOUR;
    let revocation = TokenRevocationService::new(until.clone(), config);
    let options = options()
        .mutations(mutations![log_out])
        .auth_provider(provider());
    let app = App::serve(
        options
            .data(revocation.clone())
            .token_revocation(revocation.clone()),
    )
    .await;
    let began = SystemTime::now();
    revocation.revoke_all(USER).await.unwrap();
    revocation.revoke_session(None, "session").await.unwrap();
    let (short, long) = (
        json!({ "jti": "1", "exp": now() + 60 }),
        json!({ "jti": "2", "exp": now() + 7_200 }),
    );
    for claims in [short, long] {
        query(&app, &token(claims), "mutation { log_out }")
            .await
            .data();
    }
    let kept: Vec<_> = until
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|until| until.duration_since(began).unwrap())
        .collect();
    let (of_time, of_token) = kept.split_at(3);
    assert!(
        of_time
            .iter()
            .all(|time| (HOUR..HOUR + Duration::from_secs(600)).contains(time)),
        "{kept:?}"
    );
    assert!(
        of_token.len() == 1 && of_token[0] > HOUR + Duration::from_secs(3_000),
        "{kept:?}"
    );
}
