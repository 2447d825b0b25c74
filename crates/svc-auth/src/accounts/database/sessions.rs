//! Sessions in PostgreSQL.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{AccountDatabase, functions};
use crate::accounts::{AccountError, PasswordHash};

functions! {
    EPOCH: "epoch_of($1)";
    BEGIN: "begin_session($1, $2, $3, $4, $5, $6)";
    ROTATE: "rotate_session($1, $2, $3, $4)";
    END: "end_session($1, $2)";
    END_ALL: "end_sessions($1)";
    CHANGE_PASSWORD: "change_password($1, $2, $3, $4, $5, $6, $7)";
    SESSIONS: "sessions($1)";
    UNREVOKED: "unrevoked_sessions()";
    NOTE_REVOKED: "note_revoked($1)";
}

/// A session of a user, started by one log-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// The identifier, which is not a secret.
    pub id: Uuid,
    /// The time of the log-in.
    pub created_at: DateTime<Utc>,
    /// The time when its tokens were last renewed.
    pub last_used_at: DateTime<Utc>,
    /// The time when it expires unless its tokens are renewed.
    pub expires_at: DateTime<Utc>,
    /// The `User-Agent` of the browser or program that logged in.
    pub user_agent: Option<String>,
}

/// The identifiers of a session and of its current refresh token.
#[derive(Debug, Clone, Copy)]
pub(in crate::accounts) struct SessionIds {
    pub(in crate::accounts) session: Uuid,
    pub(in crate::accounts) refresh: Uuid,
}

/// A session to start.
#[derive(Debug, Clone, Copy)]
pub(in crate::accounts) struct NewSession<'a> {
    pub(in crate::accounts) ids: SessionIds,
    /// The time until it expires.
    pub(in crate::accounts) ttl: Duration,
    /// The `User-Agent` of the client.
    pub(in crate::accounts) user_agent: Option<&'a str>,
}

/// A session that was started.
#[derive(Debug, Clone, Deserialize)]
pub(in crate::accounts) struct BegunSession {
    /// The time of the database's clock, in seconds since 1970.
    pub(in crate::accounts) at: f64,
    /// The oldest sessions of the user, which were ended to make room: their access tokens must be
    /// revoked too.
    pub(in crate::accounts) pushed_out: Vec<Uuid>,
}

/// The ended sessions of a user.
#[derive(Debug, Clone, Deserialize)]
pub(in crate::accounts) struct EndedSessions {
    /// The time of the database's clock, in seconds since 1970.
    pub(in crate::accounts) at: f64,
    /// The sessions whose access tokens must be revoked too.
    pub(in crate::accounts) sessions: Vec<Uuid>,
}

/// The sessions of a user whose password was changed.
#[derive(Debug, Clone, Deserialize)]
pub(in crate::accounts) struct PasswordChange {
    /// The sessions that were ended.
    pub(in crate::accounts) ended: EndedSessions,
    /// The session that was started.
    pub(in crate::accounts) begun: BegunSession,
}

/// The outcome of an attempt to exchange a refresh token.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(in crate::accounts) enum Rotation {
    /// The token was exchanged, at this time of the database's clock in seconds since 1970.
    Rotated { user_id: Uuid, at: f64 },
    /// The token had already been exchanged, so its session was ended.
    Reused { user_id: Uuid },
    /// The session had already ended.
    Ended,
}

impl AccountDatabase {
    /// Changes whenever all sessions of a user end.
    pub(in crate::accounts) async fn epoch(&self, user_id: Uuid) -> Result<Value, AccountError> {
        self.read(&EPOCH, vec![json!(user_id)]).await
    }

    /// Starts a session; `None` if all sessions have ended since the epoch was read.
    pub(in crate::accounts) async fn begin_session(
        &self,
        user_id: Uuid,
        session: &NewSession<'_>,
        epoch: Value,
    ) -> Result<Option<BegunSession>, AccountError> {
        let args = vec![
            json!(user_id),
            json!(session.ids.session),
            json!(session.ids.refresh),
            seconds(session.ttl),
            epoch,
            json!(session.user_agent),
        ];

        match self.write(&BEGIN, args).await? {
            Value::Bool(false) => Ok(None),
            begun => serde_json::from_value(begun)
                .map(Some)
                .map_err(AccountError::unavailable),
        }
    }

    /// Exchanges a refresh token.
    pub(in crate::accounts) async fn rotate(
        &self,
        presented: SessionIds,
        next: Uuid,
        ttl: Duration,
    ) -> Result<Rotation, AccountError> {
        let args = vec![
            json!(presented.session),
            json!(presented.refresh),
            json!(next),
            seconds(ttl),
        ];
        serde_json::from_value(self.write(&ROTATE, args).await?).map_err(AccountError::unavailable)
    }

    /// Ends one session of a user; returns whether there was one.
    pub(in crate::accounts) async fn end_session(
        &self,
        user_id: Uuid,
        session: Uuid,
    ) -> Result<bool, AccountError> {
        Ok(self
            .write(&END, vec![json!(user_id), json!(session)])
            .await?
            == Value::Bool(true))
    }

    /// Ends all sessions of a user, including sessions that log-ins are about to start. Returns the
    /// sessions whose access tokens must be revoked too.
    pub(in crate::accounts) async fn end_sessions(
        &self,
        user_id: Uuid,
    ) -> Result<EndedSessions, AccountError> {
        let ended = self.write(&END_ALL, vec![json!(user_id)]).await?;
        serde_json::from_value(ended).map_err(AccountError::unavailable)
    }

    /// Replaces the hash of a password, if the stored one is `in_place_of`, ends all sessions of its
    /// user and starts one, all in one transaction. Returns `None` if it did nothing.
    pub(in crate::accounts) async fn change_password(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
        in_place_of: &PasswordHash,
        session: &NewSession<'_>,
    ) -> Result<Option<PasswordChange>, AccountError> {
        let args = vec![
            json!(user_id),
            json!(hash.as_str()),
            json!(in_place_of.as_str()),
            json!(session.ids.session),
            json!(session.ids.refresh),
            seconds(session.ttl),
            json!(session.user_agent),
        ];
        let changed = self.write(&CHANGE_PASSWORD, args).await?;
        serde_json::from_value(changed).map_err(AccountError::unavailable)
    }

    /// Returns ended sessions of any users, up to a hundred, whose access tokens may still be valid.
    pub(in crate::accounts) async fn unrevoked_sessions(&self) -> Result<Vec<Uuid>, AccountError> {
        let sessions = self.read(&UNREVOKED, Vec::new()).await?;
        serde_json::from_value(sessions).map_err(AccountError::unavailable)
    }

    /// Notes that the access tokens of ended sessions are revoked.
    pub(in crate::accounts) async fn note_revoked(
        &self,
        sessions: &[Uuid],
    ) -> Result<(), AccountError> {
        self.write(&NOTE_REVOKED, vec![json!(sessions)])
            .await
            .map(drop)
    }

    /// The sessions of a user, most recently used first.
    pub(in crate::accounts) async fn sessions(
        &self,
        user_id: Uuid,
    ) -> Result<Vec<Session>, AccountError> {
        let sessions = self.read(&SESSIONS, vec![json!(user_id)]).await?;
        serde_json::from_value(sessions).map_err(AccountError::unavailable)
    }
}

/// A time for `make_interval`.
pub(super) fn seconds(time: Duration) -> Value {
    json!(time.as_secs_f64())
}
