//! Tokens that are being verified, and providers that are away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::json;
use svc::auth::{AuthError, AuthProvider, Authenticated, Claims, UserContext};
use svc::axum::middleware;
use svc::create_svc_app;
use svc_tests::{App, Log, eventually};
use tokio::sync::Semaphore;

use super::service::{options, posting, query};
use super::token::USER;

/// A provider that answers when it is permitted to, and counts its verifications.
#[derive(Clone)]
struct Slow {
    verifications: Arc<AtomicUsize>,
    may_answer: Arc<Semaphore>,
    keeps: bool,
    takes: bool,
}

impl Slow {
    fn new(keeps: bool, takes: bool) -> Self {
        Self {
            verifications: Arc::default(),
            may_answer: Arc::new(Semaphore::new(0)),
            keeps,
            takes,
        }
    }

    fn verifications(&self) -> usize {
        self.verifications.load(Ordering::SeqCst)
    }

    async fn until_verifications(&self, times: usize) {
        eventually(async || {
            if self.verifications() == times {
                Ok(())
            } else {
                Err(format!("{} times", self.verifications()))
            }
        })
        .await;
    }
}

impl AuthProvider for Slow {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        self.verifications.fetch_add(1, Ordering::SeqCst);
        let _permit = self
            .may_answer
            .acquire()
            .await
            .map_err(AuthError::unavailable)?;
        if self.takes {
            Ok(Claims::default())
        } else {
            Err(AuthError::invalid("it is not one of ours"))
        }
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        Ok(UserContext::new(USER))
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let authenticated =
            Authenticated::new(self.validate_token(token).await?, UserContext::new(USER));
        let until = SystemTime::now() + Duration::from_secs(60);
        Ok(if self.keeps {
            authenticated.keep_until(until)
        } else {
            authenticated
        })
    }
}

const REQUESTS: usize = 20;

/// Sends requests with one token at once, and lets the provider answer when all have arrived;
/// returns the number of verifications and of requests that were answered with a user.
async fn at_once(provider: &Slow) -> (usize, usize) {
    let arrived = Arc::new(AtomicUsize::new(0));
    let counting = arrived.clone();
    let router = create_svc_app(options().auth_provider(provider.clone()))
        .await
        .unwrap();
    let count = move |request, next: middleware::Next| {
        counting.fetch_add(1, Ordering::SeqCst);
        next.run(request)
    };
    let app = Arc::new(App::serve_router(router.layer(middleware::from_fn(count))).await);
    let asking = (0..REQUESTS).map(|_| {
        let app = app.clone();
        tokio::spawn(
            async move { query(&app, "opaque", "{ user_id }").await.data()["user_id"] == USER },
        )
    });
    let asking = asking.collect::<Vec<_>>();
    eventually(async || match arrived.load(Ordering::SeqCst) {
        REQUESTS => Ok(()),
        number => Err(format!("{number} requests")),
    })
    .await;
    provider.may_answer.add_permits(REQUESTS);
    let mut known = 0;
    for answer in asking {
        known += usize::from(answer.await.unwrap());
    }
    (provider.verifications(), known)
}

#[tokio::test]
async fn concurrent_requests_with_a_new_token_share_one_verification() {
    assert_eq!(at_once(&Slow::new(true, true)).await, (1, REQUESTS));
}

/// A result for one request only is given to no other.
#[tokio::test]
async fn an_uncacheable_token_is_verified_for_each_request() {
    assert_eq!(at_once(&Slow::new(false, true)).await, (REQUESTS, REQUESTS));
}

#[tokio::test]
async fn a_refusal_applies_to_all_waiting_requests() {
    let provider = Slow::new(true, false);
    let (verifications, known) = at_once(&provider).await;
    assert!(verifications < REQUESTS && known == 0, "{verifications}");
}

/// The requests that wait for it are answered.
#[tokio::test]
async fn a_verification_continues_after_its_first_request_is_aborted() {
    let provider = Slow::new(true, true);
    let app = Arc::new(App::serve(options().auth_provider(provider.clone())).await);
    let (stays, leaves) = (app.clone(), app.clone());
    let leaving = tokio::spawn(async move {
        leaves
            .send(posting(&leaves, "{ open }").bearer_auth("opaque"))
            .await
    });
    provider.until_verifications(1).await;
    let staying = tokio::spawn(async move { query(&stays, "opaque", "{ user_id }").await.data() });
    leaving.abort();
    assert!(leaving.await.is_err());
    provider.may_answer.add_permits(1);
    assert_eq!(staying.await.unwrap(), json!({ "user_id": USER }));
}

/// A provider whose one key may be taken away, and which waits when it has looked at it.
#[derive(Clone)]
struct Rotating {
    generation: Arc<AtomicU64>,
    slow: Slow,
}

impl AuthProvider for Rotating {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        let generation = self.generation.load(Ordering::SeqCst);
        let claims = self.slow.validate_token(token).await?;
        if generation == 0 {
            Ok(claims)
        } else {
            Err(AuthError::invalid("its key is gone"))
        }
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        Ok(UserContext::new(USER))
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let authenticated =
            Authenticated::new(self.validate_token(token).await?, UserContext::new(USER));
        Ok(authenticated.keep_until(SystemTime::now() + Duration::from_secs(60)))
    }

    fn key_generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }
}

/// A verification with the old keys serves only the requests before the change.
#[tokio::test]
async fn requests_after_a_key_change_are_verified_with_the_new_keys() {
    let provider = Rotating {
        generation: Arc::default(),
        slow: Slow::new(true, true),
    };
    let app = Arc::new(App::serve(options().auth_provider(provider.clone())).await);
    let ask = |app: Arc<App>| {
        tokio::spawn(async move { query(&app, "opaque", "{ user_id }").await.data() })
    };
    let before = ask(app.clone());
    provider.slow.until_verifications(1).await;
    provider.generation.store(1, Ordering::SeqCst);
    let after = ask(app.clone());
    provider.slow.until_verifications(2).await;
    provider.slow.may_answer.add_permits(3);
    assert_eq!(before.await.unwrap(), json!({ "user_id": USER }));
    assert_eq!(after.await.unwrap(), json!({ "user_id": null }));
    assert_eq!(
        query(&app, "opaque", "{ user_id }").await.data(),
        json!({ "user_id": null })
    );
}

/// A provider that is away.
struct Away(Arc<AtomicBool>);

impl AuthProvider for Away {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        match self.0.load(Ordering::SeqCst) {
            true => Err(AuthError::unavailable("connection refused by 10.0.0.7")),
            false => Ok(Claims::default()),
        }
    }
    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        Ok(UserContext::new(USER))
    }
}

#[tokio::test]
async fn an_outage_is_logged_once_a_second_and_answered_with_503() {
    let log = Log::start();
    let away = Arc::new(AtomicBool::new(true));
    let app = App::serve(options().auth_provider(Away(away.clone()))).await;
    let start = std::time::Instant::now();
    for _ in 0..50 {
        let reply = query(&app, "opaque", "{ open }").await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (503, "SERVICE_UNAVAILABLE")
        );
        assert!(!reply.text.contains("10.0.0.7"), "{}", reply.text);
    }
    log.has("connection refused by 10.0.0.7").await;
    let lines = log
        .text()
        .matches("their tokens cannot be verified")
        .count();
    assert!(
        lines as u64 <= 1 + start.elapsed().as_secs(),
        "{}",
        log.text()
    );
    away.store(false, Ordering::SeqCst);
    assert_eq!(
        query(&app, "opaque", "{ user_id }").await.data(),
        json!({ "user_id": USER })
    );
}
