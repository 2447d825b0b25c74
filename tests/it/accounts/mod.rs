//! Native accounts: their routes, and what holds when they are attacked.

mod by_settings;
mod client;
mod deletion;
mod embedded;
mod flood;
mod guesses;
mod logout;
mod mail;
mod passwords;
mod redis;
mod refresh;
mod routes;
mod secrets;
mod service;
mod timing;

pub(crate) use service::{accounts, database, factory, provider};
