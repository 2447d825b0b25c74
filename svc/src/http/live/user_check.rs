//! A check of a user at the source that identified it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
#[cfg(feature = "sessions")]
use std::sync::LazyLock;
#[cfg(feature = "sessions")]
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use futures_util::FutureExt as _;

use super::notes::Ending;
#[cfg(feature = "sessions")]
use svc_auth::sessions::Session;
use svc_auth::{Identity, Refusal, UserContext};
#[cfg(feature = "sessions")]
use svc_core::log_throttle::LogThrottle;
use svc_engine::graphql::Engine;
use svc_engine::request::RequestParts;

/// The timeout of the session store.
#[cfg(feature = "sessions")]
const TIMEOUT: Duration = Duration::from_secs(5);
/// The time between two log lines about the session store.
#[cfg(feature = "sessions")]
const BETWEEN_LINES: Duration = Duration::from_secs(5);

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

/// A user, with the sources to check it.
#[derive(Clone)]
pub(super) struct UserSource {
    pub(super) engine: Arc<Engine>,
    /// The request that opened the connection.
    pub(super) opened: Arc<RequestParts>,
    pub(super) identity: Identity,
    /// The header with the token, if it is not among those of the opening request.
    pub(super) token: Option<HeaderValue>,
}

impl UserSource {
    /// Checks the user at the source that identified it.
    pub(super) async fn check(&self) -> Checked {
        // Providers and stores are application code.
        let checking = AssertUnwindSafe(async {
            match self.identity.user() {
                Some(user) => self.ask_provider(user).await,
                None => self.ask_store().await,
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

    /// Verifies the token of the user again.
    async fn ask_provider(&self, user: &UserContext) -> Checked {
        let Some(authentication) = &self.engine.authentication else {
            return Checked::Unknown;
        };

        let (client, extensions) = (&self.opened.headers, &self.opened.extensions);
        let found = match &self.token {
            Some(token) => {
                let credentials = HeaderMap::from_iter([(header::AUTHORIZATION, token.clone())]);
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
    async fn ask_store(&self) -> Checked {
        static FAILURES: LazyLock<LogThrottle> =
            LazyLock::new(|| LogThrottle::every(BETWEEN_LINES));

        let Some(session) = self.opened.extension::<Session>() else {
            return Checked::Found(self.identity.clone());
        };

        let error = match tokio::time::timeout(TIMEOUT, session.has_ended()).await {
            Ok(Ok(false)) => return Checked::Found(self.identity.clone()),
            Ok(Ok(true)) => return Checked::Ended(Ending::SessionEnded),
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
    async fn ask_store(&self) -> Checked {
        Checked::Found(self.identity.clone())
    }
}

/// Whether the user can change before the token expires, and has a source that can be asked.
pub(super) fn is_checked(opened: &RequestParts, identity: &Identity) -> bool {
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
