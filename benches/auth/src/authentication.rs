//! The ways of asking for one user: with and without a token, and with values of the user for
//! PostgreSQL.

use serde_json::json;
use testbed::Request;

use crate::token::{AUDIENCE, ISSUER, PUBLIC_KEY, SECRET, hs256, rs256};
use crate::variant::{Limit, Most, Variant};

/// The position of the variant without authentication.
const NONE: usize = 0;
/// The position of the variant with variables from headers.
const HEADERS: usize = 4;

const DOCUMENT: &str =
    "query Q1($id: UUID!) { user(id: $id) { id identifier name email bio city score createdAt } }";
/// `md5('user1')` of the bench database, as a UUID.
const FIRST_USER: &str = "24c9e15e-52af-c47c-225b-757e7bee1f9d";
/// The headers of a gateway. The variant with values of the user gets them too, and does not look.
const GATEWAY: &str = "x-user-id: 24c9e15e-52af-c47c-225b-757e7bee1f9d\r\nx-tenant-id: acme\r\n";
/// Values of the user may cost what headers do, within what a repetition differs by.
const EVEN: f64 = 0.01;

const COMMON: [(&str, &str); 3] = [
    ("SVC_AUTH_PROVIDER", "custom"),
    ("SVC_AUTH_ISSUER", ISSUER),
    ("SVC_AUTH_AUDIENCE", AUDIENCE),
];

/// Every variant, in the order of the table.
pub(crate) fn all() -> Vec<Variant> {
    let rs256_settings = [
        &COMMON[..],
        &[
            ("SVC_AUTH_ALGORITHM", "RS256"),
            ("SVC_AUTH_PUBLIC_KEY", PUBLIC_KEY),
        ],
    ]
    .concat();
    let variant = |name, settings, requests, limit| Variant {
        name,
        settings,
        requests,
        limit,
    };
    let at_most = |beside, most| {
        Some(Limit {
            beside,
            most: Most::Time(most),
        })
    };
    let gateway = || vec![request(&format!("{}{GATEWAY}", bearer(&hs256(0))))];
    vec![
        variant("no authentication", Vec::new(), vec![request("")], None),
        variant(
            "HS256, one token",
            hs256_settings(&[]),
            vec![request(&bearer(&hs256(0)))],
            at_most(NONE, 0.03),
        ),
        variant(
            "RS256, one token",
            rs256_settings,
            vec![request(&bearer(&rs256()))],
            at_most(NONE, 0.03),
        ),
        variant(
            "HS256, 1,000 tokens in turn",
            hs256_settings(&[]),
            (0..1_000)
                .map(|number| request(&bearer(&hs256(number))))
                .collect(),
            at_most(NONE, 0.08),
        ),
        variant(
            "HS256, two variables from headers",
            hs256_settings(&[("BENCH_VARIABLES", "headers")]),
            gateway(),
            None,
        ),
        variant(
            "HS256, two variables from the user",
            hs256_settings(&[("BENCH_VARIABLES", "user")]),
            gateway(),
            at_most(HEADERS, EVEN),
        ),
    ]
}

/// The settings of a server that takes tokens by HS256, and more.
pub(crate) fn hs256_settings(
    more: &[(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    [&COMMON[..], &[("SVC_AUTH_SECRET_KEY", SECRET)], more].concat()
}

/// The header of a token.
pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// The request for one user, with more headers.
pub(crate) fn request(headers: &str) -> Request {
    Request::with_headers(DOCUMENT, &json!({ "id": FIRST_USER }), headers)
}
