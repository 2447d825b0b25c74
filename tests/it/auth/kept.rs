//! The time for which a token is kept that was verified.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc::auth::{AuthError, AuthProvider, Authenticated, Claims, UserContext};
use svc_tests::{App, eventually};

use super::service::{options, query};
use super::token::USER;

/// A provider that counts what it verifies.
#[derive(Clone)]
struct Counting {
    verified: Arc<AtomicUsize>,
    claims: Value,
    keep_for: Duration,
}

impl AuthProvider for Counting {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        Ok(Claims::new(self.claims.as_object().unwrap().clone()))
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        Ok(UserContext::new(USER))
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        self.verified.fetch_add(1, Ordering::SeqCst);
        let authenticated =
            Authenticated::new(self.validate_token(token).await?, UserContext::new(USER));
        Ok(authenticated.keep_until(SystemTime::now() + self.keep_for))
    }
}

/// Asks until the token is verified for a second time, which it is at its end: not before, and
/// within half a minute.
async fn until_end(claims: Value, keep_for: Duration) {
    let exp = claims["exp"]
        .as_f64()
        .map(|exp| UNIX_EPOCH + Duration::from_secs_f64(exp));
    let provider = Counting {
        verified: Arc::default(),
        claims,
        keep_for,
    };
    let app = App::serve(options().auth_provider(provider.clone())).await;
    let kept_until = SystemTime::now() + keep_for;
    eventually(async || {
        let data = query(&app, "opaque", "{ user_id }").await.data();
        if provider.verified.load(Ordering::SeqCst) > 1 {
            return Ok(());
        }
        assert_eq!(data, json!({ "user_id": USER }));
        Err("the token is kept".to_owned())
    })
    .await;
    let end = exp.map_or(kept_until, |exp| exp.min(kept_until));
    assert!(
        SystemTime::now() >= end,
        "it was verified again before its end"
    );
}

/// It is cached for as long as its provider says, and never beyond its own expiry.
#[tokio::test]
async fn a_cached_token_expires_at_the_earliest_of_its_limits() {
    const MINUTE: Duration = Duration::from_secs(60);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    let by_provider = until_end(json!({ "exp": now + 60.0 }), Duration::from_secs(2));
    futures_util::join!(
        until_end(json!({ "exp": now + 10.0 }), MINUTE),
        by_provider,
        until_end(json!({}), Duration::from_secs(2))
    );
}
