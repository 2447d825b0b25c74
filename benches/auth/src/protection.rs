//! The ways of asking with protection, and without.

use crate::authentication::request;
use crate::variant::{Limit, Most, Variant};

/// Every variant, in the order of the table.
pub(crate) fn all() -> Vec<Variant> {
    let off = vec![
        ("SVC_CSRF_PROTECTION", "false"),
        ("SVC_REQUEST_IDS", "false"),
        ("SVC_LOAD_SHEDDING", "false"),
    ];
    let origins = vec![("SVC_CORS_ORIGINS", "https://app.example.com")];
    let from_page = "Origin: https://app.example.com\r\nSec-Fetch-Site: same-site\r\n";
    let variant = |name, settings, headers, limit| Variant {
        name,
        settings,
        requests: vec![request(headers)],
        limit,
    };
    let most = Some(Limit {
        beside: 0,
        most: Most::Time(0.02),
    });
    vec![
        variant("no protection", off, "", None),
        variant(
            "forged requests, identifiers, shedding",
            Vec::new(),
            "",
            most,
        ),
        variant(
            "the same, and an identifier of the client's",
            Vec::new(),
            "X-Request-Id: 4bf92f3577b34da6\r\n",
            None,
        ),
        variant(
            "the same as the second, and origins that may read",
            origins.clone(),
            "",
            most,
        ),
        variant(
            "the same, asked from such an origin",
            origins,
            from_page,
            None,
        ),
    ]
}
