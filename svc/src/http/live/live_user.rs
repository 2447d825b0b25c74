//! The user of an open connection, which can change or end before its token expires.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
#[cfg(feature = "sessions")]
use std::sync::LazyLock;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, header};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::notes::Ending;
#[cfg(feature = "sessions")]
use svc_auth::sessions::Session;
use svc_auth::{Identity, Refusal, UserContext};
#[cfg(feature = "sessions")]
use svc_core::log_throttle::LogThrottle;
use svc_engine::graphql::Engine;
use svc_engine::request::RequestParts;

/// The number of intervals for which a user is kept that cannot be checked.
const KEPT: u32 = 5;
/// The timeout of the session store.
#[cfg(feature = "sessions")]
const TIMEOUT: Duration = Duration::from_secs(5);
/// The time between two log lines about the session store.
#[cfg(feature = "sessions")]
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The user of a connection, with the sources to check it again.
pub(in crate::http) struct LiveUser {
    engine: Arc<Engine>,
    /// The request that opened the connection.
    opened: Arc<RequestParts>,
    identity: Identity,
    /// The header with the token, if it is not among those of the opening request.
    token: Option<HeaderValue>,
    pub(super) interval: Duration,
    /// The time of the last successful check.
    found: Instant,
    /// The time of the last check.
    checked: Instant,
    checking: Option<BoxFuture<'static, Checked>>,
}

/// The outcome of a check.
#[derive(Debug)]
pub(in crate::http) enum Checked {
    /// The user is the same.
    Found(Identity),
    /// The user has other data, such as other roles.
    Changed(Identity),
    /// The user cannot be checked at the moment.
    Unknown,
    /// The connection has to end.
    Ended(Ending),
}

impl LiveUser {
    /// The user that was just identified.
    pub(in crate::http) fn new(
        engine: Arc<Engine>,
        opened: Arc<RequestParts>,
        identity: Identity,
        token: Option<&HeaderValue>,
    ) -> Self {
        let now = Instant::now();
        Self {
            engine,
            opened,
            identity,
            token: token.and_then(detached),
            interval: Duration::MAX,
            found: now,
            checked: now,
            checking: None,
        }
    }

    /// Whether a user has to be checked, or ends with time.
    pub(in crate::http) fn is_needed(opened: &RequestParts, identity: &Identity) -> bool {
        is_checked(opened, identity) || is_given(opened)
    }

    pub(super) fn is_checked(&self) -> bool {
        is_checked(&self.opened, &self.identity)
    }

    pub(super) fn is_given(&self) -> bool {
        is_given(&self.opened)
    }

    /// Starts a check, unless one is under way.
    pub(in crate::http) fn check(&mut self) {
        if self.checking.is_some() {
            return;
        }

        let (engine, opened) = (self.engine.clone(), self.opened.clone());
        let (identity, token) = (self.identity.clone(), self.token.clone());
        let checking = async move { check(&engine, &opened, &identity, token).await };
        self.checking = Some(checking.boxed());
    }

    /// Whether the last check is too old for an operation to begin. A check is then under way.
    #[cfg(feature = "websocket")]
    pub(in crate::http) fn is_stale(&mut self) -> bool {
        let is_stale = self.checked.elapsed() >= self.interval;
        if is_stale {
            self.check();
        }
        is_stale
    }

    /// Is ready with the outcome of a check; pending while none is under way.
    pub(in crate::http) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Checked> {
        let Some(checking) = &mut self.checking else {
            return Poll::Pending;
        };

        let checked = std::task::ready!(checking.poll_unpin(cx));
        self.checking = None;
        self.checked = Instant::now();

        Poll::Ready(match checked {
            Checked::Found(identity) | Checked::Changed(identity) => {
                self.found = self.checked;
                self.take(identity)
            }
            // An outage must neither end all connections at once, nor keep a user forever.
            Checked::Unknown if self.found.elapsed() >= self.interval.saturating_mul(KEPT) => {
                Checked::Ended(Ending::RevocationUnknown)
            }
            other => other,
        })
    }

