//! The session of a connection: the state that statements may leave behind in it, and the statement
//! that resets it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::Statement;
use crate::driver::pooled::PooledSession;

macro_rules! reset_session {
    () => {
        "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; UNLISTEN *; \
         SELECT pg_advisory_unlock_all(); DISCARD TEMP"
    };
}

/// Settings that poolers copy from the server for each of their clients, with their initial values.
macro_rules! reported {
    () => {
        "SET DateStyle = 'ISO, MDY'; SET TimeZone = 'UTC'"
    };
}

/// Resets everything that lasts for a session rather than a transaction, except prepared
/// statements. The role comes after the user, as only `RESET ROLE` restores a role given by the
/// database URL or `ALTER ROLE … SET role`.
/// <https://www.postgresql.org/docs/current/sql-discard.html>
pub(super) const RESET_SESSION: &str = reset_session!();

/// The same for connections of sqlx. A pooler copies `DateStyle` and `TimeZone` after the reset, so
/// they are set again.
#[cfg(feature = "sqlx")]
pub(crate) const RESET_OF_SQLX: &str = concat!(reset_session!(), "; ", reported!());

/// Removes roles, settings, cursors and temporary tables of earlier statements from a transaction
/// that continues. Advisory locks remain: they protect writes that are not committed yet.
const RESTORE_SETTINGS: &str =
    "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; DISCARD TEMP";

/// How the session of a connection differs from its initial state.
#[derive(Debug)]
pub(in crate::driver) struct SessionState {
    /// Whether PostgreSQL plans each statement for its actual values.
    pub(super) replans: bool,
    /// The settings for each transaction, if a pooler does not keep the session's settings.
    pub(in crate::driver) pooled: Option<Arc<PooledSession>>,
    /// Whether a statement has run that may have altered the session, such as a function that
    /// writes.
    may_be_altered: bool,
    /// Whether such alterations are reset.
    is_reset: bool,
}

impl SessionState {
    pub(super) fn new(is_reset: bool, pooled: Option<Arc<PooledSession>>) -> Self {
        Self {
            replans: false,
            pooled,
            may_be_altered: false,
            is_reset,
        }
    }

    /// Records that a writing statement runs.
    pub(in crate::driver) fn run(&mut self, statement: &Statement) {
        self.may_be_altered |= !statement.keeps_session;
    }

    /// Whether the session must be reset before its next use.
    pub(in crate::driver) fn needs_reset(&self) -> bool {
        self.is_reset && self.may_be_altered
    }

    /// Records that the session is in its initial state again.
    pub(super) fn was_reset(&mut self) {
        // `RESET ALL` has restored `plan_cache_mode` as well.
        (self.replans, self.may_be_altered) = (false, false);
    }

    /// The statement that turns planning for the actual values on or off. `None` if it is so
    /// already, and behind a pooler, where each transaction sets it.
    pub(in crate::driver) fn switch(&mut self, replan: bool) -> Option<&'static str> {
        if self.replans == replan || self.pooled.is_some() {
            return None;
        }

        self.replans = replan;
        Some(if replan {
            "SET plan_cache_mode = force_custom_plan"
        } else {
            "RESET plan_cache_mode"
        })
    }

    /// Takes the result of such a statement. If it has failed, the next statement tries again.
    pub(super) fn switched<E>(&mut self, replan: bool, result: Result<(), E>) -> Result<(), E> {
        if result.is_err() {
            self.replans = !replan;
        }
        result
    }

    /// The statement that starts a transaction, with its settings if a pooler does not keep the
    /// session's settings.
    pub(in crate::driver) fn begin(&self, begin: &'static str, replans: bool) -> Cow<'static, str> {
        match &self.pooled {
            None => Cow::Borrowed(begin),
            Some(pooled) => Cow::Owned(pooled.begin(begin, replans)),
        }
    }

    /// The statement that undoes the settings made since the beginning of a transaction.
    pub(in crate::driver) fn restore(&self) -> Cow<'static, str> {
        // Behind a pooler, each transaction sets the session's settings, and the reset removes them.
        self.begin(RESTORE_SETTINGS, false)
    }

    /// The statement that ends a transaction. Behind a pooler, the session reset is part of the
    /// same message, as the next message may reach another server connection; the settings that the
    /// pooler copied after the reset are set again.
    pub(in crate::driver) fn end<'a>(&self, end: &'a str) -> Cow<'a, str> {
        // With an empty end there is no transaction: the reset went with the message that ended it.
        if self.pooled.is_some() && self.needs_reset() && !end.is_empty() {
            return Cow::Owned(format!("{end}; {RESET_SESSION}; {}", reported!()));
        }
        Cow::Borrowed(end)
    }
}

#[cfg(test)]
mod tests {
    use super::SessionState;

    #[test]
    fn a_switch_that_fails_is_sent_again() {
        let mut session = SessionState::new(true, None);
        assert!(session.switch(false).is_none());
        for result in [Err("cancelled"), Ok(())] {
            assert!(session.switch(true).is_some());
            assert_eq!(session.switched(true, result), result);
        }

        assert!(session.switch(true).is_none());
        assert!(session.switch(false).is_some());
    }
}
