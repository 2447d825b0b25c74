//! The keys of an identity provider, fetched on demand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use super::client::HttpClient;
use super::error::FetchError;
use super::key_set::KeySet;
use super::metadata::Metadata;
use crate::{AuthError, TokenAlgorithm};

/// The retry interval while there are no keys at all.
const RETRY: Duration = Duration::from_secs(1);

/// The keys of an identity provider. There is one fetch at a time, which is independent of the
/// request that started it.
pub(super) struct KeySource {
    pub(super) client: HttpClient,
    pub(super) metadata: Metadata,
    pub(super) algorithms: Vec<TokenAlgorithm>,
    /// How long keys are cached; zero fetches them for each token.
    pub(super) lifetime: Duration,
    /// The minimum time between two fetches for an unknown key.
    pub(super) interval: Duration,
    keys: ArcSwapOption<Fetched>,
    generation: AtomicU64,
    fetching: Mutex<Fetching>,
}

/// Keys and the time of their fetch.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) set: KeySet,
    at: Instant,
}

#[derive(Default)]
struct Fetching {
    current: Option<Shared<BoxFuture<'static, ()>>>,
    /// The earliest time of the next fetch for an unknown key.
    next_for_unknown: Option<Instant>,
    /// After a failed fetch: the earliest time of the next one, and the error.
    failed: Option<(Instant, Arc<FetchError>)>,
}

impl KeySource {
    pub(super) fn new(
        client: HttpClient,
        metadata: Metadata,
        algorithms: Vec<TokenAlgorithm>,
        [lifetime, interval]: [Duration; 2],
    ) -> Self {
        Self {
            client,
            metadata,
            algorithms,
            lifetime,
            interval,
            keys: ArcSwapOption::empty(),
            generation: AtomicU64::new(0),
            fetching: Mutex::default(),
        }
    }

    /// Changes whenever the keys do.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns the keys to verify a token with. Fetches them if there are none, if they are too
    /// old, or if the token names an unknown key.
    ///
    /// # Errors
    /// If there are no keys and the fetch fails.
    pub(super) async fn keys(
        self: &Arc<Self>,
        id: Option<&str>,
    ) -> Result<Arc<Fetched>, AuthError> {
        let began = Instant::now();
        let mut keys = self.keys.load_full();
        if keys.as_ref().is_none_or(|keys| keys.is_old(self.lifetime)) {
            self.fetch(began, false).await;
            keys = self.keys.load_full();
        }

        if let (Some(known), Some(id)) = (&keys, id)
            && !known.set.has(id)
            // Keys fetched after this request began are as recent as another fetch could make them.
            && known.at < began
        {
            self.fetch(began, true).await;
            keys = self.keys.load_full();
        }

        keys.ok_or_else(|| match &self.lock().failed {
            Some((_, error)) => AuthError::unavailable(error.clone()),
            None => AuthError::unavailable("the keys of the identity provider were not fetched"),
        })
    }

    /// How long a token verified with these keys may be cached.
    pub(super) fn hold(&self, keys: &Fetched) -> Duration {
        match self.lifetime.saturating_sub(keys.at.elapsed()) {
            Duration::ZERO if self.lifetime.is_zero() => Duration::ZERO,
            // The keys are too old because fetching failed; the next attempt is after this
            // interval.
            Duration::ZERO => self.interval,
            left => left,
        }
    }

    /// Waits for the fetch in progress, or starts a new one if it is due.
    async fn fetch(self: &Arc<Self>, now: Instant, for_unknown: bool) {
        let current = {
            let mut fetching = self.lock();

            // A completed fetch stays in `current`; only one in progress is joined.
            match fetching
                .current
                .clone()
                .filter(|current| current.peek().is_none())
            {
                Some(current) => current,
                None if fetching.must_wait(now, for_unknown) => return,
                None => {
                    if for_unknown {
                        fetching.next_for_unknown = Some(now + self.interval);
                    }
                    let source = self.clone();
                    let task = tokio::spawn(async move { source.refresh().await });
                    let current = task.map(|_| ()).boxed().shared();
                    fetching.current = Some(current.clone());
                    current
                }
            }
        };

        current.await;
    }

    /// Fetches the keys. If that fails, the current keys stay in use.
    async fn refresh(&self) {
        match self.fetched().await {
            Ok(set) => {
                let known = self.keys.load();
                let is_new = known.as_ref().is_none_or(|known| !known.set.is_same(&set));

                // The keys come before their generation: in the other order, a token verified with
                // the old keys could be cached under the new generation.
                self.keys.store(Some(Arc::new(Fetched {
                    set,
                    at: Instant::now(),
                })));
                if is_new {
                    self.generation.fetch_add(1, Ordering::AcqRel);
                }
                self.lock().failed = None;
            }
            Err(error) => {
                let has_keys = self.keys.load().is_some();

                // Without any keys all tokens are refused, so the next attempt comes sooner.
                let pause = if has_keys { self.interval } else { RETRY };
                tracing::warn!(%error, has_keys, "cannot fetch the keys of the identity provider");
                self.lock().failed = Some((Instant::now() + pause, Arc::new(error)));
            }
        }
    }

    async fn fetched(&self) -> Result<KeySet, FetchError> {
        let address = self.metadata.keys(&self.client).await?;
        let set = KeySet::read(self.client.get(&address, None).await?, &self.algorithms);

        // An empty set would invalidate all tokens; as an error, it leaves the current keys in use.
        let set = set.filter(|set| !set.is_empty());
        set.ok_or(FetchError::Unexpected(
            address,
            "a set of keys that fit the allowed algorithms",
        ))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Fetching> {
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetched {
    fn is_old(&self, lifetime: Duration) -> bool {
        self.at.elapsed() >= lifetime
    }
}

impl Fetching {
    fn must_wait(&self, now: Instant, for_unknown: bool) -> bool {
        self.failed.as_ref().is_some_and(|(until, _)| now < *until)
            || (for_unknown && self.next_for_unknown.is_some_and(|next| now < next))
    }
}

impl std::fmt::Debug for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySource")
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
