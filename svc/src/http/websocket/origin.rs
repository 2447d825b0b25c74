//! The pages that may open a socket.
//!
//! A browser opens a socket for any page, and sends the user's cookies with it, so a page of
//! another site could act as the user. It also sends the page's origin, which no page can change.

use axum::http::{HeaderMap, Request, Uri, header};

use crate::http::protection::is_own;
use svc_telemetry::security_log::{Clients, SecurityEventType, record};

/// Whether a page of this origin may open a socket: the origin is the service's own, or allowed.
/// Clients other than browsers send no origin.
pub(super) fn is_allowed(headers: &HeaderMap, uri: &Uri, allowed: &[String]) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origin = match (origins.next(), origins.next()) {
        (None, _) => return true,
        (Some(origin), None) => origin.to_str().unwrap_or_default(),
        // With two origins, a proxy and the service could each check a different one.
        (Some(_), Some(_)) => return false,
    };

    let is_listed =
        |known: &String| known == "*" || known.trim_end_matches('/').eq_ignore_ascii_case(origin);
    allowed.iter().any(is_listed) || is_own(origin, headers, uri)
}

/// Records that a page of another site tried to open a socket.
pub(super) fn record_foreign<B>(clients: &Clients, request: &Request<B>) {
    let event = clients.event(
        SecurityEventType::CsrfForeignOrigin,
        request.headers(),
        request.extensions(),
    );

    let event = event.resource(request.uri().path()).action("WebSocket");
    let origin = request
        .headers()
        .get(header::ORIGIN)
        .map(|origin| String::from_utf8_lossy(origin.as_bytes()));
    let event = event.reason("a page of another site would open a WebSocket");

    record(
        origin
            .into_iter()
            .fold(event, |event, origin| event.metadata("origin", origin)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(origin: &str, host: &str, list: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        headers.insert(header::HOST, host.parse().unwrap());
        let list: Vec<_> = list.iter().map(|origin| (*origin).to_owned()).collect();
        is_allowed(&headers, &Uri::from_static("/graphql"), &list)
    }

    #[test]
    fn pages_of_the_same_host_are_allowed() {
        for (origin, host) in [
            ("http://shop.example", "shop.example"),
            ("https://shop.example", "shop.example"),
            ("https://shop.example", "shop.example:443"),
            ("https://Shop.Example:8443", "shop.example:8443"),
            ("http://[::1]:8000", "[::1]:8000"),
        ] {
            assert!(allowed(origin, host, &[]), "{origin} {host}");
        }
    }

    #[test]
    fn pages_of_other_hosts_are_refused() {
        for (origin, host) in [
            ("https://evil.example", "shop.example"),
            ("https://shop.example.evil.example", "shop.example"),
            ("https://evil-shop.example", "shop.example"),
            ("https://shop.example:8443", "shop.example"),
            ("http://shop.example", "shop.example:443"),
            ("https://shop.example@evil.example", "shop.example"),
            ("null", "shop.example"),
            ("", "shop.example"),
            ("file://", "shop.example"),
            ("chrome-extension://shop.example", "shop.example"),
        ] {
            assert!(!allowed(origin, host, &[]), "{origin} {host}");
        }
    }

    #[test]
    fn listed_origins_are_allowed() {
        assert!(allowed(
            "https://app.example",
            "api.example",
            &["https://app.example"]
        ));

        assert!(!allowed(
            "http://app.example",
            "api.example",
            &["https://app.example"]
        ));

        assert!(allowed("null", "api.example", &["*"]));
    }
}
