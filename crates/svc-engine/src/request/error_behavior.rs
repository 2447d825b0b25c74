//! The error behavior of a request (<https://github.com/graphql/graphql-spec/pull/1236>).

use std::str::FromStr;

/// The effect of an error on the values around it: `onError` of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ErrorBehavior {
    /// `NULL`: the failed value is null, even if its type is non-null.
    Null,
    /// `PROPAGATE`: the failed value is null, or else the nearest value around it that may be null.
    #[default]
    Propagate,
    /// `HALT`: the first error ends the execution, and `data` is null.
    Halt,
}

impl ErrorBehavior {
    /// Whether an error becomes a null at a position, rather than at a position around it.
    pub(crate) fn ends_at(self, is_nullable: bool) -> bool {
        match self {
            Self::Null => true,
            Self::Propagate => is_nullable,
            Self::Halt => false,
        }
    }
}

impl FromStr for ErrorBehavior {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "NULL" => Ok(Self::Null),
            "PROPAGATE" => Ok(Self::Propagate),
            "HALT" => Ok(Self::Halt),
            _ => Err(()),
        }
    }
}
