//! Tokens of an identity provider that need no other look: the application's loader runs for those
//! that do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use svc::auth::AuthProvider as _;
use svc_tests::{App, eventually};

use super::super::service::options;
use super::issuer::{Answer, Issuer, KEYS, Key, user};

struct Verifying {
    issuer: Issuer,
    app: App,
    token: String,
    verified: Arc<AtomicUsize>,
}

impl Verifying {
    async fn start(key_lifetime: Duration) -> Self {
        let (issuer, key) = (Issuer::start().await, Key::new("a"));
        issuer.publishes(&[&key]);
        let (token, verified) = (
            key.sign(&issuer.claims(json!({}))),
            Arc::<AtomicUsize>::default(),
        );
        let counting = verified.clone();
        let load = move |user: svc::AuthenticatedUser| {
            counting.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Ok(Some(user.into_user())))
        };
        let mut config = issuer.config();
        config.key_lifetime = key_lifetime;
        // A failed fetch is not retried during the test.
        config.key_refetch_interval = Duration::from_secs(3_600);
        let options = options().auth_provider(config.create_provider().unwrap());
        let app = App::serve(options.load_user(Duration::from_secs(3_600), load)).await;
        Self {
            issuer,
            app,
            token,
            verified,
        }
    }

    /// The tokens that were verified when this one was asked with once more.
    async fn ask(&self) -> usize {
        user(&self.app, &self.token).await.unwrap();
        self.verified.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_token_is_verified_once_while_the_keys_are_fresh() {
    let verifying = Verifying::start(Duration::from_secs(3_600)).await;
    // The first has the keys fetched, and what was verified before they came counts no more.
    verifying.ask().await;
    for _ in 0..3 {
        assert_eq!(verifying.ask().await, 2);
    }
}

/// The fetch is retried later, and the token is not verified for each request until then.
#[tokio::test]
async fn a_token_stays_cached_while_keys_cannot_be_refetched() {
    let verifying = Verifying::start(Duration::from_secs(1)).await;
    verifying.ask().await;
    verifying.issuer.answers(KEYS, Answer::Status(503));
    eventually(async || {
        let verified = verifying.ask().await;
        if verifying.issuer.received(KEYS).len() == 1 {
            Err(format!("{verified} verified"))
        } else {
            Ok(())
        }
    })
    .await;
    let verified = verifying.ask().await;
    for _ in 0..3 {
        assert_eq!(verifying.ask().await, verified);
    }
    assert_eq!(verifying.issuer.received(KEYS).len(), 2);
}

#[tokio::test]
async fn refetching_the_same_keys_keeps_the_generation() {
    let (issuer, key) = (Issuer::start().await, Key::new("a"));
    issuer.publishes(&[&key]);
    let mut config = issuer.config();
    config.key_lifetime = Duration::from_secs(1);
    let provider = config.create_provider().unwrap();
    let token = key.sign(&issuer.claims(json!({})));
    provider.validate_token(&token).await.unwrap();
    let generation = provider.key_generation();
    eventually(async || {
        provider.validate_token(&token).await.unwrap();
        if issuer.received(KEYS).len() == 1 {
            Err("the keys are young".to_owned())
        } else {
            Ok(())
        }
    })
    .await;
    assert_eq!(provider.key_generation(), generation);
}
