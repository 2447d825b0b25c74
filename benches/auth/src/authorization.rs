//! The ways of asking with an authorizer, and without.

use serde_json::{Value, json};
use testbed::Request;

use crate::variant::{Limit, Most, Variant};

const FIELDS: &str = "id identifier name email bio city score createdAt";
/// `md5('user1')` of the bench database, as a UUID.
const FIRST_USER: &str = "24c9e15e-52af-c47c-225b-757e7bee1f9d";

/// Every variant, in the order of the table.
pub(crate) fn all() -> Vec<Variant> {
    let by = |authorizer| vec![("BENCH_AUTHORIZER", authorizer)];
    let variant = |name, settings, request, limit| Variant {
        name,
        settings,
        requests: vec![request],
        limit,
    };
    let at_most = |beside, most| Some(Limit { beside, most });
    let part = |beside, most| at_most(beside, Most::Time(most));
    let one = || {
        request(
            &format!("query Q1($id: UUID!) {{ user(id: $id) {{ {FIELDS} }} }}"),
            &json!({ "id": FIRST_USER }),
        )
    };
    let page = |arguments: &str| {
        request(
            &format!("{{ users(limit: 100{arguments}) {{ {FIELDS} }} }}"),
            &json!({}),
        )
    };
    let all = |field: &str| {
        request(
            &format!("{{ {field}(limit: 1000) {{ {FIELDS} }} }}"),
            &json!({}),
        )
    };
    vec![
        variant("Q1", Vec::new(), one(), None),
        variant("Q1, allowed at once", by("allows"), one(), part(0, 0.03)),
        variant(
            "Q1, allowed by a kept decision",
            by("cached"),
            one(),
            at_most(0, Most::Server(1.0)),
        ),
        variant(
            "Q3, filtered by hand",
            Vec::new(),
            page(", where: {score: {gt: 100}}"),
            None,
        ),
        variant(
            "Q3, filtered by the authorizer",
            by("filters"),
            page(""),
            part(3, 0.05),
        ),
        variant("1,000 rows, allowed", by("allows"), all("users"), None),
        variant(
            "1,000 rows with three gated fields, allowed",
            by("allows"),
            all("gatedUsers"),
            part(5, 0.03),
        ),
    ]
}

fn request(document: &str, variables: &Value) -> Request {
    Request::new(document, variables)
}
