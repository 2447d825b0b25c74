//! The ways to an answer that is kept, beside a route that does nothing.

use serde_json::json;
use testbed::Request;

use crate::authentication::{bearer, request};
use crate::token::{AUDIENCE, ISSUER, SECRET, hs256};
use crate::variant::{Limit, Most, Variant};

const DOCUMENT: &str = "query Q1($id: UUID!) { keptUser(id: $id) { id identifier name email bio city score createdAt } }";
/// `md5('user1')` of the bench database, as a UUID.
const FIRST_USER: &str = "24c9e15e-52af-c47c-225b-757e7bee1f9d";

/// Every variant, in the order of the table.
pub(crate) fn all() -> Vec<Variant> {
    let settings = vec![("SVC_RESPONSE_CACHE", "true"), ("BENCH_PING", "true")];
    let authentication = [
        ("SVC_AUTH_PROVIDER", "custom"),
        ("SVC_AUTH_ISSUER", ISSUER),
        ("SVC_AUTH_AUDIENCE", AUDIENCE),
        ("SVC_AUTH_SECRET_KEY", SECRET),
    ];
    let kept =
        |headers: &str| Request::with_headers(DOCUMENT, &json!({ "id": FIRST_USER }), headers);
    let with_user = [&settings[..], &authentication].concat();
    let variant = |name, settings: &[_], request, limit| Variant {
        name,
        settings: settings.to_vec(),
        requests: vec![request],
        limit,
    };
    let most = Some(Limit {
        beside: 0,
        most: Most::Server(15.0),
    });
    vec![
        variant(
            "a route of axum that does nothing",
            &settings,
            Request::get("/ping"),
            None,
        ),
        variant("Q1, kept", &settings, kept(""), most),
        variant(
            "Q1, kept for a user with a token",
            &with_user,
            kept(&bearer(&hs256(0))),
            None,
        ),
        variant("Q1, not kept", &settings, request(""), None),
    ]
}
