//! WebSockets at `GET /graphql`, which use `graphql-transport-ws`
//! (<https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>).
//!
//! A socket is one task, which reads messages, runs operations, and sends one message at a time: a
//! slow client delays no other client. The [watch over live connections](super::live) provides the
//! timers.

mod answer_counter;
mod close;
#[cfg(feature = "auth")]
mod identity;
mod message;
mod operations;
mod origin;
mod read_ahead;
mod sending;
mod socket;
#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request as HttpRequest;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use futures_util::FutureExt as _;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use self::close::Close;
use self::read_ahead::ReadAhead;
use self::socket::Socket;
use super::HttpState;
use super::health::ShuttingDown;
use super::protection::add_request_id;
use super::reply::{MediaType, Refusal};
use svc_core::ErrorCode;
use svc_engine::request::{RequestId, RequestParts, Transport};

/// The only supported subprotocol.
const PROTOCOL: &str = "graphql-transport-ws";
/// The size of the buffer that each socket keeps for as long as it is open: enough for a short
/// message. Incoming data is read by [`ReadAhead`].
const READ_BUFFER: usize = 64;
/// The maximum number of bytes waiting to be written: a few frames of maximum length.
const MAX_WRITE_BUFFER: usize = 4 * sending::MAX_FRAME_SIZE;

/// Headers that describe the handshake, not the client.
const OF_THE_HANDSHAKE: [header::HeaderName; 7] = [
    header::CONNECTION,
    header::UPGRADE,
    header::SEC_WEBSOCKET_KEY,
    header::SEC_WEBSOCKET_VERSION,
    header::SEC_WEBSOCKET_EXTENSIONS,
    header::SEC_WEBSOCKET_PROTOCOL,
    header::PRAGMA,
];

/// Whether a request wants to become a WebSocket.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    headers
        .get(header::UPGRADE)
        .is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Opens a socket.
pub(super) fn open(service: &Arc<HttpState>, request: HttpRequest) -> Response<Body> {
    let id = service.protection.identify(&request);
    let accepted = RequestId::within(id.as_ref(), || accept(service, request, id.clone()));
    let mut response = accepted.unwrap_or_else(|refusal| refusal.reply(MediaType::Json));
    add_request_id(&mut response, id);

    response
}

/// Opens a socket; all its operations have the identifier of the request that opens it.
fn accept(
    service: &Arc<HttpState>,
    mut request: HttpRequest,
    id: Option<RequestId>,
) -> Result<Response<Body>, Refusal> {
    let key = check(service, &request)?;
    let upgrade = request
        .extensions_mut()
        .remove::<OnUpgrade>()
        .ok_or_else(|| {
            refusal(
                StatusCode::BAD_REQUEST,
                "this connection cannot become a WebSocket; open one over HTTP/1.1",
            )
        })?;

    let (protocol, unknown) = protocol(request.headers());
    let address = service
        .live
        .addresses
        .counted(request.headers(), request.extensions());
    let (service, opened, credentials) = prepare(service, request);

    // Before the response: only an HTTP response can refuse with a status and a `Retry-After`.
    let seat = service.live.open(opened.header_bytes(), address)?;
    let long_lived = seat.long_lived();

    // Boxed, because a socket is open for longer than opening it takes.
    let opening = async move {
        let upgraded = ReadAhead::new(TokioIo::new(upgrade.await.ok()?));
        let stream =
            WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config(&service))).await;
        Some(Socket::new(service, stream, seat, opened, credentials))
    }
    .boxed();

    tokio::spawn(async move {
        // Created here, because a value passed to a task and then pinned takes its space twice.
        let serving = async move {
            match (opening.await, unknown) {
                (None, _) => {}
                (Some(socket), None) => socket.run().await,
                (Some(socket), Some(close)) => socket.close(close).boxed().await,
            }
        };
        RequestId::scope(id.as_ref(), pin!(serving)).await;
    });

    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, key);
    if let Some(protocol) = protocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    }

    response.extensions_mut().insert(long_lived);

    Ok(response)
}

