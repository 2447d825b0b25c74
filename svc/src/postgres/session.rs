//! The session variables of one request, as PostgreSQL gets them.

use super::Statement;

/// The session variables of one request. No statement of a request runs without one.
#[derive(Debug, PartialEq)]
pub(crate) struct Session(State);

/// The values of the session variables are not known.
#[derive(Debug)]
pub(crate) struct UnknownSession;

#[derive(Debug, PartialEq)]
enum State {
    /// There are none to set.
    None,
    /// There are some, and their values are being computed, or could not be.
    Unknown,
    /// The statement that sets them.
    Set(Statement),
}

impl Session {
    /// A session without variables.
    pub(crate) fn none() -> &'static Self {
        static NONE: Session = Session(State::None);
        &NONE
    }

    /// A session whose values are not known, so that nothing can be read.
    pub(crate) fn unknown() -> Self {
        Self(State::Unknown)
    }

    /// A session that a statement sets up.
    pub(crate) fn of(setup: Statement) -> Self {
        Self(State::Set(setup))
    }

    /// Fails while the values are not known: a statement without them might see too much.
    pub(crate) fn check(&self) -> Result<(), UnknownSession> {
        if matches!(self.0, State::Unknown) { Err(UnknownSession) } else { Ok(()) }
    }

    /// The statement to run first, in the same transaction.
    pub(crate) fn setup(&self) -> Option<&Statement> {
        match &self.0 {
            State::Set(statement) => Some(statement),
            State::None | State::Unknown => None,
        }
    }
}
