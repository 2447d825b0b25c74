//! The access to a plan: its gated and guarded fields, its denials, and its rate limits.

mod checked;
mod denial;
mod gates;
mod rate_limits;
mod reachable_types;

pub(crate) use checked::Checked;
pub(crate) use denial::{Denial, Denials};
pub(super) use gates::ArgumentGates;
pub(crate) use gates::Touch;
