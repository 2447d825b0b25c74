//! The question to a store of counts, and its answer.

use std::sync::Arc;

use smallvec::SmallVec;

use super::client::KnownClient;
use super::meter::Standing;
use super::named_limit::NamedLimit;

/// An amount that is taken from a limit.
pub(super) type Amount<'a> = (&'a Arc<NamedLimit>, u64);

/// The amounts of a request.
pub(super) type Amounts<'a> = SmallVec<[Amount<'a>; 4]>;

/// The counts of a request: amounts that its client takes from limits, each of another name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Takes<'a> {
    pub(super) client: &'a KnownClient,
    pub(super) amounts: &'a [Amount<'a>],
}

/// The standings of the counts of a request, in their order. Where one of them has to wait, nothing is taken.
pub(super) type Standings = SmallVec<[Standing; 4]>;

/// Whether all of them were taken.
pub(super) fn is_taken(standings: &Standings) -> bool {
    standings.iter().all(|standing| standing.wait.is_none())
}
