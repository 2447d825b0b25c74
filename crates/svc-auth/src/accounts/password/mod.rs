//! Passwords: their normalization, rules and hashes.

mod breached;
mod common;
mod forms;
mod hash;
mod hasher;
mod parameters;
mod queue;
mod rules;
mod text;

pub use breached::BreachedPasswords;
pub(super) use breached::DynBreached;
pub use hash::PasswordHash;
pub(super) use hash::Salt;
pub(super) use hasher::PasswordHasher;
pub use parameters::PasswordHashing;
pub(super) use queue::{Busy, Turn};
pub use rules::PasswordRules;
pub(super) use rules::{Weakness, check_context_words, check_names};
pub(super) use text::Password;
