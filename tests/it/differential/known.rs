//! The disagreements that remain, each with its reason.

use super::compare::{Outcome, Request, Verdict};

/// A disagreement that is known.
pub(super) struct Known {
    /// Why it remains.
    pub(super) reason: &'static str,
    pub(super) is: fn(&Request, &Outcome, &Outcome) -> bool,
}

/// All of them; each has to disagree still.
pub(super) const KNOWN: &[Known] = &[];

/// Whether svc refuses what the reference takes, or the other way round.
#[expect(dead_code, reason = "wip")]
fn verdicts(ours: &Outcome, theirs: &Outcome) -> (Verdict, Verdict) {
    (ours.verdict, theirs.verdict)
}
