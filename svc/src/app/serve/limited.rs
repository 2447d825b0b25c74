//! Connections beyond the limit: probes are answered at once, and other requests when another
//! connection is closed.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::middleware::{Next, from_fn};

use super::seats::Seat;

/// The body of a rejection, in the form of the endpoint's errors.
const REFUSAL: &str = r#"{"errors":[{"message":"the service has as many connections as it can hold; try again in a moment","extensions":{"code":"SERVICE_UNAVAILABLE"}}]}"#;

/// The seat of a request's connection; present in the request's extensions if the connection is
/// beyond the limit.
#[derive(Debug, Clone)]
pub(super) struct Limited(pub(super) Arc<Seat>);

/// Wraps the application for connections beyond the limit: their requests wait up to `patience` for
/// a seat.
pub(super) fn limited(app: Router, patience: Duration) -> Router {
    app.layer(from_fn(move |request: Request, next: Next| async move {
        let seat = request.extensions().get::<Limited>().cloned();
        match seat {
            Some(Limited(seat))
                if !is_probe(request.uri().path()) && !seat.until_within(patience).await =>
            {
                refusal()
            }
            _ => next.run(request).await,
        }
    }))
}

/// Whether a path is a probe's, including the probes of an application nested in another one.
fn is_probe(path: &str) -> bool {
    path.ends_with("/health") || path.ends_with("/ready")
}

fn refusal() -> Response<Body> {
    let mut response = Response::new(Body::from(REFUSAL));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));

    // The reserve has few connections, so a rejected client must not keep one.
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));

    response
}
