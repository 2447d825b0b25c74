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
        let authenticated = Authenticated::new(self.validate_token(token).await?, UserContext::new(USER));
        Ok(authenticated.keep_until(SystemTime::now() + self.keep_for))
    }
}

/// Asks until the token is verified for a second time; the time for which it was kept.
async fn kept_for(claims: Value, keep_for: Duration) -> Duration {
    let provider = Counting { verified: Arc::default(), claims, keep_for };
    let app = App::serve(options().auth_provider(provider.clone())).await;
    let began = SystemTime::now();
    for _ in 0..2 {
        assert_eq!(query(&app, "opaque", "{ user_id }").await.data(), json!({ "user_id": USER }));
        assert_eq!(provider.verified.load(Ordering::SeqCst), 1, "it was not kept");
    }
    eventually(async || {
        query(&app, "opaque", "{ user_id }").await.data();
        match provider.verified.load(Ordering::SeqCst) {
            1 => Err("the token is kept".to_owned()),
            _ => Ok(()),
        }
    })
    .await;
    began.elapsed().unwrap()
}

/// As long as its provider says, and never longer than it holds itself.
#[tokio::test]
async fn a_token_is_kept_until_the_first_of_its_ends() {
    const MINUTE: Duration = Duration::from_secs(60);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let by_provider = kept_for(json!({ "exp": now + 60.0 }), Duration::from_secs(2));
    let (by_token, by_provider, without_end) = futures_util::join!(
        kept_for(json!({ "exp": now + 4.0 }), MINUTE),
        by_provider,
        kept_for(json!({}), Duration::from_secs(2))
    );
    assert!(by_token < Duration::from_secs(9), "{by_token:?}");
    for kept in [by_provider, without_end] {
        assert!((Duration::from_millis(1_900)..Duration::from_secs(9)).contains(&kept), "{kept:?}");
    }
}
