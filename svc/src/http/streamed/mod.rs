//! Streamed responses: subscriptions over HTTP.

mod stream_body;
mod stream_type;

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request as HttpRequest;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};

use super::HttpState;
use super::body::Arrived;
#[cfg(feature = "upload")]
use super::endpoint::multipart;
use super::endpoint::{check_forgery, form, parameters, read, reply_to};
#[cfg(feature = "auth")]
use super::live::LiveUser;
use super::live::{Full, Seat};
use super::reply::{MediaType, PRIVATE, Refusal, VARY, add_challenge};
use stream_body::{Source, StreamBody};
pub(super) use stream_type::StreamType;
use svc_engine::events::hold_until_wait;
use svc_engine::graphql::{Answer, ResponseStream};
use svc_engine::request::{AllowedOperations, RequestHook, RequestParts, Transport, is_query};

/// The header that keeps nginx from buffering a body before sending it.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The outcome of an operation: a single response, or a stream of responses.
type Started = Result<ResponseStream, svc_engine::graphql::Response>;

/// Handles a request whose client accepts a stream; `media` is the other media type that it
/// accepts.
pub(super) async fn answer(
    service: &HttpState,
    request: HttpRequest,
    hook: Option<Arc<dyn RequestHook>>,
    wanted: StreamType,
    media: Option<MediaType>,
    address: Option<IpAddr>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let form = form(service, &parts, media);
    let sent = if parts.method == axum::http::Method::GET {
        Sent::Url(parts.uri.query().unwrap_or_default().to_owned())
    } else {
        Sent::Body(body)
    };

    let checked = check_forgery(service, &parts);
    let mut parts = request_parts(parts, hook, media);
    let answering = service.engine.hooks.answering();

    if let Err(refusal) = checked {
        return reply_to(Err(refusal), form, answering);
    }

    let challenge = match service.engine.begin(&mut parts).await {
        Ok(challenge) => challenge,
        Err(refused) => {
            let mut reply = reply_to(Ok(refused.response), form, answering);
            add_challenge(&mut reply, refused.challenge);
            return reply;
        }
    };

    let mut response = match begin(service, parts, sent, media, address).await {
        Ok(Begun::Answered(response)) => reply_to(Ok(response), form, answering),
        Ok(Begun::Stream(source, place)) => {
            if let Some(answering) = answering {
                answering.answered(StatusCode::OK, None, 0);
            }
            open(source, wanted, place)
        }
        Err(refusal) => reply_to(Err(refusal), form, answering),
    };

    add_challenge(&mut response, challenge);

    response
}

/// An operation that has started.
enum Begun {
    /// Its single response, sent like all others.
    Answered(svc_engine::graphql::Response),
    Stream(Source, Place),
}

/// The place of a stream among the live connections.
struct Place {
    seat: Seat,
    /// The user, if it may change while the stream is open.
    #[cfg(feature = "auth")]
    user: Option<Box<LiveUser>>,
}

/// Where a request contains its operation.
enum Sent {
    /// The query string.
    Url(String),
    Body(Body),
}

/// Starts an operation and takes the seat of its stream.
async fn begin(
    service: &HttpState,
    parts: RequestParts,
    sent: Sent,
    media: Option<MediaType>,
    address: Option<IpAddr>,
) -> Result<Begun, Refusal> {
    let client = Client::of(&parts, service);

    // Reserve the stream before executing if the client accepts only a stream: otherwise a mutation
    // could run and then have nowhere to send its response.
    let early = if media.is_none() { Some(&client) } else { None };
    let (early, started) = start(service, parts, sent, early, address).await?;

    Ok(match started {
        // A client that accepts both gets the single response of an operation like all other
        // responses.
        Err(response) if media.is_some() || response.answer == Answer::MethodNotAllowed => {
            Begun::Answered(response)
        }
        started => {
            let seat = early.map_or_else(|| seat(service, &client), Ok)?;
            // A single response does not end with its user.
            #[cfg(feature = "auth")]
            let user = started
                .as_ref()
                .ok()
                .and_then(|_| client.live_user(service));
            let place = Place {
                #[cfg(feature = "auth")]
                user: user.and_then(|user| seat.watch_user(Some(user))),
                seat,
            };
            Begun::Stream(started.map_or_else(Source::One, Source::Many), place)
        }
    })
}

