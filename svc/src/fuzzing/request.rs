//! Requests: from bytes to a response, without a network.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

use super::service::{self, Service};

/// The error of serde_json when JSON is nested too deeply.
const DEEPEST: &str = "recursion limit exceeded";

/// Sends a request: a line with the value of `Content-Type`, and the body; or a line with `GET`, a
/// space and the query string. It is sent twice: the second time its document is cached, which must
/// not change the response.
pub fn request(bytes: &[u8]) {
    let (line, body) = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[][..]),
    };

    service::with(|service| {
        let Some(first) = answer(service, line, body) else {
            return;
        };
        check(first.0, &first.1);
        assert_eq!(
            answer(service, line, body),
            Some(first),
            "the second answer is another"
        );
    });
}

/// Returns the status and the body of the response; `None` if the bytes are not an HTTP request.
fn answer(service: &Service, line: &[u8], body: &[u8]) -> Option<(StatusCode, Bytes)> {
    let request = match line.strip_prefix(b"GET ") {
        Some(query) => {
            let uri = [b"/graphql?", query].concat();
            Request::get(uri.as_slice()).body(Body::empty())
        }
        None => {
            let request = Request::post("/graphql").header(header::CONTENT_TYPE, line);
            request.body(Body::from(body.to_vec()))
        }
    };

    let request = request.ok()?;
    Some(service.runtime.block_on(async {
        let response = service
            .router
            .clone()
            .oneshot(request)
            .await
            .unwrap_or_else(|never| match never {});

        let status = response.status();
        (
            status,
            response
                .into_body()
                .collect()
                .await
                .expect("a body")
                .to_bytes(),
        )
    }))
}

/// Checks that a response is a GraphQL response, and that no internal error has occurred.
fn check(status: StatusCode, body: &[u8]) {
    // An operation that needs the unreachable database responds with 503.
    assert!(
        status.as_u16() < 500 || status == StatusCode::SERVICE_UNAVAILABLE,
        "{status}"
    );

    match serde_json::from_slice(body) {
        Ok(Value::Array(answers)) => answers.iter().for_each(check_answer),
        Ok(answer) => check_answer(&answer),
        Err(error) => assert!(error.to_string().starts_with(DEEPEST), "{error}"),
    }
}

fn check_answer(answer: &Value) {
    let errors = answer
        .get("errors")
        .map(|errors| errors.as_array().expect("a list of errors"));
    assert!(
        answer.get("data").is_some() || errors.is_some(),
        "neither data nor errors: {answer}"
    );
    let Some(errors) = errors else { return };
    assert!(!errors.is_empty(), "no errors in the list: {answer}");

    for error in errors {
        assert!(error["message"].is_string(), "no message: {answer}");
        assert_ne!(
            error["extensions"]["code"], "INTERNAL_SERVER_ERROR",
            "{answer}"
        );
    }
}
