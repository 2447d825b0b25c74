//! The identity of a socket: from a message, or from the request that opened the socket.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use futures_util::FutureExt as _;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::close::Close;
use crate::http::HttpState;
use crate::http::live::LiveUser;
use svc_auth::{Identity, Refusal, UserContext};
use svc_engine::request::RequestParts;
use svc_telemetry::security_log::{SecurityEventType, record};

/// The prefix of a header with a token.
const SCHEME: &str = "bearer ";

/// Returns the credentials in the payload of a message: `authorization` or `Authorization`, at the
/// top or in `headers`, in the form of the HTTP header.
///
/// # Errors
/// When they are not a single token.
pub(super) fn credentials(payload: Option<&RawValue>) -> Result<Option<HeaderMap>, Close> {
    let Some(payload) = payload else {
        return Ok(None);
    };

    let fields: Map<String, Value> = serde_json::from_str(payload.get()).map_err(|_| {
        Close::bad_request("Invalid message received: the `payload` cannot be read")
    })?;
    let headers = fields.get("headers").and_then(Value::as_object);
    let all = fields.iter().chain(headers.into_iter().flatten());
    let mut found =
        all.filter(|(name, value)| name.eq_ignore_ascii_case("authorization") && !value.is_null());

    // With two tokens, the order of the keys would decide the identity of the client.
    let header = match (found.next(), found.next()) {
        (None, _) => return Ok(None),
        (Some((_, Value::String(text))), None) => {
            let is_bearer = text
                .get(..SCHEME.len())
                .is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
            if is_bearer {
                text.parse::<HeaderValue>().ok()
            } else {
                None
            }
        }
        _ => None,
    };

    let header = header.ok_or_else(|| {
        Close::forbidden("the payload's `authorization` is not one `Bearer <token>`")
    })?;

    Ok(Some(HeaderMap::from_iter([(
        header::AUTHORIZATION,
        header,
    )])))
}

/// The identity of a client.
pub(super) struct Identified {
    pub(super) identity: Identity,
    /// The user, if it may change while the socket is open.
    pub(super) user: Option<Box<LiveUser>>,
}

/// Authenticates the client, as for a request with these credentials.
///
/// # Errors
/// The reason to close the socket.
pub(super) async fn identify(
    service: &HttpState,
    opened: &Arc<RequestParts>,
    credentials: &HeaderMap,
) -> Result<Identified, Close> {
    // Providers are application code.
    let verified = AssertUnwindSafe(verify(service, opened, credentials))
        .catch_unwind()
        .await;
    let identity = verified.unwrap_or_else(|panic| {
        svc_telemetry::panic::report(
            "finding out who asks on a socket",
            svc_telemetry::panic::message(&*panic),
        );
        Err(Close::internal())
    })?;

    // A socket keeps the token only if its user has to be checked.
    let user = LiveUser::is_needed(opened, &identity).then(|| {
        let token = credentials
            .get(header::AUTHORIZATION)
            .filter(|_| identity.verified().is_some());
        let (engine, limits) = (service.engine.clone(), service.live.checks.clone());
        let (opened, identity) = (opened.clone(), identity.clone());
        Box::new(LiveUser::new(engine, limits, opened, identity, token))
    });

    Ok(Identified { identity, user })
}

async fn verify(
    service: &HttpState,
    opened: &RequestParts,
    credentials: &HeaderMap,
) -> Result<Identity, Close> {
    let Some(authentication) = &service.engine.authentication else {
        return Ok(Identity::Anonymous);
    };

    let identity = authentication
        .identify(credentials, &opened.headers, &opened.extensions)
        .await;
    let identity =
        identity.map_err(|_| Close::try_again("who asks cannot be verified at the moment"))?;
    match identity.refusal() {
        Some(Refusal::Expired) => return Err(Close::forbidden("the token has expired")),
        Some(Refusal::Invalid) => return Err(Close::forbidden("the token is not valid")),
        None => {}
    }

    if authentication.required && user_id(opened, &identity).is_none() {
        let event = opened.security_event(&authentication.clients, SecurityEventType::AuthFailure);
        record(event.reason("a token is required, and there is none"));
        return Err(Close::forbidden(
            "authentication required: send the token in the payload of `connection_init`",
        ));
    }

    Ok(identity)
}

/// Returns the identifier of the user: from a layer around the endpoint, or else from the token.
pub(super) fn user_id<'a>(opened: &'a RequestParts, identity: &'a Identity) -> Option<&'a str> {
    let user = opened
        .extension::<UserContext>()
        .or_else(|| identity.user());
    user.map(|user| user.user_id.as_str())
}

/// Records the reason for closing a socket because of its token.
pub(super) fn record_refused(service: &HttpState, opened: &RequestParts, why: &str) {
    record(
        opened
            .security_event(
                &service.engine.app.clients,
                SecurityEventType::AuthTokenInvalid,
            )
            .reason(why),
    );
}
