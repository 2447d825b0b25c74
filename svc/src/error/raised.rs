//! The places where errors are raised.

use std::borrow::Cow;
use std::panic::Location;

#[cfg(feature = "sqlx")]
use super::stack::{self, Stack};

/// The place where an error was raised, and its type.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "sqlx"), expect(dead_code, reason = "errors are not tracked"))]
pub(crate) struct Raised {
    pub(crate) kind: Cow<'static, str>,
    pub(crate) file: Cow<'static, str>,
    pub(crate) line: u32,
    /// `None` where nobody wants stacks, and for most of many errors at once.
    #[cfg(feature = "sqlx")]
    pub(crate) stack: Option<Stack>,
}

impl Raised {
    /// An error of a type that is raised by the caller.
    #[track_caller]
    pub(crate) fn here(kind: impl Into<Cow<'static, str>>) -> Self {
        let location = Location::caller();
        Self {
            kind: kind.into(),
            file: location.file().into(),
            line: location.line(),
            #[cfg(feature = "sqlx")]
            stack: stack::take(),
        }
    }

    /// The same without a stack: an error that clients see is nobody's to look into, and many of them would leave no stacks
    /// for others.
    #[track_caller]
    pub(crate) fn here_in_sight(kind: impl Into<Cow<'static, str>>) -> Self {
        let location = Location::caller();
        Self { file: location.file().into(), line: location.line(), kind: kind.into(), ..Self::nowhere("") }
    }

    /// Takes the stack, unless there is one.
    #[cfg(feature = "sqlx")]
    pub(crate) fn take_stack(&mut self) {
        if self.stack.is_none() {
            self.stack = stack::take();
        }
    }

    /// An error of a type that no code has raised, such as of what is stored.
    pub(crate) fn nowhere(kind: &'static str) -> Self {
        Self {
            kind: kind.into(),
            file: Cow::Borrowed(""),
            line: 0,
            #[cfg(feature = "sqlx")]
            stack: None,
        }
    }
}
