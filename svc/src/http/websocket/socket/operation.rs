//! Operations on streaming transports.

use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::http::HttpState;
use crate::http::reply::{MediaType, Refusal, status};
use svc_engine::engine::{Request, Response, ResponseStream};
use svc_engine::events::hold_until_wait;
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
            Ok(_) => answering.answered(axum::http::StatusCode::OK, None, 0),
            Err(response) => {
                let answer = &response.answer;
                answering.answered(
                    status(answer, MediaType::Response),
                    answer.code(),
                    answer.field_errors(),
                );
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
