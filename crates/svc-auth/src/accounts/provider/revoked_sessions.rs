//! The access tokens of ended sessions. They are revoked at once; if the revocation store fails,
//! the database keeps the sessions as unrevoked, and a task revokes them when the store works
//! again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::try_join_all;
use uuid::Uuid;

use super::{Inner, NativeAuthProvider, PATIENCE};
use crate::AuthError;
use crate::accounts::database::EndedSessions;
use crate::accounts::refused::Refused;

/// The pause before the first attempt to revoke tokens later; it doubles after each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause between attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The state of the task that revokes tokens later.
#[derive(Debug, Default)]
pub(super) struct PendingRevocations {
    /// Whether a task is waiting for its next attempt.
    is_waiting: AtomicBool,
    /// Whether a task was started for the sessions that an earlier process left unrevoked.
    has_started: AtomicBool,
}

impl NativeAuthProvider {
    /// Revokes the access tokens of a session that has ended.
    pub(in crate::accounts) async fn revoke_session(&self, session: Uuid) -> Result<(), Refused> {
        Ok(self.try_revoke_session(session).await?)
    }

    /// The same for a session whose end is in the security log already.
    pub(super) async fn forget_session(&self, session: Uuid) -> Result<(), Refused> {
        let issuer = self.0.tokens.rules.issuer.as_deref();
        Ok(self
            .0
            .revocation
            .forget_session(issuer, &session.to_string())
            .await?)
    }

    /// Ends all sessions, and then revokes the access tokens issued up to now: by their time of
    /// issue, and by their sessions. Both times come from the database's clock, as the clocks of
    /// instances differ.
    pub(in crate::accounts) async fn end_all(&self, user_id: Uuid) -> Result<(), Refused> {
        let ended = self.0.database.end_sessions(user_id).await?;
        Ok(self.revoke_ended(user_id, &ended).await?)
    }

    /// Revokes the access tokens of the sessions that a new password has ended. The password stays
    /// set if the store fails, so this does not fail either: the tokens are revoked later.
    pub(super) async fn revoke_after_change(&self, user_id: Uuid, ended: &EndedSessions) {
        if let Err(error) = self.revoke_ended(user_id, ended).await {
            warn_unrevoked(&error);
        }
    }

    /// Revokes the access tokens of sessions that a new one has ended. The new one does not depend
    /// on it.
    pub(super) async fn revoke_pushed_out(&self, sessions: &[Uuid]) {
        for session in sessions {
            if let Err(error) = self.try_revoke_session(*session).await {
                warn_unrevoked(&error);
                return;
            }
        }
    }

    /// Starts a task, once per process, for sessions that an earlier process left unrevoked.
    pub(super) fn revoke_left_over(&self) {
        if !self.0.pending.has_started.swap(true, Ordering::Relaxed) {
            self.revoke_later();
        }
    }

    async fn try_revoke_session(&self, session: Uuid) -> Result<(), AuthError> {
        let revoke = async {
            let issuer = self.0.tokens.rules.issuer.as_deref();
            self.0
                .revocation
                .revoke_session(issuer, &session.to_string())
                .await?;
            self.note_revoked(&[session]).await
        };
        self.now_or_later(revoke).await
    }

    async fn revoke_ended(&self, user_id: Uuid, ended: &EndedSessions) -> Result<(), AuthError> {
        let cut_off = UNIX_EPOCH + Duration::try_from_secs_f64(ended.at).unwrap_or_default();
        let revoke = async {
            self.0
                .revocation
                .revoke_all_before(&user_id.to_string(), cut_off)
                .await?;

            // The event in the security log already covers all of them.
            self.forget_sessions(&ended.sessions).await
        };
        self.now_or_later(revoke).await
    }

    /// Waits for a revocation. Sessions that are unrevoked after it are tried again later.
    async fn now_or_later(
        &self,
        revoke: impl Future<Output = Result<(), AuthError>>,
    ) -> Result<(), AuthError> {
        // Started first, because the request may be cancelled while it waits for the store.
        self.revoke_later();
        in_time(revoke).await
    }

    /// Starts a task that revokes the access tokens of all unrevoked sessions, unless one is
    /// waiting already.
    fn revoke_later(&self) {
        let Some(mut waiting) = self.begin_waiting() else {
            return;
        };

        tokio::spawn(async move {
            let mut pause = FIRST_PAUSE;
            loop {
                tokio::time::sleep(pause).await;
                let Some(provider) = waiting.0.upgrade().map(Self) else {
                    return;
                };

                // A session that ends during the attempt may be missed, so its failure starts
                // another task.
                drop(waiting);
                match provider.revoke_pending().await {
                    Ok(()) | Err(AuthError::NotSupported) => return,
                    Err(error) => tracing::debug!(
                        %error,
                        "the tokens of ended sessions are still not revoked"
                    ),
                }

                let Some(next) = provider.begin_waiting() else {
                    return;
                };
                waiting = next;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
    }

    /// Returns the wait for an attempt, unless a task is waiting already.
    fn begin_waiting(&self) -> Option<Waiting> {
        let is_waiting = self.0.pending.is_waiting.swap(true, Ordering::SeqCst);
        (!is_waiting).then(|| Waiting(Arc::downgrade(&self.0)))
    }

    async fn revoke_pending(&self) -> Result<(), AuthError> {
        loop {
            let pending = self.0.database.unrevoked_sessions().await;
            let pending = pending.map_err(AuthError::unavailable)?;
            if pending.is_empty() {
                return Ok(());
            }
            in_time(self.forget_sessions(&pending)).await?;
        }
    }

    /// Revokes the access tokens of sessions whose ends are in the security log already.
    async fn forget_sessions(&self, sessions: &[Uuid]) -> Result<(), AuthError> {
        let issuer = self.0.tokens.rules.issuer.as_deref();
        let texts: Vec<_> = sessions.iter().map(Uuid::to_string).collect();
        try_join_all(
            texts
                .iter()
                .map(|session| self.0.revocation.forget_session(issuer, session)),
        )
        .await?;
        self.note_revoked(sessions).await
    }

    async fn note_revoked(&self, sessions: &[Uuid]) -> Result<(), AuthError> {
        if sessions.is_empty() {
            return Ok(());
        }
        let noted = self.0.database.note_revoked(sessions).await;
        noted.map_err(AuthError::unavailable)
    }
}

/// The wait of a task for its next attempt. However it ends, another task may start, as after the
/// end of its runtime.
struct Waiting(Weak<Inner>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(provider) = self.0.upgrade() {
            provider.pending.is_waiting.store(false, Ordering::SeqCst);
        }
    }
}

/// Bounds the wait for the store.
async fn in_time(revoke: impl Future<Output = Result<(), AuthError>>) -> Result<(), AuthError> {
    tokio::time::timeout(PATIENCE, revoke)
        .await
        .unwrap_or_else(|_| Err(AuthError::unavailable("no answer in time")))
}

fn warn_unrevoked(error: &AuthError) {
    tracing::warn!(%error, "access tokens of ended sessions are not revoked yet");
}
