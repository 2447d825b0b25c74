//! Answers in parts: subscriptions over HTTP.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request as HttpRequest;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};

use super::body::Arrived;
use super::endpoint::{check_forgery, read, reply_to};
use super::live::{Full, Seat};
#[cfg(feature = "upload")]
use super::multipart;
use super::negotiate::MediaType;
use super::reply::{PRIVATE, Refusal, VARY, challenged};
use super::stream_body::{Source, StreamBody};
use super::stream_type::StreamType;
use super::{AppState, parameters};
use crate::engine::{Answer, ResponseStream};
use crate::request::{AllowedOperations, RequestHook, RequestParts, Transport};

/// The header that keeps nginx from collecting a body before it sends any of it.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The answer to an operation: one, or a stream of them.
type Started = Result<ResponseStream, crate::engine::Response>;

/// A request whose client takes a stream; `media` is what else it takes.
pub(super) async fn answer(
    service: &AppState,
    request: HttpRequest,
    hook: Option<Arc<dyn RequestHook>>,
    wanted: StreamType,
    media: Option<MediaType>,
    address: Option<IpAddr>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let (version, query) = (parts.version, parts.uri.query().unwrap_or_default().to_owned());
    let sent = if parts.method == axum::http::Method::GET { Sent::Url(query) } else { Sent::Body(body) };
    let checked = check_forgery(service, &parts);
    let mut parts = request_parts(parts, hook, media);
    let answering = service.engine.hooks.answering();
    if let Err(refusal) = checked {
        return reply_to(Err(refusal), media, version, answering);
    }
    let challenge = match service.engine.begin(&mut parts).await {
        Ok(challenge) => challenge,
        Err(refused) => {
            return challenged(reply_to(Ok(refused.response), media, version, answering), refused.challenge);
        }
    };
    let response = match begin(service, parts, sent, media, address).await {
        Ok(Begun::Answered(response)) => reply_to(Ok(response), media, version, answering),
        Ok(Begun::Stream(source, seat)) => {
            if let Some(answering) = answering {
                answering.answered(StatusCode::OK, None, 0);
            }
            open(source, wanted, seat)
        }
        Err(refusal) => reply_to(Err(refusal), media, version, answering),
    };
    challenged(response, challenge)
}

/// An operation that has begun.
enum Begun {
    /// Its one answer, which goes out as all others do.
    Answered(crate::engine::Response),
    Stream(Source, Seat),
}

/// The place of an operation in its request.
enum Sent {
    /// The query string.
    Url(String),
    Body(Body),
}

/// Starts an operation and takes the seat of its stream.
async fn begin(
    service: &AppState,
    parts: RequestParts,
    sent: Sent,
    media: Option<MediaType>,
    address: Option<IpAddr>,
) -> Result<Begun, Refusal> {
    let client = Client::of(&parts, service);
    // What is answered with a stream whatever it is must not run without one, as a mutation would be done and refused.
    let early = if media.is_none() { Some(&client) } else { None };
    let (early, started) = start(service, parts, sent, early, address).await?;
    Ok(match started {
        // A client that takes both gets the one answer of an operation as it gets all others.
        Err(response) if media.is_some() || response.answer == Answer::MethodNotAllowed => Begun::Answered(response),
        started => {
            let seat = early.map_or_else(|| seat(service, &client), Ok)?;
            Begun::Stream(started.map_or_else(Source::One, Source::Many), seat)
        }
    })
}

/// The client of a stream: the size of the headers that the stream keeps, the user, and the token that says so; or else
/// the address.
struct Client {
    header_bytes: usize,
    address: Option<IpAddr>,
    #[cfg(feature = "auth")]
    user: Option<String>,
    #[cfg(feature = "auth")]
    token: Option<std::sync::Arc<crate::auth::Verified>>,
}

impl Client {
    fn of(parts: &RequestParts, service: &AppState) -> Self {
        Self {
            header_bytes: parts.header_bytes(),
            address: service.live.addresses.counted(&parts.headers, &parts.extensions),
            #[cfg(feature = "auth")]
            user: parts.user().map(|user| user.user_id.clone()),
            #[cfg(feature = "auth")]
            token: parts.identity.verified().cloned(),
        }
    }
}

/// The parts of a request that may be a subscription. One that can only be answered with a stream came for one.
fn request_parts(parts: Parts, hook: Option<Arc<dyn RequestHook>>, media: Option<MediaType>) -> RequestParts {
    let mut parts = RequestParts::hooked(parts, Transport::EventStream, hook);
    parts.detach();
    if media.is_some() {
        parts.transport = match parts.allowed {
            AllowedOperations::QueriesAndSubscriptions => Transport::HttpGet,
            _ => Transport::HttpPost,
        };
    }
    parts
}

/// Starts an operation once its body is there, with a seat for its stream where a client is given.
async fn start(
    service: &AppState,
    parts: RequestParts,
    sent: Sent,
    client: Option<&Client>,
    address: Option<IpAddr>,
) -> Result<(Option<Seat>, Started), Refusal> {
    let take_seat = || client.map(|client| seat(service, client)).transpose();
    let body = match sent {
        Sent::Url(query) => {
            let (seat, _admitted) = (take_seat()?, service.protection.enter(address).await?);
            let request = parameters::from_query_string(&query)?;
            return Ok((seat, service.engine.subscribe(request, parts).await));
        }
        Sent::Body(body) => body,
    };
    #[cfg(feature = "upload")]
    if let Some(uploads) = multipart::wanted(service, &parts) {
        let (request, parts) = multipart::receive(service, uploads, parts, body, address).await?;
        let (seat, _admitted) = (take_seat()?, service.protection.enter(address).await?);
        return Ok((seat, service.engine.subscribe(request, parts).await));
    }
    let Arrived { bytes, pending } = read(service, &parts.headers, body, address).await?;
    let (seat, _admitted) = (take_seat()?, service.protection.enter(address).await?);
    drop(pending);
    let request = parameters::one_from_body(&bytes)?;
    Ok((seat, service.engine.subscribe(request, parts).await))
}

/// Takes a seat for a stream of this client.
#[cfg_attr(not(feature = "auth"), expect(unused_mut, reason = "nothing says who asks"))]
fn seat(service: &AppState, client: &Client) -> Result<Seat, Full> {
    #[cfg(feature = "auth")]
    let address = client.address.filter(|_| client.user.is_none());
    #[cfg(not(feature = "auth"))]
    let address = client.address;
    let mut seat = service.live.open(client.header_bytes, address)?;
    #[cfg(feature = "auth")]
    if let Some(user) = &client.user {
        seat.of_user(user)?;
        seat.until_end_of(client.token.as_ref());
    }
    Ok(seat)
}

/// The response whose body is the stream.
fn open(source: Source, wanted: StreamType, seat: Seat) -> Response<Body> {
    let long_lived = seat.long_lived();
    let mut response = Response::new(Body::new(StreamBody::new(wanted, source, seat)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(wanted.as_str()));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, PRIVATE);
    headers.insert(header::VARY, VARY);
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response.extensions_mut().insert(long_lived);
    response
}
