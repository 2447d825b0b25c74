//! The request to a store of counts, and its result.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::rate_limit::client::KnownClient;
use crate::rate_limit::limit::{NamedLimit, Standing};

/// An amount that is taken from a limit.
pub(in crate::rate_limit) type Amount<'a> = (&'a Arc<NamedLimit>, u64);

/// The amounts of a request.
pub(in crate::rate_limit) type Amounts<'a> = SmallVec<[Amount<'a>; 4]>;

/// The counts of a request: amounts that its client takes from limits with distinct names.
#[derive(Debug, Clone, Copy)]
pub(in crate::rate_limit) struct Takes<'a> {
    pub(in crate::rate_limit) client: &'a KnownClient,
    pub(in crate::rate_limit) amounts: &'a [Amount<'a>],
}

/// The states of the limits of a request, in the order of its amounts. If one of them requires a
/// wait, nothing was taken.
pub(in crate::rate_limit) type Standings = SmallVec<[Standing; 4]>;

/// Whether all amounts were taken.
pub(in crate::rate_limit) fn is_taken(standings: &Standings) -> bool {
    standings.iter().all(|standing| standing.wait.is_none())
}
