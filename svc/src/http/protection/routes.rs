//! The protection of routes other than the endpoint.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse as _;
use axum::{Json, Router};
use serde_json::json;

use super::csrf::Head;
use super::{CrossOriginLayer, Protection, told};
use crate::http::body::{self, Bounds, PendingBodies};
use crate::request::RequestId;

/// Reads the bodies of a client, which count among the pending bodies of the service; an extension
/// of its requests.
#[derive(Debug, Clone)]
pub(crate) struct BodyReader {
    pending: Arc<PendingBodies>,
    address: Option<IpAddr>,
}

impl BodyReader {
    /// Returns the whole body, if it arrives in time.
    ///
    /// # Errors
    /// The status of the rejection: 429 and 503 if the body was given up for others.
    pub(crate) async fn read(
        &self,
        body: Body,
        limit: usize,
        timeout: Duration,
    ) -> Result<Bytes, StatusCode> {
        let bounds = Bounds {
            limit,
            timeout,
            pending: &self.pending,
            address: self.address,
        };

        match body::read(body, bounds).await {
            Ok(arrived) => Ok(arrived.bytes),
            Err(refusal) => Err(refusal.status),
        }
    }
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
            parts.extensions.insert(BodyReader {
                pending: protection.pending_bodies.clone(),
                address,
            });
            return next.run(Request::from_parts(parts, body)).await;
        };

        let refusal = json!({ "error": "csrf_protection_failed", "message": forgery.message() });

        (StatusCode::FORBIDDEN, Json(refusal)).into_response()
    };

    told(RequestId::scope(id.as_ref(), pin!(answer)).await, id)
}
