//! `/graphql`.

mod batch;
#[cfg(feature = "upload")]
pub(super) mod multipart;
pub(super) mod parameters;

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, Version, header};

use super::body::{Arrived, Start};
use super::panic_guard::guarded;
use super::protection::{CommonHeaders, CsrfProtection, Head};
use super::reply::{
    ACCEPT_QUERY, Form, MediaType, QUERY_TYPE, Refusal, add_challenge, add_freshness, answer,
    status,
};
use super::{HttpState, body};
use parameters::Sent;
use svc_core::ErrorCode;
use svc_core::task::boxed::{boxed_rare, boxed_unmoved};
use svc_engine::graphql::{self, Answering, Challenge};
use svc_engine::request::{RequestHook, RequestParts, Transport, is_query};
#[cfg(feature = "upload")]
use svc_engine::upload::UploadConfig;

/// Handles any other method of `/graphql/rust`.
pub(super) async fn post_only() -> Response<Body> {
    let refusal = Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::BadRequest,
        "use POST",
    );
    refusal
        .with_header(header::ALLOW, "POST")
        .reply(MediaType::Json)
}

/// Handles a `POST` or `QUERY` request with a JSON body, and the media type that its client
/// accepts. Not an `async fn`, which would move the request once more.
pub(super) fn post(
    service: &HttpState,
    request: HttpRequest,
    hook: Option<Arc<dyn RequestHook>>,
    transport: Transport,
    media: Option<MediaType>,
    common: CommonHeaders,
    address: Option<IpAddr>,
) -> impl Future<Output = Response<Body>> + Send {
    let (parts, body) = request.into_parts();
    let form = form(service, &parts, media);

    async move {
        let checked = if CsrfProtection::is_harmless(&parts.method, common) {
            Ok(())
        } else {
            check_forgery(service, &parts)
        };
        let mut parts = RequestParts::hooked(parts, transport, hook);
        let answering = service.engine.hooks.answering();

        if let Err(refusal) = checked {
            return reply_to(Err(refusal), form, answering);
        }

        let begun = if service.engine.has_nothing_to_begin(&parts) {
            Ok(Challenge::None)
        } else {
            service.engine.begin(&mut parts).await
        };

        let (answered, challenge) = match begun {
            Ok(challenge) => (
                answer_post(service, parts, body, media, common, address).await,
                challenge,
            ),
            Err(refused) => (Ok(refused.response), refused.challenge),
        };

        let mut reply = reply_to(answered, form, answering);
        add_challenge(&mut reply, challenge);

        reply
    }
}

/// Returns the form of the response to a request whose client accepts this media type.
pub(super) fn form(service: &HttpState, parts: &Parts, media: Option<MediaType>) -> Form {
    Form {
        media: media.unwrap_or(MediaType::Json),
        draft: service.graphql_over_http,
        is_query: is_query(&parts.method),
        version: parts.version,
        is_identified: service.protection.request_ids,
    }
}

/// Rejects requests that another site may have made a browser send.
pub(super) fn check_forgery(service: &HttpState, parts: &Parts) -> Result<(), Refusal> {
    let Some(csrf) = &service.protection.csrf else {
        return Ok(());
    };

    csrf.check(Head::of(parts)).map_err(|forgery| {
        Refusal::new(
            StatusCode::FORBIDDEN,
            ErrorCode::CsrfProtectionFailed,
            forgery.message(),
        )
    })
}

/// Executes a request once its body has arrived: the client determines how long that takes, so the
/// permit is acquired afterwards. Not an `async fn`, which would move the request once more.
fn answer_post(
    service: &HttpState,
    parts: RequestParts,
    mut body: Body,
    media: Option<MediaType>,
    common: CommonHeaders,
    address: Option<IpAddr>,
) -> impl Future<Output = Result<graphql::Response, Refusal>> + Send {
    let bounds = bounds(service, address);

    async move {
        check_acceptable(media)?;

        #[cfg(feature = "upload")]
        if !common.is_json
            && let Some(uploads) = multipart::wanted(service, &parts)
        {
            return boxed_rare(|| answer_upload(service, uploads, parts, body, address)).await;
        }

        if !common.is_json || common.has_content_encoding {
            check_described(&parts.headers)?;
        }

        let Arrived { bytes, pending } = match body::start(&mut body, bounds.limit)? {
            Start::Whole(bytes) => {
                drop(body);
                let pending = None;
                Arrived { bytes, pending }
            }
            Start::Part(first) => boxed_unmoved(|| body::read_on(body, first, bounds)).await?,
        };

        let _admitted = service.protection.enter(address).await?;

        // The bytes count until here: a queue of requests with large bodies would otherwise have
        // no limit.
        drop(pending);

        match parameters::from_body(&bytes, service.batch_max)? {
            Sent::One(request) => {
                // Only responses to safe methods can be stored, and so be known.
                let known = match parts.transport {
                    Transport::HttpQuery => parts.headers.get(header::IF_NONE_MATCH).cloned(),
                    _ => None,
                };

                // Pinned here, because it is large to move.
                let running = pin!(service.engine.run(request, parts));
                let response = running.await;
                Ok(match known {
                    None => response,
                    Some(known) => response.unless_known(Some(&known)),
                })
            }
            // Few requests are batches; boxing the batch keeps the future of the others small.
            Sent::Batch(requests) => {
                Ok(boxed_rare(|| batch::run(&service.engine, requests, parts)).await)
            }
        }
    }
}

