//! The heap allocations that a request costs the server, against a record.
//!
//! A build with optimizations leaves out some allocations, so that only debug builds are compared.

mod allocator;
mod blog;
mod client;
mod counter;
mod measure;
mod record;
mod requests;
mod service;
mod trace;

use std::env;

use crate::client::Client;
use crate::counter::Counts;
use crate::measure::measure;
use crate::record::Record;
use crate::service::Service;

/// Set to write the counts into the record.
const BLESS: &str = "SVC_BLESS";
/// Set to the reason why counts above their records are written.
const REASON: &str = "ALLOCATIONS_REASON";

/// The end of the message about counts that differ from the record.
const HELP: &str = "\
    ALLOCATIONS_TRACE=1 cargo test --workspace --test allocations\n    \
    prints every allocation of each request with the functions that lead to it\n\
    SVC_BLESS=1 cargo test --workspace --test allocations\n    \
    writes the record; for a count above it, ALLOCATIONS_REASON=\"…\" gives the reason";

#[test]
fn requests_allocate_as_often_as_recorded() {
    let counted = requests::count_all();
    if !cfg!(debug_assertions) {
        return;
    }

    let mut record = Record::read();
    if env::var_os(BLESS).is_some() {
        let reason = env::var(REASON).ok();
        let replaced = record.replace(&counted, reason.as_deref());
        replaced.unwrap_or_else(|refused| panic!("{refused}"));
        record.write();
        return;
    }

    let differences = record.differences(&counted);
    assert!(
        differences.is_empty(),
        "the allocations of requests differ from their record:\n{}\n\n{HELP}",
        differences.join("\n")
    );
}

/// A record proves nothing if the counter misses allocations.
#[test]
fn a_resolver_with_one_more_allocation_is_counted_with_one_more() {
    let service = Service::start(blog::numbers);
    let mut client = Client::connect(service.address());
    let mut count = |field: &'static str| -> Counts {
        let request = client::post(&format!("{{ {field} }}"), &serde_json::json!({}), "");
        measure(field, service.counter(), || {
            client.send(&request);
        })
        .counts
    };

    let (plain, boxed) = (count("plain"), count("boxed"));
    assert_eq!(
        (boxed.allocations, boxed.reallocations),
        (plain.allocations + 1, plain.reallocations)
    );
}
