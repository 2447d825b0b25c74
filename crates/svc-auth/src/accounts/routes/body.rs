//! Request bodies and their senders.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, FromRequest, Request};
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use super::reply::BadRequest;
use crate::accounts::refused::Refused;
use crate::accounts::{BodyReader, Client, NativeAuthProvider};

/// The maximum size of a body in bytes: a password may have a thousand, and JSON may encode each
/// one as six.
const MAX_LENGTH: usize = 16 << 10;
/// The timeout for receiving a body.
const PATIENCE: Duration = Duration::from_secs(30);
/// The maximum number of characters of a `User-Agent` to store.
const AGENT: usize = 200;

/// A JSON body with its sender.
pub(super) struct Json<T> {
    pub(super) body: T,
    pub(super) client: Client,
    pub(super) cookie: CookieSession,
}

impl<T: DeserializeOwned> FromRequest<NativeAuthProvider> for Json<T> {
    type Rejection = BadRequest;

    async fn from_request(
        mut request: Request,
        provider: &NativeAuthProvider,
    ) -> Result<Self, BadRequest> {
        let (client, cookie) = (sender_of(&request, provider), CookieSession::of(&request));
        let media = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let media = media
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();

        // A form on another site could send any other type without a preflight request by the
        // browser.
        if !media.eq_ignore_ascii_case("application/json") {
            return Err(BadRequest::MediaType);
        }

        let reader = request.extensions_mut().remove::<BodyReader>();
        let bytes = read(request.into_body(), reader).await?;

        // Serde would accept an array and assign its elements to the fields in order.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(BadRequest::Fields);
        }

        // Serde's error is dropped, as it may quote a password.
        let body = serde_json::from_slice(&bytes).map_err(|_| BadRequest::Fields)?;

        Ok(Self {
            body,
            client,
            cookie,
        })
    }
}

/// Reads a body. In a router without the protection of an application, there is no reader that
/// counts it.
async fn read(body: Body, reader: Option<BodyReader>) -> Result<Bytes, BadRequest> {
    let Some(reader) = reader else {
        let whole = tokio::time::timeout(PATIENCE, to_bytes(body, MAX_LENGTH)).await;
        return whole
            .map_err(|_| BadRequest::Late)?
            .map_err(|_| BadRequest::TooLarge);
    };

    reader
        .read(body, MAX_LENGTH, PATIENCE)
        .await
        .map_err(|status| match status {
            StatusCode::REQUEST_TIMEOUT => BadRequest::Late,
            StatusCode::TOO_MANY_REQUESTS => BadRequest::TooManyBodies,
            StatusCode::SERVICE_UNAVAILABLE => BadRequest::NoRoom,
            _ => BadRequest::TooLarge,
        })
}

/// The client of a request.
pub(super) fn client_of(
    headers: &HeaderMap,
    extensions: &Extensions,
    provider: &NativeAuthProvider,
) -> Client {
    let peer = extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map(|peer| peer.0);
    let agent = headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok());

    Client {
        address: (provider.0.address)(headers, peer),
        user_agent: agent.map(|agent| agent.chars().take(AGENT).collect()),
    }
}

fn sender_of(request: &Request, provider: &NativeAuthProvider) -> Client {
    client_of(request.headers(), request.extensions(), provider)
}

/// The client of a request without a body.
pub(super) struct Sender(pub(super) Client, pub(super) CookieSession);

impl FromRequest<NativeAuthProvider> for Sender {
    type Rejection = BadRequest;

    async fn from_request(
        request: Request,
        provider: &NativeAuthProvider,
    ) -> Result<Self, BadRequest> {
        Ok(Self(
            sender_of(&request, provider),
            CookieSession::of(&request),
        ))
    }
}

/// The session of the browser's cookie, if the application uses such sessions.
#[derive(Default)]
pub(super) struct CookieSession {
    #[cfg(feature = "sessions")]
    session: Option<crate::sessions::Session>,
}

impl CookieSession {
    #[cfg(feature = "sessions")]
    fn of(request: &Request) -> Self {
        Self {
            session: request.extensions().get().cloned(),
        }
    }

    #[cfg(not(feature = "sessions"))]
    fn of(_: &Request) -> Self {
        Self::default()
    }

    /// Whether the session can be renewed and cleared. Checked before an operation, so that nothing
    /// is done that the client would not know of.
    pub(super) fn check(&self) -> Result<(), Refused> {
        #[cfg(feature = "sessions")]
        if let Some(session) = &self.session {
            session.check().map_err(unavailable)?;
        }
        Ok(())
    }

    /// Gives the session a new identifier: possession of the old one must not grant the log-in.
    pub(super) fn renew(&self) -> Result<(), Refused> {
        #[cfg(feature = "sessions")]
        if let Some(session) = &self.session {
            session.renew().map_err(unavailable)?;
        }
        Ok(())
    }

    /// Ends the session.
    pub(super) fn clear(&self) -> Result<(), Refused> {
        #[cfg(feature = "sessions")]
        if let Some(session) = &self.session {
            session.clear().map_err(unavailable)?;
        }
        Ok(())
    }
}

#[cfg(feature = "sessions")]
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn unavailable(error: crate::sessions::SessionError) -> Refused {
    Refused::unavailable(
        "the session of a cookie is not available",
        &error.to_string(),
    )
}
