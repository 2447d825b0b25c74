//! Failures of commands: a message, and hints on what to do.

use std::io;
use std::process::ExitCode;

use crate::terminal;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The reason why a command has failed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hints: Vec<String>,
    /// Words of another program that have been told already.
    details: String,
    /// Whoever reads the output has closed it, which is not a failure.
    closed: bool,
    /// An argument is wrong by itself.
    is_usage: bool,
    /// No change of a file helps, so `svc dev` need not wait for one.
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

    /// A failure of an argument that is wrong by itself, whatever there is on this machine.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message).into_usage()
    }

    /// The same as a failure of an argument.
    #[must_use]
    pub(crate) fn into_usage(mut self) -> Self {
        self.is_usage = true;
        self
    }

    /// The same with something that helps.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same with things that help.
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
        Self { closed, ..Self::new(format!("cannot write to standard output: {error}")) }
    }

    /// The same for what no change of a file helps.
    #[must_use]
    pub(crate) fn finally(mut self) -> Self {
        self.is_final = true;
        self
    }

    /// Whether no change of a file helps.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// The message without its hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The things that help.
    pub(crate) fn hints_of(&self) -> &[String] {
        &self.hints
    }

    /// The first thing that helps.
    pub(crate) fn first_hint(&self) -> Option<&str> {
        self.hints.first().map(String::as_str)
    }

    /// The same with words of another program that have been told already.
    #[must_use]
    pub(crate) fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = details.into();
        self
    }

    /// The message, and the words of the other program.
    pub(crate) fn in_full(&self) -> String {
        format!("{}\n\n{}", self.message, self.details).trim_end().to_owned()
    }

    /// Tells it, and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if self.closed {
            return ExitCode::SUCCESS;
        }
        terminal::error(&self.message);
        for hint in &self.hints {
            terminal::hint(hint);
        }
        if self.is_usage { ExitCode::from(2) } else { ExitCode::FAILURE }
    }
}
