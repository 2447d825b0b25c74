//! Tests of what cannot be seen over HTTP: the arithmetic against a simple model, and memory under a flood.

mod memory;
mod model;

use std::sync::Arc;

use super::client::{Client, KnownClient};
use super::memory::MemoryStore;
use super::meter::{Meter, Standing};
use super::named_limit::NamedLimit;
use super::store::Takes;

/// The numbers of the limit itself.
const WHOLE: super::memory::Numbers = |limit| &limit.meter;

fn limit(name: &str, meter: Meter) -> Arc<NamedLimit> {
    Arc::new(NamedLimit::of(name.to_owned(), "", 0, [meter, meter]))
}

/// The standing after a client has taken an amount from one limit.
fn take(store: &MemoryStore, meter: Meter, client: &KnownClient, amount: u64, now: u64) -> Standing {
    store.take(Takes { client, amounts: &[(&limit("limit", meter), amount)] }, WHOLE, now)[0]
}

fn user(number: usize) -> KnownClient {
    Client::User(number.to_string()).into()
}
