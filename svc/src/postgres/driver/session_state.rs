//! The session of a connection: the state that statements may leave behind in it, and the statement that undoes it.

/// Undoes all that lasts for a session and not for a transaction, except for prepared statements. The role comes after
/// the user, as only that sets one again which the database URL or `ALTER ROLE … SET role` gives.
/// <https://www.postgresql.org/docs/current/sql-discard.html>
pub(in crate::postgres) const RESET_SESSION: &str = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; \
    UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP";

/// The session of a connection, beside what it was when it began.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    /// Whether PostgreSQL plans each statement for its values.
    pub(super) replans: bool,
    /// Whether something has run that may set what it likes, such as a function that writes.
    pub(super) may_be_altered: bool,
}
