//! Decisions about requests, and the data that they are based on.

use futures_util::future::{BoxFuture, Either, Ready, ready};

use crate::Error;
use crate::schema::RootLimit;

/// The decision of a hook about a request. An immediate one needs no heap allocation.
pub(crate) type Decision<'a> = Either<Ready<Result<(), Error>>, BoxFuture<'a, Result<(), Error>>>;

/// The complexity that an operation was admitted with, and the part of it that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) asked: u64,
    /// At most `asked`.
    pub(crate) used: u64,
}

/// The limit of a root field, and how often an operation selects the field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldLimit<'a> {
    pub(crate) coordinate: &'a str,
    pub(crate) limit: RootLimit,
    pub(crate) times: u64,
}

/// Returns an immediate decision.
pub(crate) fn decided<'a>(decision: Result<(), Error>) -> Decision<'a> {
    Either::Left(ready(decision))
}
