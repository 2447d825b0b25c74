//! Incremental responses.

use axum::Router;
use axum::body::Body;
use axum::http::header;
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::call::answer;
use super::case::Principal;
use svc_core::Result;

/// A format of incremental responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Server-sent events.
    Events,
    /// The parts of `multipart/mixed`.
    Multipart,
}

impl Format {
    fn accept(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Multipart => "multipart/mixed;boundary=graphql;subscriptionSpec=1.0",
        }
    }

    /// Returns the first response in the received text, if it is complete.
    fn first(self, text: &str) -> Option<Value> {
        match self {
            Self::Events => whole(text, "\n\n").find_map(event),
            Self::Multipart => whole(text, "\r\n--graphql").find_map(part),
        }
    }
}

/// Sends a body and returns the first response, or the response of a request without a stream.
pub(super) async fn first(
    app: &Router,
    principal: &Principal,
    body: &Value,
    format: Format,
) -> Result<Value> {
    let request = principal
        .request("POST", "/graphql")
        .header(header::CONTENT_TYPE, "application/json");
    let request = request
        .header(header::ACCEPT, format.accept())
        .body(Body::from(body.to_string()));
    let mut body = answer(app, request).await?.into_body();
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        text.extend_from_slice(&frame?.into_data().unwrap_or_default());
        if let Some(first) = format.first(&String::from_utf8_lossy(&text)) {
            return Ok(first);
        }
    }

    Ok(serde_json::from_slice(&text).unwrap_or_default())
}

/// Returns the pieces of a text that end with a delimiter.
fn whole<'t>(text: &'t str, delimiter: &'t str) -> impl Iterator<Item = &'t str> {
    text.split_inclusive(delimiter)
        .filter_map(move |piece| piece.strip_suffix(delimiter))
}

/// Returns the response in an event; `None` if there is none, as in a keep-alive.
fn event(event: &str) -> Option<Value> {
    let lines: Vec<_> = event
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .collect();
    serde_json::from_str(&lines.join("\n")).ok()
}

/// Returns the response in a part. Errors that end the stream are next to a payload that is null.
fn part(part: &str) -> Option<Value> {
    let (_, json) = part.split_once("\r\n\r\n")?;
    let mut part: Value = serde_json::from_str(json).ok()?;
    match part.get_mut("payload")? {
        Value::Null => Some(part),
        payload => Some(payload.take()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_response_is_found_after_heartbeats() {
        let answer = json!({"data": {"a": 1}});
        assert_eq!(
            Format::Events.first(":\n\n:\n\nevent: next\ndata: {\"data\":\ndata: {\"a\":1}}\n\n"),
            Some(answer.clone())
        );
        assert_eq!(
            Format::Events.first(":\n\nevent: next\ndata: {\"data\":{\"a\":1}}\n"),
            None
        );
        let part =
            |json: &str| format!("\r\ncontent-type: application/json\r\n\r\n{json}\r\n--graphql");
        let open = format!("\r\n--graphql{}", part("{}"));
        assert_eq!(Format::Multipart.first(&open), None);
        let next = part(r#"{"payload":{"data":{"a":1}}}"#);

        assert_eq!(
            Format::Multipart.first(&format!("{open}{next}")),
            Some(answer)
        );
    }
}