/// Checks the handshake (RFC 6455, section 4.2.1) and its origin; returns the response to its key.
fn check(service: &HttpState, request: &HttpRequest) -> Result<HeaderValue, Refusal> {
    let headers = request.headers();
    if request.extensions().get::<ShuttingDown>().is_some() {
        return Err(refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            "the service is going away; try another instance",
        ));
    }

    if !origin::is_allowed(headers, request.uri(), &service.live.config.allowed_origins) {
        let message = "pages of this origin may not open a WebSocket here; SVC_SUBSCRIPTION_ORIGINS lists those that may";
        origin::record_foreign(&service.engine.app.clients, request);
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            ErrorCode::Forbidden,
            message,
        ));
    }

    if !is_upgrade(headers) {
        return Err(refusal(
            StatusCode::BAD_REQUEST,
            "send `Connection: Upgrade` with `Upgrade: websocket`",
        ));
    }

    if headers
        .get(header::SEC_WEBSOCKET_VERSION)
        .is_none_or(|version| version != "13")
    {
        let refusal = refusal(
            StatusCode::UPGRADE_REQUIRED,
            "send `Sec-WebSocket-Version: 13`",
        );
        return Err(refusal.with_header(header::SEC_WEBSOCKET_VERSION, "13"));
    }

    let key = headers
        .get(header::SEC_WEBSOCKET_KEY)
        .filter(|key| key.len() == 24);
    let key = key.ok_or_else(|| {
        refusal(
            StatusCode::BAD_REQUEST,
            "send a `Sec-WebSocket-Key` of 16 bytes in base64",
        )
    })?;

    HeaderValue::try_from(derive_accept_key(key.as_bytes()))
        .map_err(|_| refusal(StatusCode::BAD_REQUEST, "`Sec-WebSocket-Key` is not valid"))
}

/// Whether `Connection` names the upgrade, which shows that no proxy in between has consumed it.
fn is_upgrade(headers: &HeaderMap) -> bool {
    let values = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|option| option.trim().eq_ignore_ascii_case("upgrade"))
}

/// Returns the subprotocol to name in the response, and the reason to close the socket if it is not
/// ours. If the response names none of the requested subprotocols, a browser does not pass the
/// reason to its page.
fn protocol(headers: &HeaderMap) -> (Option<HeaderValue>, Option<Close>) {
    let values = headers
        .get_all(header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut requested = values
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .peekable();

    let first = requested.peek().copied();
    if requested.any(|name| name == PROTOCOL) {
        return (Some(HeaderValue::from_static(PROTOCOL)), None);
    }

    (
        first.and_then(|name| name.parse().ok()),
        Some(Close::unknown_protocol(first)),
    )
}

/// Returns the parts of the request for the operations of a socket, and its credentials, which are
/// kept until the client is authenticated.
fn prepare(
    service: &Arc<HttpState>,
    request: HttpRequest,
) -> (Arc<HttpState>, RequestParts, Option<Box<HeaderMap>>) {
    let (mut parts, _) = request.into_parts();
    for name in OF_THE_HANDSHAKE {
        parts.headers.remove(name);
    }

    // All operations share the headers for as long as the socket is open; the token is needed only
    // until the client is authenticated.
    let credentials = match parts.headers.entry(header::AUTHORIZATION) {
        header::Entry::Occupied(found) => {
            let (name, values) = found.remove_entry_mult();
            Some(Box::new(
                values.map(|value| (name.clone(), value)).collect(),
            ))
        }
        header::Entry::Vacant(_) => None,
    };

    let mut opened = RequestParts::of_http(parts, Transport::WebSocket);
    opened.had_credentials = credentials.is_some();
    opened.detach();

    (service.clone(), opened, credentials)
}

fn config(service: &HttpState) -> WebSocketConfig {
    let longest = usize::try_from(service.live.config.max_message_size).unwrap_or(usize::MAX);
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(MAX_WRITE_BUFFER)
        .max_message_size(Some(longest))
        .max_frame_size(Some(longest))
}

fn refusal(status: StatusCode, message: &str) -> Refusal {
    let code = match status {
        StatusCode::SERVICE_UNAVAILABLE => ErrorCode::ServiceUnavailable,
        _ => ErrorCode::BadRequest,
    };
    Refusal::new(status, code, message)
}
