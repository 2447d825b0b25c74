//! Tests of behavior that is not visible over HTTP: the arithmetic against a simple model, and
//! memory under a flood.

mod full_store;
mod memory;
mod model;

use std::sync::Arc;

use super::client::{Client, KnownClient};
use super::limit::{Meter, NamedLimit, Standing};
use super::store::{MemoryStore, Numbers, Takes};

/// The numbers of the whole limit.
const WHOLE: Numbers = |limit| &limit.meter;

fn limit(name: &str, meter: Meter) -> Arc<NamedLimit> {
    Arc::new(NamedLimit::of(name.to_owned(), "", 0, [meter, meter]))
}

/// Takes an amount from one limit and returns the state of the limit.
fn take(
    store: &MemoryStore,
    meter: Meter,
    client: &KnownClient,
    amount: u64,
    now: u64,
) -> Standing {
    store.take(
        Takes {
            client,
            amounts: &[(&limit("limit", meter), amount)],
        },
        WHOLE,
        now,
    )[0]
}

fn user(number: usize) -> KnownClient {
    Client::User(number.to_string()).into()
}
