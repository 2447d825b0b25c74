//! The layer that attaches sessions to requests.

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
use super::session::Place;
use super::store::DynStore;
use super::{Session, SessionConfig, SessionError, SessionStore};
use svc_core::{ConfigError, ErrorCode};

/// The maximum size of the JSON in a cookie, in bytes: encrypted and encoded in base64, it stays
/// below the limit of browsers, 4,096 bytes (RFC 6265, section 6.1).
const COOKIE: usize = 2_700;
/// The maximum size of the JSON in a store, in bytes.
const STORED: usize = 64 << 10;

/// Attaches a [`Session`] to each request; applied to a router with [`axum::Router::layer`].
#[derive(Clone)]
pub struct SessionLayer(Arc<Sessions>);

/// A service whose requests have a session; created by [`SessionLayer`].
#[derive(Debug, Clone)]
pub struct SessionService<S> {
    inner: S,
    layer: SessionLayer,
}

struct Sessions {
    config: SessionConfig,
    keys: Keys,
    /// `None` if cookies contain the whole session.
    store: Option<Arc<dyn DynStore>>,
}

impl SessionLayer {
    /// Sessions that are stored entirely in their cookies, with up to about 2,700 bytes of JSON. If
    /// such a cookie is copied, nothing can end its session before it expires.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the invalid setting.
    pub fn new(config: SessionConfig) -> Result<Self, ConfigError> {
        Self::make(config, None)
    }

    /// Sessions that are kept in a store, with up to 64 KiB of JSON each.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the invalid setting.
    pub fn with_store(
        config: SessionConfig,
        store: impl SessionStore,
    ) -> Result<Self, ConfigError> {
        Self::make(config, Some(Arc::new(store)))
    }

    fn make(config: SessionConfig, store: Option<Arc<dyn DynStore>>) -> Result<Self, ConfigError> {
        config.check()?;
        let keys = Keys::new(&config)
            .ok_or_else(|| ConfigError::new("secret_key", "***", "it must be a secret"))?;
        Ok(Self(Arc::new(Sessions {
            config,
            keys,
            store,
        })))
    }
}

impl Sessions {
    /// Loads the session of a cookie; an empty one if there is none.
    async fn read(&self, presented: Option<&Presented>) -> Session {
        let room = if self.store.is_some() { STORED } else { COOKIE };
        let Some(Presented { content, is_old }) = presented else {
            let session = Session::new(Ok(Map::new()), false, room);
            session.state().place = self.place(None);
            return session;
        };

        let Some(store) = &self.store else {
            return Session::new(
                Ok(content.values.clone().unwrap_or_default()),
                *is_old,
                room,
            );
        };

        let key = key(&content.id);
        match store.load(&key).await {
            Ok(found) => {
                let values = found.and_then(|json| serde_json::from_slice(&json).ok());
                let is_kept = values.is_some();
                let session =
                    Session::new(Ok(values.unwrap_or_default()), *is_old && is_kept, room);
                // A session that is not in the store has ended or expired. Others may still have
                // its identifier, so the next one gets a new identifier.
                let mut state = session.state();
                state.is_kept = is_kept;
                state.is_renewed = !is_kept;
                state.place = self.place(is_kept.then_some(key));
                drop(state);
                session
            }
            Err(error) => Session::new(Err(error), false, room),
        }
    }

    /// Returns the place in the store, if there is one, of the session with a key.
    fn place(&self, key: Option<String>) -> Option<Place> {
        let store = self.store.clone()?;
        Some(Place { store, key })
    }

    /// Saves a changed session. Returns the header for its cookie, if it needs one. If another
    /// request has ended or renewed the session in the meantime, nothing is saved.
    async fn keep(
        &self,
        session: &Session,
        presented: Option<Presented>,
    ) -> Result<Option<HeaderValue>, SessionError> {
        let change = {
            let state = session.state();
            if !state.is_changed || state.unavailable.is_some() {
                return Ok(None);
            }
            Change {
                values: state.values.clone(),
                is_renewed: state.is_renewed,
                is_kept: state.is_kept,
            }
        };

        let old = presented.map(|presented| presented.content.id);
        if change.values.is_empty() {
            // If another request has ended or renewed the session, the browser's cookie is no
            // longer the one to remove; a log-out removes it in any case.
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
                Some(id) => {
                    session.state().place = self.place(Some(key(&id)));
                    Content::new(id, max_age, None)
                }
                None => return Ok(None),
            },
        };

        cookie::set(&content, &self.config, &self.keys)
            .map(Some)
            .ok_or_else(no_random)
    }
}

/// A session with the changes of a request.
struct Change {
    values: Map<String, Value>,
    is_renewed: bool,
    /// Whether the store had it when the request arrived.
    is_kept: bool,
}

impl Change {
    /// Saves the session. Returns its current identifier, or `None` if the session has ended in the
    /// meantime.
    async fn store(
        self,
        store: &dyn DynStore,
        old: Option<String>,
        max_age: Duration,
    ) -> Result<Option<String>, SessionError> {
        let json = Value::Object(self.values).to_string().into_bytes();
        match old {
            Some(old) if !self.is_renewed => Ok(store
                .replace(&key(&old), json, max_age)
                .await?
                .then_some(old)),
            old => {
                // The old identifier ends before the new one begins: if saving fails, the user logs
                // in again, but a copied cookie opens nothing. Of two requests that renew a
                // session, the first one wins.
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

/// An unguessable identifier.
fn new_id() -> Result<String, SessionError> {
    Ok(URL_SAFE_NO_PAD.encode(random::<32>().ok_or_else(no_random)?))
}

fn no_random() -> SessionError {
    SessionError::Unavailable("the system gives no random bytes".to_owned())
}

/// The key of a session in a store. The identifier cannot be derived from it, so read access to the
/// store does not open sessions.
fn key(id: &str) -> String {
    hex::encode(Sha256::digest(id))
}

impl<S> Layer<S> for SessionLayer {
    type Service = SessionService<S>;

    fn layer(&self, inner: S) -> SessionService<S> {
        SessionService {
            inner,
            layer: self.clone(),
        }
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
        // Calls the service that is ready, and leaves its clone in its place.
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

                    // `Set-Cookie` does not keep caches from storing the response, and with it the
                    // session (RFC 9111, section 7.3).
                    let no_store = HeaderValue::from_static("no-store");
                    response
                        .headers_mut()
                        .entry(header::CACHE_CONTROL)
                        .or_insert(no_store);
                }
                Err(error) => response = not_kept(&error),
            }

            Ok(response)
        })
    }
}

/// The response to a request whose session could not be saved; the effects of the request may have
/// been committed.
fn not_kept(error: &SessionError) -> Response<Body> {
    tracing::warn!(%error, "cannot save a session");
    let message = "the request was answered, but its session could not be kept";
    let extensions = json!({ "code": ErrorCode::ServiceUnavailable.as_str() });
    let body = json!({ "errors": [{ "message": message, "extensions": extensions }] });
    (StatusCode::SERVICE_UNAVAILABLE, axum::Json(body)).into_response()
}

impl std::fmt::Debug for SessionLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionLayer")
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}
