//! Requests to the application.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use tower::Service as _;

use svc_core::{Error, Result};

/// Sends a request and waits for the response.
pub(super) async fn answer(
    app: &Router,
    request: axum::http::Result<Request<Body>>,
) -> Result<Response<Body>> {
    let request = request
        .map_err(|error| Error::internal(format!("the principal has a bad header: {error}")))?;
    match app.clone().call(request).await {
        Ok(response) => Ok(response),
        Err(never) => match never {},
    }
}
