//! Several requests in one body, each answered as if it had arrived alone.

use futures_util::future::join_all;

use crate::http::reply::Refusal;
use svc_engine::graphql::{Engine, Request, Response, counted_refusal};
use svc_engine::request::RequestParts;
use svc_telemetry::request_log::in_batch;

/// Executes all requests of a batch concurrently, and returns their responses in order.
pub(super) async fn run(
    engine: &Engine,
    requests: Vec<Result<Request<'static>, Refusal>>,
    mut parts: RequestParts,
) -> Response {
    // They count as one request in the queue for the database.
    parts.share = Some(engine.app.database.share());
    let answers = requests.into_iter().enumerate().map(|(index, request)| {
        let parts = parts.of_operation();
        in_batch(async move {
            // The hooks were already called for the first, with the body.
            if index > 0
                && let Err(refused) = engine.hooks.before_next(&parts).await
            {
                return counted_refusal(refused);
            }
            match request {
                Ok(request) => engine.run(request, parts).await,
                Err(refusal) => refusal.into_response(),
            }
        })
    });

    joined(&join_all(answers).await)
}

/// Joins the responses into one body. They have one status, because each has its own errors.
fn joined(answers: &[Response]) -> Response {
    let mut body = Vec::with_capacity(
        answers
            .iter()
            .map(|answer| answer.body.len() + 1)
            .sum::<usize>()
            + 1,
    );

    for answer in answers {
        body.push(if body.is_empty() { b'[' } else { b',' });
        body.extend_from_slice(&answer.body);
    }

    body.push(b']');
    let failed = |answer: &Response| {
        answer.answer.field_errors() + usize::from(answer.answer.code().is_some())
    };

    Response::of_batch(answers.iter().map(failed).sum(), body)
}