/// The client of a stream: the size of the headers that the stream keeps, the user, and the token
/// that identifies the user; or else the address.
struct Client {
    header_bytes: usize,
    address: Option<IpAddr>,
    #[cfg(feature = "auth")]
    user: Option<String>,
    #[cfg(feature = "auth")]
    token: Option<std::sync::Arc<svc_auth::Verified>>,
    /// The request, if its user may change while the stream is open.
    #[cfg(feature = "auth")]
    opened: Option<Arc<RequestParts>>,
}

impl Client {
    fn of(parts: &RequestParts, service: &HttpState) -> Self {
        Self {
            header_bytes: parts.header_bytes(),
            address: service
                .live
                .addresses
                .counted(&parts.headers, &parts.extensions),
            #[cfg(feature = "auth")]
            user: parts.user().map(|user| user.user_id.clone()),
            #[cfg(feature = "auth")]
            token: parts.identity.verified().cloned(),
            #[cfg(feature = "auth")]
            opened: LiveUser::is_needed(parts, &parts.identity)
                .then(|| Arc::new(parts.of_operation())),
        }
    }

    /// Returns the user, if it may change while the stream is open.
    #[cfg(feature = "auth")]
    fn live_user(&self, service: &HttpState) -> Option<Box<LiveUser>> {
        let opened = self.opened.clone()?;
        let (engine, limits) = (service.engine.clone(), service.live.checks.clone());
        let identity = opened.identity.clone();
        Some(Box::new(LiveUser::new(
            engine, limits, opened, identity, None,
        )))
    }
}

/// Returns the parts of a request that may be a subscription. If the client accepts only a stream,
/// the transport is a stream.
fn request_parts(
    parts: Parts,
    hook: Option<Arc<dyn RequestHook>>,
    media: Option<MediaType>,
) -> RequestParts {
    let is_query = is_query(&parts.method);
    let mut parts = RequestParts::hooked(parts, Transport::EventStream, hook);
    parts.detach();

    if media.is_some() {
        parts.transport = match parts.allowed {
            AllowedOperations::QueriesAndSubscriptions if is_query => Transport::HttpQuery,
            AllowedOperations::QueriesAndSubscriptions => Transport::HttpGet,
            _ => Transport::HttpPost,
        };
    }

    parts
}

/// Starts an operation once its body has arrived, with a seat for its stream if `client` is given.
async fn start(
    service: &HttpState,
    parts: RequestParts,
    sent: Sent,
    client: Option<&Client>,
    address: Option<IpAddr>,
) -> Result<(Option<Seat>, Started), Refusal> {
    let take_seat = || client.map(|client| seat(service, client)).transpose();
    let body = match sent {
        Sent::Url(query) => {
            let (seat, admitted) = (take_seat()?, service.protection.enter(address).await?);
            let request = parameters::from_query_string(&query)?;
            let started = pin!(service.engine.subscribe(request, parts));
            return Ok((seat, hold_until_wait(admitted, started).await));
        }
        Sent::Body(body) => body,
    };

    #[cfg(feature = "upload")]
    if let Some(uploads) = multipart::wanted(service, &parts) {
        let (request, parts) = multipart::receive(service, uploads, parts, body, address).await?;
        let (seat, admitted) = (take_seat()?, service.protection.enter(address).await?);
        let started = pin!(service.engine.subscribe(request, parts));
        return Ok((seat, hold_until_wait(admitted, started).await));
    }

    let Arrived { bytes, pending } = read(service, &parts.headers, body, address).await?;

    // The seat comes first: a client without a seat must not wait in the queue, nor hold a permit.
    let (seat, admitted) = (take_seat()?, service.protection.enter(address).await?);
    drop(pending);
    let request = parameters::one_from_body(&bytes)?;
    let started = pin!(service.engine.subscribe(request, parts));

    Ok((seat, hold_until_wait(admitted, started).await))
}

/// Takes a seat for a stream of this client.
#[cfg_attr(
    not(feature = "auth"),
    expect(unused_mut, reason = "nothing says who asks")
)]
fn seat(service: &HttpState, client: &Client) -> Result<Seat, Full> {
    // A user has a separate limit: the limit of an address would otherwise exclude users behind one
    // proxy.
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

/// Returns the response whose body is the stream.
fn open(source: Source, wanted: StreamType, place: Place) -> Response<Body> {
    let long_lived = place.seat.long_lived();
    let mut response = Response::new(Body::new(StreamBody::new(wanted, source, place)));
    let headers = response.headers_mut();

    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(wanted.as_str()),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::CACHE_CONTROL, PRIVATE);
    headers.insert(header::VARY, VARY);
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response.extensions_mut().insert(long_lived);

    response
}
