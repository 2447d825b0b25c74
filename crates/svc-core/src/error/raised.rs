//! The places where errors are raised.

use std::borrow::Cow;
use std::panic::Location;

#[cfg(feature = "sqlx")]
use super::stack::{self, Stack};

/// The place where an error was raised, and its type.
#[derive(Debug, Clone)]
#[cfg_attr(
    not(feature = "sqlx"),
    allow(dead_code, reason = "errors are not tracked")
)]
pub struct ErrorLocation {
    pub kind: Cow<'static, str>,
    pub file: Cow<'static, str>,
    pub line: u32,
    /// `None` if stacks are not enabled, and for most of many errors at once.
    #[cfg(feature = "sqlx")]
    pub stack: Option<Stack>,
}

impl ErrorLocation {
    /// The place of the caller, for an error of this type.
    #[track_caller]
    pub fn here(kind: impl Into<Cow<'static, str>>) -> Self {
        let location = Location::caller();
        Self {
            kind: kind.into(),
            file: location.file().into(),
            line: location.line(),
            #[cfg(feature = "sqlx")]
            stack: stack::take(),
        }
    }

    /// Like `here`, without a stack: an error that clients see needs no investigation, and many of
    /// them would leave no stacks for others.
    #[track_caller]
    pub(crate) fn here_in_sight(kind: impl Into<Cow<'static, str>>) -> Self {
        let location = Location::caller();
        Self {
            kind: kind.into(),
            file: location.file().into(),
            line: location.line(),
            #[cfg(feature = "sqlx")]
            stack: None,
        }
    }

    /// Captures the stack, unless there is one.
    #[cfg(feature = "sqlx")]
    pub(crate) fn take_stack(&mut self) {
        if self.stack.is_none() {
            self.stack = stack::take();
        }
    }

    /// An error of this type without a place in the code, such as an error in stored data.
    pub fn nowhere(kind: &'static str) -> Self {
        Self {
            kind: kind.into(),
            file: Cow::Borrowed(""),
            line: 0,
            #[cfg(feature = "sqlx")]
            stack: None,
        }
    }
}
