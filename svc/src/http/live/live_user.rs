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

/// The number of intervals for which a user is kept that cannot be looked up.
const KEPT: u32 = 5;
/// The timeout of the session store.
#[cfg(feature = "sessions")]
const TIMEOUT: Duration = Duration::from_secs(5);
/// The time between two log lines about the session store.
#[cfg(feature = "sessions")]
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The user of a connection, with the sources to look it up again.
pub(in crate::http) struct LiveUser {
    engine: Arc<Engine>,
    /// The request that opened the connection.
    opened: Arc<RequestParts>,
    identity: Identity,
    /// The header with the token, if it is not among those of the opening request.
    token: Option<HeaderValue>,
    pub(super) interval: Duration,
    /// The time of the last successful look.
    found: Instant,
    /// The time of the last look.
    looked: Instant,
    looking: Option<BoxFuture<'static, Looked>>,
}

/// The outcome of a look.
#[derive(Debug)]
pub(in crate::http) enum Looked {
    /// The user is the same.
    Found(Identity),
    /// The user has other data, such as other roles.
    Changed(Identity),
    /// The user cannot be looked up at the moment.
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
            looked: now,
            looking: None,
        }
    }

    /// Whether a user has to be looked up again, or ends with time.
    pub(in crate::http) fn is_needed(opened: &RequestParts, identity: &Identity) -> bool {
        is_looked_up(opened, identity) || is_given(opened)
    }

    pub(super) fn is_looked_up(&self) -> bool {
        is_looked_up(&self.opened, &self.identity)
    }

    pub(super) fn is_given(&self) -> bool {
        is_given(&self.opened)
    }

    /// Starts a look, unless one is under way.
    pub(in crate::http) fn look(&mut self) {
        if self.looking.is_some() {
            return;
        }

        let (engine, opened) = (self.engine.clone(), self.opened.clone());
        let (identity, token) = (self.identity.clone(), self.token.clone());
        let looking = async move { look(&engine, &opened, &identity, token).await };
        self.looking = Some(looking.boxed());
    }

    /// Whether the last look is too old for an operation to begin. A look is then under way.
    #[cfg(feature = "websocket")]
    pub(in crate::http) fn is_stale(&mut self) -> bool {
        let is_stale = self.looked.elapsed() >= self.interval;
        if is_stale {
            self.look();
        }
        is_stale
    }

    /// Is ready with the outcome of a look; pending while none is under way.
    pub(in crate::http) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Looked> {
        let Some(looking) = &mut self.looking else {
            return Poll::Pending;
        };

        let looked = std::task::ready!(looking.poll_unpin(cx));
        self.looking = None;
        self.looked = Instant::now();

        Poll::Ready(match looked {
            Looked::Found(identity) | Looked::Changed(identity) => {
                self.found = self.looked;
                self.take(identity)
            }
            // An outage must neither end all connections at once, nor keep a user forever.
            Looked::Unknown if self.found.elapsed() >= self.interval.saturating_mul(KEPT) => {
                Looked::Ended(Ending::RevocationUnknown)
            }
            other => other,
        })
    }

    /// Takes over an identity, and compares it with the one at the last look.
    fn take(&mut self, identity: Identity) -> Looked {
        let is_same = match (self.identity.user(), identity.user()) {
            (Some(before), Some(user)) => user.is_same_but_for_times(before),
            (before, user) => before.is_none() && user.is_none(),
        };
        self.identity = identity.clone();

        if is_same {
            Looked::Found(identity)
        } else {
            Looked::Changed(identity)
        }
    }
}

/// Whether a layer has set the user.
fn is_given(opened: &RequestParts) -> bool {
    opened.extension::<UserContext>().is_some()
}

/// Whether the user can change before the token expires, and has a source that can be asked.
fn is_looked_up(opened: &RequestParts, identity: &Identity) -> bool {
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

/// Looks a user up at the source that identified it.
async fn look(
    engine: &Engine,
    opened: &RequestParts,
    identity: &Identity,
    token: Option<HeaderValue>,
) -> Looked {
    // Providers and stores are application code.
    let looking = AssertUnwindSafe(async {
        match identity.user() {
            Some(user) => ask_provider(engine, opened, user, token).await,
            None => ask_store(opened, identity).await,
        }
    });

    looking.catch_unwind().await.unwrap_or_else(|panic| {
        svc_telemetry::panic::report(
            "looking up the user of a connection",
            svc_telemetry::panic::message(&*panic),
        );
        Looked::Unknown
    })
}

/// Verifies the token of a user again.
async fn ask_provider(
    engine: &Engine,
    opened: &RequestParts,
    user: &UserContext,
    token: Option<HeaderValue>,
) -> Looked {
    let Some(authentication) = &engine.authentication else {
        return Looked::Unknown;
    };

    let (client, extensions) = (&opened.headers, &opened.extensions);
    let found = match token {
        Some(token) => {
            let credentials = HeaderMap::from_iter([(header::AUTHORIZATION, token)]);
            authentication
                .look_again(&credentials, client, extensions)
                .await
        }
        None => authentication.look_again(client, client, extensions).await,
    };

    match found {
        Err(_) => Looked::Unknown,
        Ok(Identity::Refused(Refusal::Expired)) => Looked::Ended(Ending::TokenExpired),
        Ok(identity) => match identity.user() {
            Some(found) if found.user_id == user.user_id => Looked::Found(identity),
            _ => Looked::Ended(Ending::TokenRevoked),
        },
    }
}

/// Looks whether the session of the opening request has ended.
#[cfg(feature = "sessions")]
async fn ask_store(opened: &RequestParts, identity: &Identity) -> Looked {
    static FAILURES: LazyLock<LogThrottle> = LazyLock::new(|| LogThrottle::every(BETWEEN_LINES));

    let Some(session) = opened.extension::<Session>() else {
        return Looked::Found(identity.clone());
    };

    let error = match tokio::time::timeout(TIMEOUT, session.has_ended()).await {
        Ok(Ok(false)) => return Looked::Found(identity.clone()),
        Ok(Ok(true)) => return Looked::Ended(Ending::TokenExpired),
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

    Looked::Unknown
}

#[cfg(not(feature = "sessions"))]
async fn ask_store(_: &RequestParts, identity: &Identity) -> Looked {
    Looked::Found(identity.clone())
}

/// Returns a copy that does not retain the buffer of the whole request.
fn detached(token: &HeaderValue) -> Option<HeaderValue> {
    let mut copy = HeaderValue::from_bytes(token.as_bytes()).ok()?;
    copy.set_sensitive(true);
    Some(copy)
}
