//! Native accounts: their routes, and what holds when they are attacked.

mod bodies;
mod by_settings;
pub(crate) mod client;
mod deletion;
mod embedded;
mod flood;
mod guesses;
mod half_done;
mod lock_out;
mod logout;
mod mail;
mod own_users;
mod password_rules;
mod passwords;
mod redis;
mod refresh;
mod registrations;
mod revocations;
mod routes;
mod secrets;
pub(crate) mod service;
mod timing;

pub(crate) use service::{accounts, database, factory, provider};
