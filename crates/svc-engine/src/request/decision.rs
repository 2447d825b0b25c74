//! Decisions about requests, and the data that they are based on.

use futures_util::future::{BoxFuture, Either, Ready, ready};

use svc_core::Error;
use svc_core::schema::RootLimit;

/// The decision of a hook about a request. An immediate one needs no heap allocation.
pub type Decision<'a> = Either<Ready<Result<(), Error>>, BoxFuture<'a, Result<(), Error>>>;

/// The complexity that an operation was admitted with, and the part of it that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    pub asked: u64,
    /// At most `asked`.
    pub used: u64,
}

/// The limit of a root field, and how often an operation selects the field.
#[derive(Debug, Clone, Copy)]
pub struct FieldLimit<'a> {
    pub coordinate: &'a str,
    pub limit: RootLimit,
    pub times: u64,
}

/// Returns an immediate decision.
pub fn decided<'a>(decision: Result<(), Error>) -> Decision<'a> {
    Either::Left(ready(decision))
}
