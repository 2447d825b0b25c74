//! Notes in the log on the environment's variables: those unknown, overridden or without effect.

mod notes;
mod unused;

pub(super) use unused::note_unused_parts;
