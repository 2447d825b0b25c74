//! GraphiQL in development, from assets inside the crate: the page loads nothing from other hosts.
//!
//! The assets are built by `xtask/graphiql` and shipped compressed; every browser accepts gzip.

mod example_query;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::get;
use uuid::Uuid;

use super::HttpState;
use super::reply::{PRIVATE, VARY};
use example_query::example_query;
use svc_core::schema::Model;

const PAGE: &str = include_str!("../../../assets/graphiql/index.html");

/// Name, media type and bytes of each asset.
const ASSETS: [(&str, &str, &[u8]); 3] = [
    (
        "graphiql.js",
        "text/javascript; charset=utf-8",
        include_bytes!("../../../assets/graphiql/graphiql.js.gz"),
    ),
    (
        "graphiql.css",
        "text/css; charset=utf-8",
        include_bytes!("../../../assets/graphiql/graphiql.css.gz"),
    ),
    (
        "worker.js",
        "text/javascript; charset=utf-8",
        include_bytes!("../../../assets/graphiql/worker.js.gz"),
    ),
];

/// The routes of the assets.
pub(super) fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/graphql/assets/{name}", get(asset))
}

/// Returns the page; its URLs are relative, so that it works below any prefix.
pub(super) fn page(model: &Model) -> Response<Body> {
    let nonce = Uuid::new_v4().simple().to_string();
    let html = PAGE
        .replace("{{nonce}}", &nonce)
        .replace("{{assets}}", "graphql/assets")
        .replace("{{endpoint}}", "graphql")
        // Names and digits with braces around them: nothing that would end an attribute.
        .replace("{{question}}", &example_query(model));

    // Everything comes from this host and carries the nonce; the editor also writes `style`
    // attributes.
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; \
         style-src-attr 'unsafe-inline'; img-src data:; font-src data:; connect-src 'self'; worker-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );

    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        // For browsers without support for `frame-ancestors`.
        (header::X_FRAME_OPTIONS, "DENY".to_owned()),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin".to_owned(),
        ),
    ];

    let caching = [(header::CACHE_CONTROL, PRIVATE), (header::VARY, VARY)];

    (headers, caching, html).into_response()
}

async fn asset(Path(name): Path<String>) -> Response<Body> {
    let Some((_, media_type, bytes)) = ASSETS.iter().find(|(known, _, _)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };

    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_ENCODING, HeaderValue::from_static("gzip")),
        // The names carry no version: a script of an earlier release in a browser's cache would not
        // fit the page.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
    ];

    (headers, *bytes).into_response()
}
