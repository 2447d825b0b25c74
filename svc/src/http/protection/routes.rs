//! The protection of routes other than the endpoint.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse as _;
use axum::{Json, Router};
use serde_json::json;

use super::csrf::Head;
use super::{CrossOriginLayer, Protection, add_request_id};
use crate::http::body::{self, Bounds, PendingBodies};
use svc_auth::accounts::BodyReader;
use svc_engine::request::RequestId;

/// A reader of a client's bodies, which count among the pending bodies of the service.
fn reader(pending: &Arc<PendingBodies>, address: Option<IpAddr>) -> BodyReader {
    let pending = Arc::clone(pending);
    BodyReader::new(move |body, limit, timeout| {
        let pending = Arc::clone(&pending);
        Box::pin(async move {
            let bounds = Bounds {
                limit,
                timeout,
                pending: &pending,
                address,
            };

            match body::read(body, bounds).await {
                Ok(arrived) => Ok(arrived.bytes),
                Err(refusal) => Err(refusal.status),
            }
        })
    })
}

/// Protects these routes as well. They reject with `{error, message}`, and are not shed: they have
/// their own limits.
pub(crate) fn protect(router: Router, protection: &Arc<Protection>) -> Router {
    let router = router.layer(from_fn_with_state(protection.clone(), check));
    match &protection.cross_origin {
        Some(rules) => router.layer(CrossOriginLayer(Some(rules.clone()))),
        None => router,
    }
}

async fn check(
    State(protection): State<Arc<Protection>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let id = protection.identify(&request);
    let answer = async {
        let (mut parts, body) = request.into_parts();
        let forged = protection
            .csrf
            .as_ref()
            .and_then(|csrf| csrf.check(Head::of(&parts)).err());
        let Some(forgery) = forged else {
            let address = protection
                .addresses
                .certain(&parts.headers, &parts.extensions);
            parts
                .extensions
                .insert(reader(&protection.pending_bodies, address));
            return next.run(Request::from_parts(parts, body)).await;
        };

        let refusal = json!({ "error": "csrf_protection_failed", "message": forgery.message() });

        (StatusCode::FORBIDDEN, Json(refusal)).into_response()
    };

    let mut response = RequestId::scope(id.as_ref(), pin!(answer)).await;
    add_request_id(&mut response, id);

    response
}
