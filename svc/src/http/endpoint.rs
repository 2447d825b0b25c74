//! `/graphql`.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, Version, header};

use super::guard::guarded;
use super::negotiate::MediaType;
use super::reply::{Refusal, answer, challenged};
use super::{AppState, body, parameters};
use crate::ErrorCode;
use crate::request::{RequestParts, Transport};

/// Any other method of `/graphql/rust`.
pub(super) async fn post_only() -> Response<Body> {
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::BadRequest, "use POST");
    let mut response = refusal.reply(MediaType::Json);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

/// A request with a JSON body, and the media type that its client wants.
pub(super) async fn post(
    service: &AppState,
    request: HttpRequest,
    transport: Transport,
    media: Option<MediaType>,
) -> Response<Body> {
    let Some(media) = media else { return not_acceptable() };
    let (parts, body) = request.into_parts();
    let version = parts.version;
    let mut parts = RequestParts::of_http(parts, transport);
    let challenge = match service.engine.begin(&mut parts).await {
        Ok(challenge) => challenge,
        Err(refused) => return challenged(answer(media, refused.response), refused.challenge),
    };
    let response = match read(service, &parts.headers, body).await {
        Ok(body) => match parameters::from_body(&body) {
            Ok(request) => answer(media, service.engine.run(request, parts).await),
            Err(refusal) => refusal.reply(media),
        },
        Err(refusal) => refuse(&refusal, media, version),
    };
    challenged(response, challenge)
}

fn refuse(refusal: &Refusal, media: MediaType, version: Version) -> Response<Body> {
    let mut response = refusal.reply(media);
    let is_unread = matches!(refusal.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    if is_unread && version <= Version::HTTP_11 {
        // What is left of the body is not read, so nothing can follow it.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn read(service: &AppState, headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
    check_content_type(headers)?;
    body::read(body, service.engine.app.limits.body, service.body_timeout).await
}

/// `GET /graphql`: a query in the query string, or GraphiQL for a browser that brings none.
pub(super) async fn get(State(service): State<Arc<AppState>>, request: HttpRequest) -> Response<Body> {
    let (parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    #[cfg(feature = "graphiql")]
    if super::negotiate::wants_html(&parts.headers) && !has_query(&query) {
        return if service.engine.development { super::graphiql::page() } else { not_found() };
    }
    let Some(media) = MediaType::negotiate(&parts.headers) else { return not_acceptable() };
    guarded(media, async {
        let mut parts = RequestParts::of_http(parts, Transport::HttpGet);
        let challenge = match service.engine.begin(&mut parts).await {
            Ok(challenge) => challenge,
            Err(refused) => return challenged(answer(media, refused.response), refused.challenge),
        };
        let response = match parameters::from_query_string(&query) {
            Ok(request) => answer(media, service.engine.run(request, parts).await),
            Err(refusal) => refusal.reply(media),
        };
        challenged(response, challenge)
    })
    .await
}

/// Any other method.
pub(super) async fn other_method() -> Response<Body> {
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::BadRequest, "use GET or POST");
    let mut response = refusal.reply(MediaType::Json);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, POST"));
    response
}

/// Only JSON: a form or plain text could be sent from another site without the browser asking first.
fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let unsupported = |message: &str| Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::BadRequest, message);
    let value = headers.get(header::CONTENT_TYPE);
    if value.is_some_and(|value| value == "application/json") {
        return Ok(());
    }
    let value = value.and_then(|value| value.to_str().ok());
    let mut parts = value.unwrap_or_default().split(';').map(str::trim);
    if !parts.next().is_some_and(|name| name.eq_ignore_ascii_case("application/json")) {
        return Err(unsupported("send the request as `Content-Type: application/json`"));
    }
    let charset = parts.find_map(|part| part.to_ascii_lowercase().strip_prefix("charset=").map(str::to_owned));
    match charset.as_deref().map(|charset| charset.trim_matches('"')) {
        None | Some("utf-8" | "utf8") => Ok(()),
        Some(_) => Err(unsupported("send the request in UTF-8")),
    }
}

#[cfg(feature = "graphiql")]
fn has_query(query: &str) -> bool {
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "query" || name == "documentId")
}

fn not_acceptable() -> Response<Body> {
    let message = "the answer is application/json or application/graphql-response+json; accept one of them";
    Refusal::new(StatusCode::NOT_ACCEPTABLE, ErrorCode::BadRequest, message).reply(MediaType::Json)
}

#[cfg(feature = "graphiql")]
fn not_found() -> Response<Body> {
    Refusal::new(StatusCode::NOT_FOUND, ErrorCode::BadRequest, "there is no page here; send GraphQL with POST")
        .reply(MediaType::Json)
}
