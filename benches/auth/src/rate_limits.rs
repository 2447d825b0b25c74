//! The ways of asking with rate limits, and without.

use crate::authentication::request;
use crate::variant::{Limit, Most, Variant};

/// Every variant, in the order of the table.
pub(crate) fn all() -> Vec<Variant> {
    let on = [("SVC_RATE_LIMIT_ENABLED", "true")];
    let around = [&on[..], &[("BENCH_RATE_LIMITS", "around")]].concat();
    let standard = [&on[..], &[("SVC_RATE_LIMIT_STANDARD_HEADERS", "true")]].concat();
    let others = |number| {
        request(&format!(
            "X-Forwarded-For: 198.51.{}.{}\r\n",
            number / 250,
            number % 250
        ))
    };
    let variant = |name, settings, requests, limit| Variant {
        name,
        settings,
        requests,
        limit,
    };
    let most = Limit {
        beside: 0,
        most: Most::Time(0.03),
    };
    vec![
        variant("no rate limits", Vec::new(), vec![request("")], None),
        variant("four counts", on.to_vec(), vec![request("")], Some(most)),
        variant(
            "four counts, 1,000 clients in turn",
            on.to_vec(),
            (0..1_000).map(others).collect(),
            None,
        ),
        variant(
            "four counts, by a layer around the router",
            around,
            vec![request("")],
            None,
        ),
        variant(
            "four counts, the draft's headers",
            standard,
            vec![request("")],
            None,
        ),
    ]
}