    /// Takes over an identity, and compares it with the one at the last check.
    fn take(&mut self, identity: Identity) -> Checked {
        let is_same = match (self.identity.user(), identity.user()) {
            (Some(before), Some(user)) => user.is_same_but_for_times(before),
            (before, user) => before.is_none() && user.is_none(),
        };
        self.identity = identity.clone();

        if is_same {
            Checked::Found(identity)
        } else {
            Checked::Changed(identity)
        }
    }
}

/// Whether a layer has set the user.
fn is_given(opened: &RequestParts) -> bool {
    opened.extension::<UserContext>().is_some()
}

/// Whether the user can change before the token expires, and has a source that can be asked.
fn is_checked(opened: &RequestParts, identity: &Identity) -> bool {
    match identity.verified() {
        Some(token) => !token.is_fixed,
        None => has_stored_session(opened),
    }
}

#[cfg(feature = "sessions")]
fn has_stored_session(opened: &RequestParts) -> bool {
    opened
        .extension::<Session>()
        .is_some_and(Session::is_stored)
}

#[cfg(not(feature = "sessions"))]
fn has_stored_session(_: &RequestParts) -> bool {
    false
}

/// Checks a user at the source that identified it.
async fn check(
    engine: &Engine,
    opened: &RequestParts,
    identity: &Identity,
    token: Option<HeaderValue>,
) -> Checked {
    // Providers and stores are application code.
    let checking = AssertUnwindSafe(async {
        match identity.user() {
            Some(user) => ask_provider(engine, opened, user, token).await,
            None => ask_store(opened, identity).await,
        }
    });

    checking.catch_unwind().await.unwrap_or_else(|panic| {
        svc_telemetry::panic::report(
            "checking the user of a connection",
            svc_telemetry::panic::message(&*panic),
        );
        Checked::Unknown
    })
}

/// Verifies the token of a user again.
async fn ask_provider(
    engine: &Engine,
    opened: &RequestParts,
    user: &UserContext,
    token: Option<HeaderValue>,
) -> Checked {
    let Some(authentication) = &engine.authentication else {
        return Checked::Unknown;
    };

    let (client, extensions) = (&opened.headers, &opened.extensions);
    let found = match token {
        Some(token) => {
            let credentials = HeaderMap::from_iter([(header::AUTHORIZATION, token)]);
            authentication
                .identify_again(&credentials, client, extensions)
                .await
        }
        None => {
            authentication
                .identify_again(client, client, extensions)
                .await
        }
    };

    match found {
        Err(_) => Checked::Unknown,
        Ok(Identity::Refused(Refusal::Expired)) => Checked::Ended(Ending::TokenExpired),
        Ok(identity) => match identity.user() {
            Some(found) if found.user_id == user.user_id => Checked::Found(identity),
            _ => Checked::Ended(Ending::TokenRevoked),
        },
    }
}

/// Checks whether the session of the opening request has ended.
#[cfg(feature = "sessions")]
async fn ask_store(opened: &RequestParts, identity: &Identity) -> Checked {
    static FAILURES: LazyLock<LogThrottle> = LazyLock::new(|| LogThrottle::every(BETWEEN_LINES));

    let Some(session) = opened.extension::<Session>() else {
        return Checked::Found(identity.clone());
    };

    let error = match tokio::time::timeout(TIMEOUT, session.has_ended()).await {
        Ok(Ok(false)) => return Checked::Found(identity.clone()),
        Ok(Ok(true)) => return Checked::Ended(Ending::TokenExpired),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    FAILURES.log(move |times| {
        tracing::error!(
            error,
            times,
            "keeping the users of sockets and streams for a while, as their sessions cannot be read"
        );
    });

    Checked::Unknown
}

#[cfg(not(feature = "sessions"))]
async fn ask_store(_: &RequestParts, identity: &Identity) -> Checked {
    Checked::Found(identity.clone())
}

/// Returns a copy that does not retain the buffer of the whole request.
fn detached(token: &HeaderValue) -> Option<HeaderValue> {
    let mut copy = HeaderValue::from_bytes(token.as_bytes()).ok()?;
    copy.set_sensitive(true);
    Some(copy)
}
