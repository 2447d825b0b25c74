//! The layer that gives requests their sessions.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tower::{Layer, Service};

use super::cookie::{self, Content, Presented};
use super::keys::{Keys, random};
use super::store::DynStore;
use super::{Session, SessionConfig, SessionError, SessionStore};
use crate::{ConfigError, ErrorCode};

/// The most bytes of JSON that a cookie can hold: with its encryption and base64 it stays below the 4,096 bytes of
/// browsers (RFC 6265, section 6.1).
const COOKIE: usize = 2_700;
/// The most bytes of JSON that a store gets.
const STORED: usize = 64 << 10;

/// Gives each request its [`Session`]; put around a router with [`axum::Router::layer`].
#[derive(Clone)]
pub struct SessionLayer(Arc<Sessions>);

/// A service whose requests have a session; made by [`SessionLayer`].
#[derive(Debug, Clone)]
pub struct SessionService<S> {
    inner: S,
    layer: SessionLayer,
}

struct Sessions {
    config: SessionConfig,
    keys: Keys,
    /// `None` where cookies hold everything.
    store: Option<Box<dyn DynStore>>,
}

impl SessionLayer {
    /// Sessions whose cookies hold everything, about 2,700 bytes of JSON. Nothing can end such a session before its
    /// time where its cookie was copied.
    ///
    /// # Errors
    /// A [`ConfigError`] that says which setting cannot be.
    pub fn new(config: SessionConfig) -> Result<Self, ConfigError> {
        Self::make(config, None)
    }

    /// Sessions that lie in a store, up to 64 KiB of JSON each.
    ///
    /// # Errors
    /// A [`ConfigError`] that says which setting cannot be.
    pub fn with_store(config: SessionConfig, store: impl SessionStore) -> Result<Self, ConfigError> {
        Self::make(config, Some(Box::new(store)))
    }

    fn make(config: SessionConfig, store: Option<Box<dyn DynStore>>) -> Result<Self, ConfigError> {
        config.check()?;
        let keys = Keys::new(&config).ok_or_else(|| ConfigError::new("secret_key", "***", "it must be a secret"))?;
        Ok(Self(Arc::new(Sessions { config, keys, store })))
    }
}

impl Sessions {
    /// The session that a cookie names; an empty one where there is none.
    async fn read(&self, presented: Option<&Presented>) -> Session {
        let room = if self.store.is_some() { STORED } else { COOKIE };
        let Some(Presented { content, is_old }) = presented else { return Session::new(Ok(Map::new()), false, room) };
        let Some(store) = &self.store else {
            return Session::new(Ok(content.values.clone().unwrap_or_default()), *is_old, room);
        };
        match store.load(&key(&content.id)).await {
            Ok(found) => {
                let values = found.and_then(|json| serde_json::from_slice(&json).ok());
                let is_kept = values.is_some();
                let session = Session::new(Ok(values.unwrap_or_default()), *is_old && is_kept, room);
                // A session that is over begins anew, under another identifier.
                session.state().is_kept = is_kept;
                session.state().is_renewed = !is_kept;
                session
            }
            Err(error) => Session::new(Err(error), false, room),
        }
    }

    /// Keeps a session that has changed: the header for its cookie, if it needs one. One that another request has ended
    /// or renewed meanwhile stays so.
    async fn keep(&self, session: &Session, presented: Option<Presented>) -> Result<Option<HeaderValue>, SessionError> {
        let change = {
            let state = session.state();
            if !state.is_changed || state.unavailable.is_some() {
                return Ok(None);
            }
            Change { values: state.values.clone(), is_renewed: state.is_renewed, is_kept: state.is_kept }
        };
        let old = presented.map(|presented| presented.content.id);
        if change.values.is_empty() {
            if let (Some(store), Some(old)) = (&self.store, &old)
                && !store.delete(&key(old)).await?
                && change.is_kept
                && !change.is_renewed
            {
                return Ok(None);
            }
            return Ok(old.and_then(|_| cookie::unset(&self.config)));
        }
        let max_age = self.config.max_age;
        let content = match &self.store {
            None => {
                let id = old.filter(|_| !change.is_renewed).map_or_else(new_id, Ok)?;
                Content::new(id, max_age, Some(change.values))
            }
            Some(store) => match change.store(store.as_ref(), old, max_age).await? {
                Some(id) => Content::new(id, max_age, None),
                None => return Ok(None),
            },
        };
        cookie::set(&content, &self.config, &self.keys).map(Some).ok_or_else(no_random)
    }
}

/// A session as a request has changed it.
struct Change {
    values: Map<String, Value>,
    is_renewed: bool,
    /// Whether the store had it when the request came.
    is_kept: bool,
}

impl Change {
    /// Stores it: the identifier that it has now, or `None` when the session has ended meanwhile.
    async fn store(
        self,
        store: &dyn DynStore,
        old: Option<String>,
        max_age: Duration,
    ) -> Result<Option<String>, SessionError> {
        let json = Value::Object(self.values).to_string().into_bytes();
        match old {
            Some(old) if !self.is_renewed => Ok(store.replace(&key(&old), json, max_age).await?.then_some(old)),
            old => {
                if let Some(old) = old
                    && !store.delete(&key(&old)).await?
                    && self.is_kept
                {
                    return Ok(None);
                }
                let id = new_id()?;
                store.save(&key(&id), json, max_age).await?;
                Ok(Some(id))
            }
        }
    }
}

/// An identifier that nobody guesses.
fn new_id() -> Result<String, SessionError> {
    Ok(URL_SAFE_NO_PAD.encode(random::<32>().ok_or_else(no_random)?))
}

fn no_random() -> SessionError {
    SessionError::Unavailable("the system gives no random bytes".to_owned())
}

/// The key of a session in a store: who reads the store cannot use it.
fn key(id: &str) -> String {
    hex::encode(Sha256::digest(id))
}

impl<S> Layer<S> for SessionLayer {
    type Service = SessionService<S>;

    fn layer(&self, inner: S) -> SessionService<S> {
        SessionService { inner, layer: self.clone() }
    }
}

impl<S> Service<Request> for SessionService<S>
where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        // The one that is ready answers; its clone takes the place.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let sessions = self.layer.0.clone();
        Box::pin(async move {
            let presented = cookie::presented(request.headers(), &sessions.config, &sessions.keys);
            let session = sessions.read(presented.as_ref()).await;
            request.extensions_mut().insert(session.clone());
            let mut response = inner.call(request).await?;
            match sessions.keep(&session, presented).await {
                Ok(None) => {}
                Ok(Some(cookie)) => {
                    response.headers_mut().append(header::SET_COOKIE, cookie);
                    let no_store = HeaderValue::from_static("no-store");
                    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
                }
                Err(error) => response = not_kept(&error),
            }
            Ok(response)
        })
    }
}

/// The answer to a request whose session could not be kept: what the request did may be done.
fn not_kept(error: &SessionError) -> Response<Body> {
    tracing::warn!(%error, "a session is not kept");
    let message = "the request was answered, but its session could not be kept";
    let extensions = json!({ "code": ErrorCode::ServiceUnavailable.as_str() });
    let body = json!({ "errors": [{ "message": message, "extensions": extensions }] });
    (StatusCode::SERVICE_UNAVAILABLE, axum::Json(body)).into_response()
}

impl std::fmt::Debug for SessionLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionLayer").field("config", &self.0.config).finish_non_exhaustive()
    }
}
