//! The headers that most requests have, found in one pass.

use axum::http::{HeaderMap, HeaderValue, header};

use svc_engine::request::REQUEST_ID;

/// The headers of a request, as far as the endpoint looks for them. Most requests have few headers,
/// so one pass costs less than a look-up of each name, which is hashed.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct CommonHeaders {
    /// Whether there is no `Accept`, or a single one with `application/json` or `*/*`.
    pub(in crate::http) accepts_json: bool,
    /// Whether the first `Content-Type` is `application/json` without parameters.
    pub(in crate::http) is_json: bool,
    pub(in crate::http) has_content_encoding: bool,
    /// Whether there is a `Cookie` or an `Authorization`, which a browser may have added.
    pub(in crate::http) has_credentials: bool,
    pub(in crate::http) has_request_id: bool,
}

impl CommonHeaders {
    pub(in crate::http) fn of(headers: &HeaderMap) -> Self {
        let mut common = Self {
            accepts_json: true,
            is_json: false,
            has_content_encoding: false,
            has_credentials: false,
            has_request_id: false,
        };

        let (mut has_accept, mut has_content_type) = (false, false);
        for (name, value) in headers {
            if *name == header::ACCEPT {
                common.accepts_json = !has_accept && is_common(value);
                has_accept = true;
            } else if *name == header::CONTENT_TYPE {
                common.is_json |= !has_content_type && value == "application/json";
                has_content_type = true;
            } else if *name == header::CONTENT_ENCODING {
                common.has_content_encoding = true;
            } else if *name == header::AUTHORIZATION || *name == header::COOKIE {
                common.has_credentials = true;
            } else {
                common.has_request_id |= *name == REQUEST_ID;
            }
        }

        common
    }
}

/// Whether this is an `Accept` of most clients. Not a pattern, which compares byte by byte.
fn is_common(value: &HeaderValue) -> bool {
    value == "application/json" || value == "*/*"
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::CommonHeaders;

    fn common(headers: &[(&'static str, &'static str)]) -> CommonHeaders {
        let mut map = HeaderMap::new();
        for &(name, value) in headers {
            map.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        CommonHeaders::of(&map)
    }

    #[test]
    fn a_plain_request_has_json_and_nothing_else() {
        let plain = common(&[
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("accept", "application/json"),
        ]);

        assert!(plain.accepts_json && plain.is_json);
        assert!(!plain.has_content_encoding && !plain.has_credentials && !plain.has_request_id);
        assert!(common(&[]).accepts_json && !common(&[]).is_json);
    }

    #[test]
    fn other_headers_are_left_to_their_checks() {
        let twice = common(&[
            ("accept", "application/json"),
            ("accept", "text/event-stream"),
            ("content-type", "text/plain"),
            ("content-type", "application/json"),
        ]);

        assert!(!twice.accepts_json && !twice.is_json);
        assert!(!common(&[("accept", "text/event-stream"), ("accept", "*/*")]).accepts_json);
        assert!(!common(&[("content-type", "application/json; charset=utf-8")]).is_json);
        assert!(common(&[("content-encoding", "gzip")]).has_content_encoding);
        assert!(common(&[("cookie", "a=b")]).has_credentials);
        assert!(common(&[("authorization", "Basic YQ==")]).has_credentials);
        assert!(common(&[("x-request-id", "1")]).has_request_id);
    }
}
