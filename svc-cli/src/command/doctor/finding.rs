//! Findings of the doctor.

use serde::Serialize;

use crate::failure::Failure;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// No problem.
    Ok,
    /// It works, but may be wrong in production.
    Warning,
    /// It does not work, or must not be used in production.
    Problem,
}

impl State {
    /// A word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// A finding.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) state: State,
    pub(super) subject: String,
    pub(super) message: String,
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(subject: &str, message: impl Into<String>) -> Self {
        Self {
            state: State::Ok,
            subject: subject.to_owned(),
            message: message.into(),
            fix: None,
        }
    }

    pub(super) fn warning(
        subject: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Warning,
            fix: Some(fix.into()),
            ..Self::ok(subject, message)
        }
    }

    pub(super) fn problem(
        subject: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Problem,
            fix: Some(fix.into()),
            ..Self::ok(subject, message)
        }
    }

    /// A problem with the message of a failure.
    pub(super) fn of_failure(subject: &str, failure: &Failure) -> Self {
        let fix = failure.first_hint().map(str::to_owned);
        Self {
            state: State::Problem,
            fix,
            ..Self::ok(subject, failure.message())
        }
    }
}
