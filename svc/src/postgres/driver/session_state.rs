//! The session of a connection: the state that statements may leave behind in it, and the statement that undoes it.

use crate::postgres::Statement;

/// Undoes all that lasts for a session and not for a transaction, except for prepared statements. The role comes after
/// the user, as only that sets one again which the database URL or `ALTER ROLE … SET role` gives.
/// <https://www.postgresql.org/docs/current/sql-discard.html>
pub(in crate::postgres) const RESET_SESSION: &str = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; \
    UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP";

/// The session of a connection, beside what it was when it began.
#[derive(Debug)]
pub(super) struct SessionState {
    /// Whether PostgreSQL plans each statement for its values.
    pub(super) replans: bool,
    /// Whether something has run that may have set what it likes, such as a function that writes.
    may_be_altered: bool,
    /// Whether that is undone.
    is_reset: bool,
}

impl SessionState {
    pub(super) fn new(is_reset: bool) -> Self {
        Self { replans: false, may_be_altered: false, is_reset }
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
}
