//! Isolation: two workspaces, each with an owner and a member, who try to reach what is the
//! other's.

#![expect(clippy::unwrap_used, reason = "tests")]

mod isolation;
mod office;