/// Receives a request with files, and executes it.
#[cfg(feature = "upload")]
async fn answer_upload(
    service: &HttpState,
    uploads: &UploadConfig,
    parts: RequestParts,
    body: Body,
    address: Option<IpAddr>,
) -> Result<graphql::Response, Refusal> {
    let (request, parts) = multipart::receive(service, uploads, parts, body, address).await?;
    let _admitted = service.protection.enter(address).await?;
    Ok(service.engine.run(request, parts).await)
}

/// Builds the reply to a request, and reports it to the hooks.
pub(super) fn reply_to(
    answered: Result<graphql::Response, Refusal>,
    form: Form,
    answering: Option<Answering<'_>>,
) -> Response<Body> {
    match answered {
        Ok(response) => {
            let status = status(&response.answer, form);
            if let Some(answering) = answering {
                answering.answered(
                    status,
                    response.answer.code(),
                    response.answer.field_errors(),
                );
            }

            let mut reply = answer(status, form, response.body);
            if let Some(freshness) = response.freshness {
                add_freshness(&mut reply, *freshness);
            }

            reply
        }
        Err(refusal) => {
            if let Some(answering) = answering {
                answering.answered(refusal.status_in(form), Some(refusal.code()), 0);
            }
            refuse(&refusal, form)
        }
    }
}

#[cold]
fn refuse(refusal: &Refusal, form: Form) -> Response<Body> {
    let mut response = refusal.reply_in(form);
    let is_unread = matches!(
        refusal.status,
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT
    );
    if is_unread && form.version <= Version::HTTP_11 {
        // The rest of the body is not read, so nothing can follow it.
        response
            .headers_mut()
            .insert(header::CONNECTION, HeaderValue::from_static("close"));
    }

    response
}

/// Reads the body of a request, which must be JSON.
pub(super) async fn read(
    service: &HttpState,
    headers: &HeaderMap,
    body: Body,
    address: Option<IpAddr>,
) -> Result<Arrived, Refusal> {
    check_described(headers)?;
    body::read(body, bounds(service, address)).await
}

fn bounds(service: &HttpState, address: Option<IpAddr>) -> body::Bounds<'_> {
    body::Bounds {
        limit: service.engine.app.limits.body,
        timeout: service.body_timeout,
        pending: &service.protection.pending_bodies,
        address,
    }
}

/// Checks the headers that describe the body. Cold, because nearly all requests have only the
/// headers that [`CommonHeaders`] has already checked.
#[cold]
#[inline(never)]
fn check_described(headers: &HeaderMap) -> Result<(), Refusal> {
    check_content_type(headers)?;
    check_content_encoding(headers)
}

/// Handles `GET /graphql`: a query in the query string, or GraphiQL for a browser without one.
pub(super) async fn get(
    State(service): State<Arc<HttpState>>,
    request: HttpRequest,
) -> Response<Body> {
    #[cfg(feature = "graphiql")]
    if super::reply::negotiate::wants_html(request.headers()) {
        let asked = |name: &str| has_parameter(request.uri().query().unwrap_or_default(), name);
        match service.engine.development {
            // A link with a query opens the page with it, and nothing runs before the user starts
            // it.
            true if !asked("documentId") => {
                return super::graphiql::page(&service.engine.app.model);
            }
            false if !asked("documentId") && !asked("query") => return not_found(),
            _ => {}
        }
    }

    let media = MediaType::negotiate(request.headers());
    let answer = |request, address| {
        guarded(
            media.unwrap_or(MediaType::Json),
            query_by_get(&service, request, media, address),
        )
    };

    service.protection.around(request, media, answer).await
}

