//! Failures of commands: a message, and hints for fixing it.

use std::io;
use std::process::ExitCode;

use crate::terminal;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The reason for a command's failure.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hints: Vec<String>,
    /// Output of another program that has been printed already.
    details: String,
    /// Whether the reader of the output has closed it, which is not a failure.
    closed: bool,
    /// Whether an argument is invalid by itself.
    is_usage: bool,
    /// Whether no change to a file can help, so that `svc dev` does not wait for one.
    is_final: bool,
}

impl Failure {
    /// A failure with its message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hints: Vec::new(),
            details: String::new(),
            closed: false,
            is_usage: false,
            is_final: false,
        }
    }

    /// A failure of an argument that is invalid by itself, regardless of the state of this machine.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message).into_usage()
    }

    /// Marks it as a failure of an argument.
    #[must_use]
    pub(crate) fn into_usage(mut self) -> Self {
        self.is_usage = true;
        self
    }

    /// Adds a hint.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds hints.
    #[must_use]
    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        self.hints.extend(hints);
        self
    }

    /// A failure to do something with a file: "cannot write `a.txt`: permission denied".
    pub(crate) fn io(what: impl std::fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(format!("cannot {what}: {error}"))
    }

    /// A failure to write to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        let closed = error.kind() == io::ErrorKind::BrokenPipe;
        Self {
            closed,
            ..Self::new(format!("cannot write to standard output: {error}"))
        }
    }

    /// Marks it as a failure that no change to a file can fix.
    #[must_use]
    pub(crate) fn finally(mut self) -> Self {
        self.is_final = true;
        self
    }

    /// Whether no change to a file can help.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// The message without its hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The hints.
    pub(crate) fn hints_of(&self) -> &[String] {
        &self.hints
    }

    /// The first hint.
    pub(crate) fn first_hint(&self) -> Option<&str> {
        self.hints.first().map(String::as_str)
    }

    /// Adds output of another program that has been printed already.
    #[must_use]
    pub(crate) fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = details.into();
        self
    }

    /// The message, and the output of the other program.
    pub(crate) fn in_full(&self) -> String {
        format!("{}\n\n{}", self.message, self.details)
            .trim_end()
            .to_owned()
    }

    /// Prints it, and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if self.closed {
            return ExitCode::SUCCESS;
        }

        terminal::error(&self.message);
        for hint in &self.hints {
            terminal::hint(hint);
        }

        if self.is_usage {
            ExitCode::from(2)
        } else {
            ExitCode::FAILURE
        }
    }
}
