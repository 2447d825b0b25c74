//! `GET /graphql`: a socket, a stream, or a single response.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;

use super::panic_guard::guarded;
use super::reply::MediaType;
use super::streamed::StreamType;
use super::{HttpState, endpoint, streamed};
use svc_engine::request::Hooked;

/// Handles a request with the transport that the client requests.
pub(super) async fn get(State(service): State<Arc<HttpState>>, request: Request) -> Response<Body> {
    #[cfg(feature = "websocket")]
    if super::websocket::is_wanted(request.headers()) {
        return super::websocket::open(&service, request);
    }

    let Some(wanted) = StreamType::wanted(request.headers()) else {
        return endpoint::get(State(service), request).await;
    };

    let media = MediaType::negotiate(request.headers());
    let hook = Hooked::of(request.extensions());
    let answer = |request, address| {
        let streaming = Box::pin(streamed::answer(
            &service, request, hook, wanted, media, address,
        ));
        guarded(media.unwrap_or(MediaType::Json), streaming)
    };

    service.protection.around(request, media, answer).await
}