async fn query_by_get(
    service: &HttpState,
    request: HttpRequest,
    media: Option<MediaType>,
    address: Option<IpAddr>,
) -> Response<Body> {
    let (parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let form = form(service, &parts, media);
    let checked = check_forgery(service, &parts);
    let mut parts = RequestParts::of_http(parts, Transport::HttpGet);
    let answering = service.engine.hooks.answering();

    if let Err(refusal) = checked {
        return reply_to(Err(refusal), form, answering);
    }

    let (answered, challenge) = match service.engine.begin(&mut parts).await {
        Ok(challenge) => (
            answer_get(service, parts, &query, media, address).await,
            challenge,
        ),
        Err(refused) => (Ok(refused.response), refused.challenge),
    };

    let mut reply = reply_to(answered, form, answering);
    add_challenge(&mut reply, challenge);

    reply
}

async fn answer_get(
    service: &HttpState,
    parts: RequestParts,
    query: &str,
    media: Option<MediaType>,
    address: Option<IpAddr>,
) -> Result<graphql::Response, Refusal> {
    check_acceptable(media)?;
    let _admitted = service.protection.enter(address).await?;
    let request = parameters::from_query_string(query)?;
    let known = parts.headers.get(header::IF_NONE_MATCH).cloned();

    Ok(service
        .engine
        .run(request, parts)
        .await
        .unless_known(known.as_ref()))
}

/// Handles any other method.
pub(super) fn other_method() -> Response<Body> {
    let refusal = Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::BadRequest,
        "use GET, POST or QUERY",
    );
    let mut response = refusal
        .with_header(header::ALLOW, "GET, POST, QUERY")
        .reply(MediaType::Json);
    response.headers_mut().insert(ACCEPT_QUERY, QUERY_TYPE);
    response
}

/// Rejects any `Content-Encoding`: a proxy could interpret the body differently from us (request
/// smuggling).
fn check_content_encoding(headers: &HeaderMap) -> Result<(), Refusal> {
    let is_identity = |value: &HeaderValue| {
        value
            .as_bytes()
            .trim_ascii()
            .eq_ignore_ascii_case(b"identity")
    };

    if headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(is_identity)
    {
        return Ok(());
    }

    let message = "send the body without a `Content-Encoding`";
    let refusal = Refusal::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::BadRequest,
        message,
    );

    // RFC 9110, section 15.5.16.
    Err(refusal.with_header(header::ACCEPT_ENCODING, "identity"))
}

/// Accepts only JSON: another site could send a form or plain text without a preflight request.
fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let unsupported = |message: &str| {
        Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::BadRequest,
            message,
        )
    };

    let value = headers.get(header::CONTENT_TYPE);

    // Fast path for the value that nearly all clients send.
    if value.is_some_and(|value| value == "application/json") {
        return Ok(());
    }

    let value = value.and_then(|value| value.to_str().ok());
    let mut parts = value.unwrap_or_default().split(';').map(str::trim);
    if !parts
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case("application/json"))
    {
        return Err(unsupported(
            "send the request as `Content-Type: application/json`",
        ));
    }

    let charset = parts.find_map(|part| {
        part.to_ascii_lowercase()
            .strip_prefix("charset=")
            .map(str::to_owned)
    });

    match charset.as_deref().map(|charset| charset.trim_matches('"')) {
        // RFC 8259, section 8.1: JSON between systems is UTF-8.
        None | Some("utf-8" | "utf8") => Ok(()),
        Some(_) => Err(unsupported("send the request in UTF-8")),
    }
}

#[cfg(feature = "graphiql")]
fn has_parameter(query: &str, wanted: &str) -> bool {
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == wanted)
}

fn check_acceptable(media: Option<MediaType>) -> Result<(), Refusal> {
    match media {
        Some(_) => Ok(()),
        None => Err(not_acceptable()),
    }
}

#[cold]
#[inline(never)]
fn not_acceptable() -> Refusal {
    let message = "the answer is application/json, application/graphql-response+json or, as a stream, \
                   text/event-stream; accept one of them";
    Refusal::new(StatusCode::NOT_ACCEPTABLE, ErrorCode::BadRequest, message)
}

#[cfg(feature = "graphiql")]
fn not_found() -> Response<Body> {
    Refusal::new(
        StatusCode::NOT_FOUND,
        ErrorCode::BadRequest,
        "there is no page here; send GraphQL with POST",
    )
    .reply(MediaType::Json)
}
