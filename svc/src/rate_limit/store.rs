//! The request to a store of counts, and its result.

use std::sync::Arc;

use smallvec::SmallVec;

use super::client::KnownClient;
use super::meter::Standing;
use super::named_limit::NamedLimit;

/// An amount that is taken from a limit.
pub(super) type Amount<'a> = (&'a Arc<NamedLimit>, u64);

/// The amounts of a request.
pub(super) type Amounts<'a> = SmallVec<[Amount<'a>; 4]>;

/// The counts of a request: amounts that its client takes from limits with distinct names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Takes<'a> {
    pub(super) client: &'a KnownClient,
    pub(super) amounts: &'a [Amount<'a>],
}

/// The states of the limits of a request, in the order of its amounts. If one of them requires a
/// wait, nothing was taken.
pub(super) type Standings = SmallVec<[Standing; 4]>;

/// Whether all amounts were taken.
pub(super) fn is_taken(standings: &Standings) -> bool {
    standings.iter().all(|standing| standing.wait.is_none())
}
