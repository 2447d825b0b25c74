//! The session of a connection: the state that statements may leave behind in it, and the statement that undoes it.

use std::borrow::Cow;
use std::sync::Arc;

use super::pooled::PooledSession;
use crate::postgres::Statement;

macro_rules! reset_session {
    () => {
        "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; UNLISTEN *; \
         SELECT pg_advisory_unlock_all(); DISCARD TEMP"
    };
}

/// Settings that poolers take over from the server for each of their clients, as they were at the start.
macro_rules! reported {
    () => {
        "SET DateStyle = 'ISO, MDY'; SET TimeZone = 'UTC'"
    };
}

/// Undoes all that lasts for a session and not for a transaction, except for prepared statements. The role comes after
/// the user, as only that sets one again which the database URL or `ALTER ROLE … SET role` gives.
/// <https://www.postgresql.org/docs/current/sql-discard.html>
pub(super) const RESET_SESSION: &str = reset_session!();

/// The same for connections of sqlx. A pooler takes over what these two are after the reset, so they are set again.
#[cfg(feature = "sqlx")]
pub(in crate::postgres) const RESET_OF_SQLX: &str = concat!(reset_session!(), "; ", reported!());

/// The session of a connection, beside what it was when it began.
#[derive(Debug)]
pub(super) struct SessionState {
    /// Whether PostgreSQL plans each statement for its values.
    pub(super) replans: bool,
    /// The settings of each transaction, where a pooler does not keep those of the session.
    pub(super) pooled: Option<Arc<PooledSession>>,
    /// Whether something has run that may have set what it likes, such as a function that writes.
    may_be_altered: bool,
    /// Whether that is undone.
    is_reset: bool,
}

impl SessionState {
    pub(super) fn new(is_reset: bool, pooled: Option<Arc<PooledSession>>) -> Self {
        Self { replans: false, pooled, may_be_altered: false, is_reset }
    }

    /// Notes that a statement runs which writes.
    pub(super) fn run(&mut self, statement: &Statement) {
        self.may_be_altered |= !statement.keeps_session;
    }

    /// Whether it has to be reset before somebody else uses it.
    pub(super) fn needs_reset(&self) -> bool {
        self.is_reset && self.may_be_altered
    }

    /// Notes that it is as it was when it began.
    pub(super) fn was_reset(&mut self) {
        (self.replans, self.may_be_altered) = (false, false);
    }

    /// The statement that tells PostgreSQL to plan for the values, or no longer to; `None` where it does so already, and
    /// behind a pooler, where each transaction says so.
    pub(super) fn switch(&mut self, replan: bool) -> Option<&'static str> {
        if self.replans == replan || self.pooled.is_some() {
            return None;
        }
        self.replans = replan;
        Some(if replan { "SET plan_cache_mode = force_custom_plan" } else { "RESET plan_cache_mode" })
    }

    /// The statement that begins a transaction, with its settings where a pooler does not keep those of the session.
    pub(super) fn begin(&self, begin: &'static str, replans: bool) -> Cow<'static, str> {
        match &self.pooled {
            None => Cow::Borrowed(begin),
            Some(pooled) => Cow::Owned(pooled.begin(begin, replans)),
        }
    }

    /// The statement that ends a transaction. Behind a pooler the reset of the session is one message with it, as the next
    /// one may reach another connection of the server; what the pooler has taken over of the reset is set again.
    pub(super) fn end<'a>(&self, end: &'a str) -> Cow<'a, str> {
        if self.pooled.is_some() && self.needs_reset() && !end.is_empty() {
            return Cow::Owned(format!("{end}; {RESET_SESSION}; {}", reported!()));
        }
        Cow::Borrowed(end)
    }
}
