//! Introspection of opaque tokens by their issuer.

use std::time::{Duration, SystemTime};

use axum::http::{HeaderValue, Method};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::client::{Ask, HttpClient};
use super::error::FetchError;
use super::{Endpoint, IdpError};
use crate::provider::standard_user::described;
use crate::token::ClaimRules;
use crate::{AuthError, AuthProvider, Authenticated, Claims, UserContext};

/// The maximum number of concurrent introspection requests.
const AT_ONCE: usize = 64;
/// How long a response is cached.
const KEEP: Duration = Duration::from_secs(60);

/// The provider for opaque tokens, which it verifies by introspection at their issuer (RFC 7662,
/// OAuth 2.0 Token Introspection).
///
/// The user is `sub`, or else `username`, or else `client_id`, for a token that a client obtained
/// for itself.
///
/// A response is cached for a minute, or the configured time, and never past the token's `exp`. A
/// token that is revoked in the meantime is accepted until then. While a socket or stream is open,
/// its token is introspected again from time to time.
///
/// ```
/// use std::time::Duration;
/// use svc::auth::IntrospectionProvider;
/// use svc::prelude::*;
///
/// let provider = IntrospectionProvider::new("https://id.example/introspect", "shop", "the secret of the client")?
///     .audience("https://api.example")
///     .required_scope("orders")
///     .keep_for(Duration::from_secs(10));
/// let options = AppOptions::new().auth_provider(provider);
/// # Ok::<(), svc::auth::IdpError>(())
/// ```
#[must_use = "give it to `AppOptions::auth_provider`"]
pub struct IntrospectionProvider {
    client: HttpClient,
    endpoint: Endpoint,
    authorization: HeaderValue,
    rules: ClaimRules,
    scope: Option<String>,
    keep_for: Duration,
    questions: Semaphore,
}

impl IntrospectionProvider {
    /// A provider that sends introspection requests to an address, as a client with a secret.
    ///
    /// # Errors
    /// An [`IdpError`] if the address cannot be used.
    pub fn new(endpoint: &str, client_id: &str, client_secret: &str) -> Result<Self, IdpError> {
        // Both parts are form-encoded first, as they may contain a colon (RFC 6749, section 2.3.1).
        let encoded =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let pair = STANDARD.encode(format!("{}:{}", encoded(client_id), encoded(client_secret)));

        // Base64 is always a valid header value.
        let mut authorization =
            HeaderValue::try_from(format!("Basic {pair}")).map_err(|_| IdpError::NoClient)?;

        authorization.set_sensitive(true);

        Ok(Self {
            client: HttpClient::new(None)?,
            endpoint: Endpoint::parse(endpoint)?,
            authorization,
            rules: ClaimRules {
                may_lack_exp: true,
                ..ClaimRules::default()
            },
            scope: None,
            keep_for: KEEP,
            questions: Semaphore::new(AT_ONCE),
        })
    }

    /// The root certificates (PEM) for the issuer's certificate, in place of the public
    /// authorities.
    ///
    /// # Errors
    /// An [`IdpError`] if the certificates cannot be used.
    pub fn root_certificates(self, pem: &str) -> Result<Self, IdpError> {
        Ok(Self {
            client: HttpClient::new(Some(pem.as_bytes()))?,
            ..self
        })
    }

    /// The required issuer in responses.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.rules.issuer = Some(issuer.into());
        self
    }

    /// The required audience in responses.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.rules.audience = Some(audience.into());
        self
    }

    /// The required scope of tokens.
    pub fn required_scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// How long a response is cached; zero sends a request to the issuer for every request.
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.keep_for = time;
        self
    }

    async fn verify(&self, token: &str) -> Result<Claims, AuthError> {
        // A flood of invented tokens would otherwise become a flood of requests to the issuer.
        let _question = self
            .questions
            .acquire()
            .await
            .map_err(AuthError::unavailable)?;

        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let ask = Ask {
            method: Method::POST,
            authorization: Some(self.authorization.clone()),
            body: Some(("application/x-www-form-urlencoded", &body)),
        };

        let Value::Object(answer) = self.client.ask(&self.endpoint, &ask).await? else {
            return Err(FetchError::Unexpected(self.endpoint.clone(), "an object").into());
        };

        match answer.get("active") {
            Some(Value::Bool(true)) => self.check(Claims::new(answer)),
            Some(Value::Bool(false)) => {
                Err(AuthError::invalid("its issuer says that it is not active"))
            }
            // `active` is required (RFC 7662, section 2.2): without it, nothing is known about the
            // token, so this is an outage and not a rejection.
            _ => Err(FetchError::Unexpected(
                self.endpoint.clone(),
                "whether the token is `active`",
            )
            .into()),
        }
    }

    fn check(&self, claims: Claims) -> Result<Claims, AuthError> {
        self.rules.check(&claims)?;
        let is_bearer = |kind: &str| {
            ["bearer", "access_token"]
                .iter()
                .any(|known| kind.eq_ignore_ascii_case(known))
        };

        // A `DPoP` token (RFC 9449) requires a proof of possession, which a bearer request lacks.
        if claims
            .get("token_type")
            .is_some_and(|kind| !kind.as_str().is_some_and(is_bearer))
        {
            return Err(AuthError::invalid("it is not a bearer token"));
        }

        let has = |scope: &str| {
            claims
                .text("scope")
                .is_some_and(|scopes| scopes.split(' ').any(|own| own == scope))
        };

        if self.scope.as_deref().is_some_and(|scope| !has(scope)) {
            return Err(AuthError::invalid(
                "it does not have the scope that is required",
            ));
        }

        Ok(claims)
    }
}

/// The user of a response. A token that a client obtained for itself identifies the client (RFC
/// 9068, section 2.2).
fn user(claims: &Claims) -> Result<UserContext, AuthError> {
    let id = ["sub", "username", "client_id"]
        .iter()
        .find_map(|name| claims.text(name))
        .filter(|id| !id.is_empty());
    described(
        claims,
        id.ok_or_else(|| AuthError::invalid("it does not say whose it is"))?
            .to_owned(),
    )
}

impl AuthProvider for IntrospectionProvider {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        self.verify(token).await
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        user(&self.verify(token).await?)
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        // The time counts from before the request: the token may be revoked while the response
        // travels.
        let asked = SystemTime::now();
        let claims = self.verify(token).await?;
        let user = user(&claims)?;
        let authenticated = Authenticated::new(claims, user);

        Ok(if self.keep_for.is_zero() {
            authenticated
        } else {
            authenticated.keep_until(asked + self.keep_for)
        })
    }

    fn weakness(&self) -> Option<String> {
        if !self.endpoint.is_encrypted() {
            return Some("opaque tokens are sent over http; use https".to_owned());
        }
        let is_for_all = self.rules.audience.is_none() && self.scope.is_none();
        is_for_all.then(|| {
            "opaque tokens are taken whoever they are for; set an audience or a required scope"
                .to_owned()
        })
    }
}

impl std::fmt::Debug for IntrospectionProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntrospectionProvider")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
