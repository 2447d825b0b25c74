//! The removal of revocations that have ended: when it begins, and what ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use svc::auth::{
    AuthError, MultiProvider, RevocableToken, RevocationConfig, RevocationStore,
    TokenRevocationService,
};
use svc_tests::{App, Log, eventually};

use super::service::{options, provider};
use super::several::Revocable;
use super::token::SECRET;

/// A store that counts its clean-ups, which fail or never end.
#[derive(Clone, Default)]
struct Cleaned {
    begun: Arc<AtomicUsize>,
    running: Arc<AtomicUsize>,
    never_ends: bool,
}

/// A clean-up that runs as long as this lives.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl RevocationStore for Cleaned {
    async fn revoke(&self, _: &str, _: SystemTime) -> Result<(), AuthError> {
        Ok(())
    }
    async fn revoke_all(&self, _: &str, _: SystemTime, _: SystemTime) -> Result<(), AuthError> {
        Ok(())
    }
    async fn is_revoked(&self, _: &RevocableToken) -> Result<bool, AuthError> {
        Ok(false)
    }
    async fn remove_expired(&self) -> Result<(), AuthError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.running.fetch_add(1, Ordering::SeqCst);
        let _running = Running(self.running.clone());
        if self.never_ends {
            std::future::pending::<()>().await;
        }
        Err(AuthError::unavailable("the store is away"))
    }
}

impl Cleaned {
    fn without_end() -> Self {
        Self {
            never_ends: true,
            ..Self::default()
        }
    }

    /// A service that cleans up as often as one can.
    fn service(&self, enabled: bool) -> TokenRevocationService {
        let mut config = RevocationConfig::default();
        (config.enabled, config.cleanup_interval) = (enabled, Duration::ZERO);
        TokenRevocationService::new(self.clone(), config)
    }

    async fn until_begun(&self, count: usize) {
        until(&self.begun, |found| found == count).await;
    }

    async fn until_running(&self, count: usize) {
        until(&self.running, |found| found == count).await;
    }
}

async fn until(count: &AtomicUsize, is_right: impl Fn(usize) -> bool) {
    eventually(async || match count.load(Ordering::SeqCst) {
        found if is_right(found) => Ok(()),
        found => Err(format!("{found} clean-ups")),
    })
    .await;
}

#[tokio::test]
async fn an_application_repeats_the_clean_up_after_a_failure() {
    let (log, store) = (Log::start(), Cleaned::default());
    let _app = App::serve(
        options()
            .auth_provider(provider())
            .token_revocation(store.service(true)),
    )
    .await;
    // A machine that was busy has more of them begin at once, to make up for what was missed.
    until(&store.begun, |found| found >= 2).await;
    log.has("cannot remove expired revocations").await;
}

#[tokio::test]
async fn the_stores_of_several_providers_are_cleaned_up() {
    let stores = [Cleaned::default(), Cleaned::default()];
    let [first, second] = stores
        .each_ref()
        .map(|store| Revocable::new(SECRET, store.service(true)));
    let _app = App::serve(options().auth_provider(MultiProvider::new().or(first).or(second))).await;
    for store in &stores {
        until(&store.begun, |found| found >= 1).await;
    }
}

#[tokio::test]
async fn repeated_starts_run_one_clean_up() {
    let (store, off, later) = (
        Cleaned::without_end(),
        Cleaned::default(),
        Cleaned::without_end(),
    );
    let (service, off_service) = (store.service(true), off.service(false));
    service.start();
    service.start();
    service.clone().start();
    off_service.start();
    // One that begins after them; when it cleans up, each of them would have.
    let last = later.service(true);
    last.start();
    later.until_begun(1).await;
    store.until_begun(1).await;
    assert_eq!(off.begun.load(Ordering::SeqCst), 0, "it is switched off");
}

#[tokio::test]
async fn a_stopped_clean_up_can_be_restarted() {
    let store = Cleaned::without_end();
    let service = store.service(true);
    service.stop();
    service.start();
    store.until_running(1).await;
    service.stop();
    store.until_running(0).await;
    service.start();
    store.until_begun(2).await;
    // It ends with the last that holds the service.
    let other = service.clone();
    drop(service);
    assert_eq!(store.running.load(Ordering::SeqCst), 1);
    drop(other);
    store.until_running(0).await;
}
