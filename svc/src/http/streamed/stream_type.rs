//! The media types of streamed responses.

use axum::http::{HeaderMap, header};

use crate::http::reply::negotiate::{Quality, quality, ranges};

/// A media type whose body is a stream of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum StreamType {
    /// `text/event-stream`: distinct connections of
    /// [graphql-sse](https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md).
    EventStream,
    /// `multipart/mixed` with `subscriptionSpec=1.0`, the type of Apollo's clients for
    /// [subscriptions over
    /// HTTP](https://www.apollographql.com/docs/router/executing-operations/subscription-multipart-protocol).
    Multipart,
}

impl StreamType {
    /// Returns the type that `Accept` names, or prefers of both; a range such as `*/*` names none.
    pub(in crate::http) fn wanted(headers: &HeaderMap) -> Option<Self> {
        let names = |value: &axum::http::HeaderValue| {
            let finds =
                |name: &str| memchr::memmem::find(value.as_bytes(), name.as_bytes()).is_some();
            // None of the names is shorter.
            value.len() >= "text/event-stream".len()
                && (finds("event-stream") || finds("subscriptionSpec"))
        };

        if !headers.get_all(header::ACCEPT).iter().any(names) {
            return None;
        }

        let events = quality(headers, "text/event-stream").filter(|found| found.specificity == 2);
        let parts = ranges(headers).filter(|(_, range)| is_multipart(range));
        let parts = parts
            .filter_map(|(position, range)| Quality::of(range, position, 2))
            .next();
        let best = [(events, Self::EventStream), (parts, Self::Multipart)].into_iter();
        let best =
            best.filter_map(|(found, kind)| Some((found.filter(|found| found.weight > 0)?, kind)));

        best.max_by_key(|(found, _)| (found.weight, std::cmp::Reverse(found.position)))
            .map(|(_, kind)| kind)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::EventStream => "text/event-stream; charset=utf-8",
            Self::Multipart => "multipart/mixed;boundary=\"graphql\";subscriptionSpec=\"1.0\"",
        }
    }

    /// The bytes before the first response, so that clients and proxies see that the stream is
    /// open.
    pub(super) fn opening(self) -> &'static [u8] {
        match self {
            Self::EventStream => b":\n\n",
            Self::Multipart => b"\r\n--graphql",
        }
    }

    /// A heartbeat.
    pub(super) fn heartbeat(self) -> Vec<u8> {
        match self {
            Self::EventStream => b":\n\n".to_vec(),
            Self::Multipart => part(b"{}"),
        }
    }

    /// A response as a part.
    pub(super) fn next(self, answer: &[u8]) -> Vec<u8> {
        match self {
            Self::EventStream => event(answer),
            Self::Multipart => part(&[b"{\"payload\":", answer, b"}"].concat()),
        }
    }

    /// Errors that end the stream, not errors of an event.
    pub(super) fn broken(self, errors: &[u8]) -> Vec<u8> {
        match self {
            Self::EventStream => event(errors),
            // `{"errors":[…]}`, beside a null payload.
            Self::Multipart => part(
                &[
                    b"{\"payload\":null,",
                    errors.strip_prefix(b"{").unwrap_or_default(),
                ]
                .concat(),
            ),
        }
    }

    /// The end of a complete stream.
    pub(super) fn complete(self) -> &'static [u8] {
        match self {
            // Without `data`, browsers do not dispatch the event.
            Self::EventStream => b"event: complete\ndata:\n\n",
            Self::Multipart => b"--\r\n",
        }
    }
}

fn is_multipart(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    parts
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case("multipart/mixed"))
        && parts.any(|part| {
            let parameter = part
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim().trim_matches('"')));
            parameter.is_some_and(|(name, value)| {
                name.eq_ignore_ascii_case("subscriptionSpec") && value == "1.0"
            })
        })
}

/// A `next` event. A response may contain line ends between its tokens, if stored JSON does.
fn event(answer: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(answer.len() + 24);
    text.extend_from_slice(b"event: next");

    // An event stream ends a line at LF, CR or both (WHATWG HTML, section 9.2), so each line of the
    // response needs the prefix `data:`.
    for line in answer.split(|byte| matches!(byte, b'\n' | b'\r')) {
        text.extend_from_slice(b"\ndata: ");
        text.extend_from_slice(line);
    }
    text.extend_from_slice(b"\n\n");
    text
}

/// A part and the boundary after it: clients treat a part as complete when they see the boundary.
fn part(json: &[u8]) -> Vec<u8> {
    [
        b"\r\ncontent-type: application/json\r\n\r\n",
        json,
        b"\r\n--graphql",
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(accept: &str) -> Option<StreamType> {
        StreamType::wanted(&HeaderMap::from_iter([(
            header::ACCEPT,
            accept.parse().unwrap(),
        )]))
    }

    #[test]
    fn only_named_stream_types_are_accepted() {
        for none in [
            "*/*",
            "text/*",
            "multipart/mixed",
            "application/json",
            "text/event-stream;q=0",
            "text/event-streams",
        ] {
            assert_eq!(wanted(none), None, "{none}");
        }

        let apollo = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json";
        assert_eq!(wanted(apollo), Some(StreamType::Multipart));
        assert_eq!(
            wanted("multipart/mixed; subscriptionSpec=\"1.0\""),
            Some(StreamType::Multipart)
        );
        assert_eq!(wanted("multipart/mixed; subscriptionSpec=2.0"), None);
        let urql = "application/graphql-response+json, application/json, text/event-stream, multipart/mixed";
        assert_eq!(wanted(urql), Some(StreamType::EventStream));

        assert_eq!(
            wanted("text/event-stream;q=0.5, multipart/mixed;subscriptionSpec=1.0"),
            Some(StreamType::Multipart)
        );
    }

    #[test]
    fn line_ends_stay_inside_an_event() {
        assert_eq!(
            event(b"{\"a\":\r\n1}"),
            b"event: next\ndata: {\"a\":\ndata: \ndata: 1}\n\n"
        );
    }
}
