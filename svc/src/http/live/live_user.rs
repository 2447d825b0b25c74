//! The user of an open connection, which can change or end before its token expires.

use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use futures_util::FutureExt as _;
use tokio::task::JoinHandle;

use super::check_limits::CheckLimits;
use super::notes::Ending;
use super::user_check::{Checked, UserSource, is_checked};
use svc_auth::{Identity, UserContext};
use svc_core::log_throttle::LogThrottle;
use svc_engine::graphql::Engine;
use svc_engine::request::{RequestId, RequestParts};

/// The time between two log lines about checks that had to wait too long.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The user of a connection, and its checks.
pub(in crate::http) struct LiveUser {
    source: UserSource,
    limits: Arc<CheckLimits>,
    /// The end of the last check.
    checked: Instant,
    /// The beginning of the first check that failed since the last successful one.
    away: Option<Instant>,
    checking: Option<Checking>,
}

/// A check in a separate task: a connection whose client accepts no messages polls nothing, and a
/// check in the middle of a statement would keep its pool connection from all other clients.
struct Checking {
    begun: Instant,
    /// Returns the outcome and the end of the check.
    task: JoinHandle<(Checked, Instant)>,
}

impl Drop for Checking {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LiveUser {
    /// The user that was just identified.
    pub(in crate::http) fn new(
        engine: Arc<Engine>,
        limits: Arc<CheckLimits>,
        opened: Arc<RequestParts>,
        identity: Identity,
        token: Option<&HeaderValue>,
    ) -> Self {
        Self {
            source: UserSource {
                engine,
                opened,
                identity,
                token: token.and_then(detached),
            },
            limits,
            checked: Instant::now(),
            away: None,
            checking: None,
        }
    }

    /// Whether a user has to be checked, or ends with time.
    pub(in crate::http) fn is_needed(opened: &RequestParts, identity: &Identity) -> bool {
        is_checked(opened, identity) || is_given(opened)
    }

    pub(super) fn is_checked(&self) -> bool {
        is_checked(&self.source.opened, &self.source.identity)
    }

    pub(super) fn is_given(&self) -> bool {
        is_given(&self.source.opened)
    }

    /// Starts a check, unless one is under way.
    pub(in crate::http) fn check(&mut self) {
        if self.checking.is_some() {
            return;
        }

        let (source, limits) = (self.source.clone(), self.limits.clone());
        let id = RequestId::current();
        let checking = async move {
            let checking = pin!(check(&source, &limits));
            let checked = RequestId::scope(id.as_ref(), checking).await;
            (checked, Instant::now())
        };
        self.checking = Some(Checking {
            begun: Instant::now(),
            task: tokio::spawn(checking),
        });
    }

    /// Whether the last check is too old for an operation to begin. A check is then under way.
    #[cfg(feature = "websocket")]
    pub(in crate::http) fn is_stale(&mut self) -> bool {
        let is_stale = self.checked.elapsed() >= self.limits.interval;
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

        let ended = ready!(checking.task.poll_unpin(cx));
        let begun = checking.begun;
        self.checking = None;

        // The runtime that ends a task ends the connection, too.
        let (checked, at) = ended.unwrap_or_else(|_| (Checked::Unknown, Instant::now()));
        self.checked = at;

        Poll::Ready(match checked {
            Checked::Found(identity) | Checked::Changed(identity) => {
                self.away = None;
                self.take(identity)
            }
            Checked::Unknown => self.outage(begun),
            Checked::Ended(ending) => Checked::Ended(ending),
        })
    }

    /// Returns the outcome of a failed check: an outage must neither end all connections at once,
    /// nor keep a user forever.
    fn outage(&mut self, begun: Instant) -> Checked {
        match self.away {
            Some(away) if self.checked.saturating_duration_since(away) >= self.limits.outage => {
                Checked::Ended(Ending::RevocationUnknown)
            }
            // However long it took, a single failure ends no connection.
            away => {
                self.away = away.or(Some(begun));
                Checked::Unknown
            }
        }
    }

    /// Takes over an identity, and compares it with the one at the last check.
    fn take(&mut self, identity: Identity) -> Checked {
        let before = std::mem::replace(&mut self.source.identity, identity.clone());
        let is_same = match (before.user(), identity.user()) {
            (Some(before), Some(user)) => user.is_same_but_for_times(before),
            (before, user) => before.is_none() && user.is_none(),
        };

        if is_same {
            Checked::Found(identity)
        } else {
            Checked::Changed(identity)
        }
    }
}

/// Checks a user within the limits.
async fn check(source: &UserSource, limits: &CheckLimits) -> Checked {
    static FAILURES: LazyLock<LogThrottle> = LazyLock::new(|| LogThrottle::every(BETWEEN_LINES));

    // Acquired before the timeouts begin: the provider must have all of its time.
    let Some(_permit) = limits.permit().await else {
        FAILURES.log(|times| {
            tracing::error!(
                times,
                "keeping the users of sockets and streams for a while, as too many others are being checked"
            );
        });
        return Checked::Unknown;
    };

    source.check().await
}

/// Whether a layer has set the user.
fn is_given(opened: &RequestParts) -> bool {
    opened.extension::<UserContext>().is_some()
}

/// Returns a copy that does not retain the buffer of the whole request.
fn detached(token: &HeaderValue) -> Option<HeaderValue> {
    let mut copy = HeaderValue::from_bytes(token.as_bytes()).ok()?;
    copy.set_sensitive(true);
    Some(copy)
}
