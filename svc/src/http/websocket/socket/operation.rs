//! Operations on streaming transports.

use std::pin::pin;
use std::sync::Arc;

use axum::http::{StatusCode, Version};
use futures_util::FutureExt as _;

use crate::http::HttpState;
use crate::http::reply::{Form, MediaType, Refusal, status};
use svc_engine::events::hold_until_wait;
use svc_engine::graphql::{Request, Response, ResponseStream};
use svc_engine::request::{RequestId, RequestParts};

/// Starts an operation on a connection whose client is already identified.
///
/// # Errors
/// The response of an operation with a single response, or of a rejected one.
pub(super) fn start(
    service: Arc<HttpState>,
    request: Request<'static>,
    parts: RequestParts,
) -> impl Future<Output = Result<ResponseStream, Response>> + Send {
    // The operation runs in a separate task, under the identifier of this one.
    let id = RequestId::current();
    async move { RequestId::scope(id.as_ref(), pin!(logged(service, request, parts))).await }
}

async fn logged(
    service: Arc<HttpState>,
    request: Request<'static>,
    parts: RequestParts,
) -> Result<ResponseStream, Response> {
    match service.request_log.clone() {
        None => answer(service, request, parts).await,
        Some(log) => {
            log.operation("websocket", answer(service, request, parts))
                .boxed()
                .await
        }
    }
}

async fn answer(
    service: Arc<HttpState>,
    request: Request<'static>,
    parts: RequestParts,
) -> Result<ResponseStream, Response> {
    let answering = service.engine.hooks.answering();
    let started = run(&service, request, parts).await;
    if let Some(answering) = answering {
        match &started {
            Ok(_) => answering.answered(StatusCode::OK, None, 0),
            Err(response) => {
                let answer = &response.answer;

                // The status of the same operation over HTTP.
                let form = Form {
                    media: MediaType::Response,
                    draft: service.graphql_over_http,
                    is_query: false,
                    version: Version::HTTP_11,
                    is_identified: false,
                };

                answering.answered(status(answer, form), answer.code(), answer.field_errors());
            }
        }
    }

    started
}

async fn run(
    service: &HttpState,
    request: Request<'static>,
    mut parts: RequestParts,
) -> Result<ResponseStream, Response> {
    parts.renew_hook();
    service.engine.resume(&mut parts).await?;
    let address = service
        .protection
        .addresses
        .certain(&parts.headers, &parts.extensions);
    let admitted = service
        .protection
        .enter(address)
        .await
        .map_err(Refusal::into_response)?;
    let started = pin!(service.engine.subscribe(request, parts));

    hold_until_wait(admitted, started).await
}
