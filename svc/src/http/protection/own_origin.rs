//! The origin of the service itself, as it appears in requests.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

/// Whether an origin is the host of the request. The scheme is not compared: behind a proxy that
/// terminates TLS, it is unavailable.
pub(in crate::http) fn is_own(origin: &str, headers: &HeaderMap, uri: &Uri) -> bool {
    let Ok(origin) = origin.parse::<Uri>() else {
        return false;
    };

    let (Some(scheme), Some(own)) = (origin.scheme_str(), origin.authority()) else {
        return false;
    };

    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let Some(host) = uri.authority().cloned().or(host) else {
        return false;
    };

    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };

    // A host without a port has the default port of the page's scheme.
    let port = |authority: &Authority| authority.port_u16().unwrap_or(default);

    own.host().eq_ignore_ascii_case(host.host()) && port(own) == port(&host)
}
