//! The shop: what its front end asks, orders that race for the last pieces, and the real program.

#![expect(clippy::unwrap_used, reason = "tests")]

mod front_end;
mod live;
mod program;
mod stock;
mod who;
