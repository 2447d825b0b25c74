//! Basic authentication in front of `/graphql`, for services that are not public yet (RFC 7617).

mod guesses;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctutils::CtEq as _;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::reply::{MediaType, Refusal};
use guesses::Guesses;
use svc_core::ErrorCode;
use svc_telemetry::security_log::{Clients, SecurityEventType, record};

/// The cookie that a browser receives with the page. GraphiQL can then send a bearer token in the
/// `Authorization` header, which a request has only once.
const COOKIE: &str = "svc_dev_auth";
/// `charset`: the name and the password are UTF-8.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"svc\", charset=\"UTF-8\"");

/// The hashed credentials of `SVC_DEV_AUTH_USERNAME` and `SVC_DEV_AUTH_PASSWORD`.
pub(crate) struct DevAuth {
    credentials: [u8; 32],
    /// The value of the cookie, which is secret until the client has sent the password.
    cookie: String,
    clients: Clients,
    guesses: Guesses,
}

impl DevAuth {
    pub(crate) fn new(username: &str, password: &str, clients: Clients) -> Self {
        let cookie = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        Self {
            credentials: Sha256::digest(format!("{username}:{password}")).into(),
            cookie,
            clients,
            guesses: Guesses::default(),
        }
    }

    /// Returns the rejection of a request without the right credentials.
    fn refusal(&self, request: &Request) -> Option<Response<Body>> {
        // A browser's first request has no credentials.
        let is_guess = request.headers().contains_key(header::AUTHORIZATION);
        let event = || {
            self.clients.event(
                SecurityEventType::AuthFailure,
                request.headers(),
                request.extensions(),
            )
        };

        let address = if is_guess { event().ip_address } else { None };

        // Checked before the password: an address that has to wait must not learn whether its guess
        // is right.
        if is_guess && let Some(wait) = self.guesses.wait(address, Instant::now()) {
            return Some(too_many_guesses(wait));
        }

        if self.has_credentials(request.headers()) {
            return None;
        }

        if is_guess {
            self.guesses.count(address, Instant::now());
            let event = event().resource(request.uri().path());
            record(event.reason("the credentials are not those of SVC_DEV_AUTH_PASSWORD"));
        }

        let refusal = Refusal::new(
            StatusCode::UNAUTHORIZED,
            ErrorCode::Unauthenticated,
            "authentication required",
        );

        let mut response = refusal.reply(MediaType::Json);
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, CHALLENGE);

        Some(response)
    }

    fn has_credentials(&self, headers: &HeaderMap) -> bool {
        // With two headers, a proxy and the service could each read a different one.
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };

        let Some((scheme, encoded)) = value.to_str().ok().and_then(|value| value.split_once(' '))
        else {
            return false;
        };

        let given = STANDARD.decode(encoded.trim()).unwrap_or_default();

        // The hashes have the same length, and the position of the first difference reveals nothing
        // about the password.
        scheme.eq_ignore_ascii_case("basic")
            && Sha256::digest(given)
                .as_slice()
                .ct_eq(&self.credentials)
                .into()
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let texts = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok());
        let mut cookies = texts
            .flat_map(|text| text.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='));

        cookies.any(|(name, value)| {
            name == COOKIE && value.as_bytes().ct_eq(self.cookie.as_bytes()).into()
        })
    }
}

/// Passes on requests with the password or the cookie.
pub(super) async fn check(
    State(auth): State<Arc<DevAuth>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    if auth.has_cookie(request.headers()) {
        return next.run(request).await;
    }

    if let Some(refused) = auth.refusal(&request) {
        return refused;
    }

    let mut response = next.run(request).await;
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));

    // Without `Path`, the cookie applies to the directory of `/graphql`, also below a prefix.
    let cookie = format!("{COOKIE}={}; HttpOnly; SameSite=Strict", auth.cookie);
    if let (true, Ok(cookie)) = (is_page, HeaderValue::try_from(cookie)) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }

    response
}

/// The response to a guess while an address has to wait.
fn too_many_guesses(wait: Duration) -> Response<Body> {
    let message = "too many wrong passwords; try again later";
    let mut response = Refusal::new(
        StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::RateLimited,
        message,
    )
    .reply(MediaType::Json);

    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));

    response
}

impl std::fmt::Debug for DevAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DevAuth").finish_non_exhaustive()
    }
}
