//! The ways of asking a server that counts, traces and logs what it does, and one that does not.

use serde_json::json;
use testbed::Request;

use crate::authentication::{bearer, hs256_settings, request};
use crate::collector;
use crate::token::hs256;
use crate::variant::{Limit, Most, Variant};

/// A hundred rows.
const PAGE: &str = "{ users(limit: 100) { id identifier name email bio city score createdAt } }";

/// Every variant, in the order of the table.
pub(crate) fn all() -> Vec<Variant> {
    let variant = |name, settings, request, limit| Variant {
        name,
        settings,
        requests: vec![request],
        limit,
    };
    let most = |beside, most| {
        Some(Limit {
            beside,
            most: Most::Time(most),
        })
    };
    let page = || Request::new(PAGE, &json!({}));
    let metrics = || vec![("SVC_METRICS_ENABLED", "true")];
    let traces_of = |share| {
        vec![
            ("OTEL_EXPORTER_OTLP_ENDPOINT", collector::ENDPOINT),
            ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", share),
        ]
    };
    let traces = || traces_of("0.01");
    let log = || {
        vec![
            ("SVC_LOG_REQUESTS", "true"),
            ("RUST_LOG", "error,svc::request=info"),
        ]
    };
    let guarded = [
        ("BENCH_AUTHORIZER", "allows"),
        ("SVC_RATE_LIMIT_ENABLED", "true"),
    ];
    let everything = || [&hs256_settings(&guarded)[..], &metrics(), &traces()].concat();
    vec![
        variant("Q1, nothing", Vec::new(), request(""), None),
        variant("Q1, metrics", metrics(), request(""), most(0, 0.03)),
        variant(
            "Q1, traces of one in a hundred",
            traces(),
            request(""),
            most(0, 0.03),
        ),
        variant("Q1, all traces", traces_of("1"), request(""), None),
        variant("Q1, request log", log(), request(""), most(0, 0.05)),
        variant(
            "Q1, a token, an authorizer, rate limits, metrics and traces",
            everything(),
            request(&bearer(&hs256(0))),
            most(0, 0.12),
        ),
        variant("Q3, nothing", Vec::new(), page(), None),
        variant("Q3, metrics", metrics(), page(), most(6, 0.03)),
        variant(
            "Q3, traces of one in a hundred",
            traces(),
            page(),
            most(6, 0.03),
        ),
        variant("Q3, request log", log(), page(), most(6, 0.05)),
    ]
}
