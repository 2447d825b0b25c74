//! The parts of a request, as its transport passes them to the engine, and its optional hook.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method};
use serde_json::Value;

use super::decision::{Decision, FieldLimit, Spent};
use super::transport::{AllowedOperations, Transport, is_query};
use svc_core::schema::OperationKind;
use svc_postgres::RequestQuota;
use svc_telemetry::security_log::{Clients, SecurityEvent, SecurityEventType};

/// A part of a request.
#[derive(Debug, Clone)]
pub enum Part<T> {
    /// A part that belongs to this request alone.
    Own(T),
    /// The part of the request that opened the connection.
    Shared(Arc<T>),
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Own(part) => part,
            Self::Shared(part) => part,
        }
    }
}

impl<T: Clone> Part<T> {
    /// Returns the part for modification, copying it if it is shared.
    #[cfg(feature = "upload")]
    pub fn to_mut(&mut self) -> &mut T {
        match self {
            Self::Own(part) => part,
            Self::Shared(part) => Arc::make_mut(part),
        }
    }
}

/// A hook of one request, or of the operations of one connection. It is called before the hooks of
/// the application.
pub trait RequestHook: Send + Sync + 'static {
    /// Called when the request has arrived; only its head has been read.
    ///
    /// # Errors
    /// The request's error: the rest of the request is not read.
    fn before_parsing<'a>(&'a self, request: &'a RequestParts) -> Decision<'a>;

    /// Called for each further request of a batch, after [`before_parsing`](Self::before_parsing)
    /// for the first one.
    ///
    /// # Errors
    /// The error of that request alone.
    fn before_next<'a>(&'a self, request: &'a RequestParts) -> Decision<'a>;

    /// Called when the operation is valid, planned, and within the limits of complexity.
    ///
    /// # Errors
    /// The request's error: no field runs.
    fn after_preparing<'a>(&'a self, operation: PreparedOperation<'a>) -> Decision<'a>;

    /// Whether it needs the complexity that operations have used.
    fn is_metering(&self) -> bool;

    /// Called once for each admitted operation, when it has ended or was dropped. Returns an entry
    /// for the `extensions` of the response.
    fn after_running(&self, spent: Spent) -> Option<(&'static str, Value)>;

    /// Returns the hook of an operation on the connection that the request has opened.
    #[cfg(feature = "websocket")]
    fn for_operation(&self) -> Arc<dyn RequestHook>;
}

/// An operation that may run.
#[derive(Clone, Copy)]
pub struct PreparedOperation<'a> {
    pub request: &'a RequestParts,
    pub kind: OperationKind,
    /// Finds the name in the document.
    pub name: &'a (dyn Fn() -> Option<&'a str> + Send + Sync),
    pub complexity: u64,
    /// The limits of its root fields, each limit once.
    pub limits: &'a [FieldLimit<'a>],
}

/// The hook of a request, inserted into its extensions by a layer around the endpoint.
#[derive(Clone)]
pub struct Hooked(pub Arc<dyn RequestHook>);

impl Hooked {
    /// Returns the hook in the extensions, if a layer has inserted one.
    pub fn of(extensions: &Extensions) -> Option<Arc<dyn RequestHook>> {
        extensions.get().map(|Self(hook)| hook.clone())
    }
}

/// A request without its document.
pub struct RequestParts {
    pub headers: Part<HeaderMap>,
    /// Values that layers around the endpoint have inserted.
    pub extensions: Part<Extensions>,
    /// The request's own hook, which is looked up once.
    pub hook: Option<Arc<dyn RequestHook>>,
    /// The identity according to the token.
    #[cfg(feature = "auth")]
    pub identity: svc_auth::Identity,
    pub transport: Transport,
    pub allowed: AllowedOperations,
    /// Whether the request came with credentials that have been removed from its headers.
    pub had_credentials: bool,
    /// The share of the pool that the operations of a batch, or of a WebSocket, use together.
    pub share: Option<Arc<RequestQuota>>,
    /// The start of the request's time, as a beat of the deadlines.
    started: AtomicU32,
}

impl RequestParts {
    /// Creates the parts of an HTTP request.
    pub fn of_http(parts: Parts, transport: Transport) -> Self {
        let hook = Hooked::of(&parts.extensions);
        Self::hooked(parts, transport, hook)
    }

    /// Creates the parts of an HTTP request with a hook that has already been looked up.
    pub fn hooked(parts: Parts, transport: Transport, hook: Option<Arc<dyn RequestHook>>) -> Self {
        let allowed = match transport {
            Transport::HttpGet | Transport::HttpQuery => AllowedOperations::Queries,
            Transport::HttpPost => AllowedOperations::All,
            Transport::RustEndpoint => AllowedOperations::WithoutCode,
            Transport::EventStream if parts.method == Method::GET || is_query(&parts.method) => {
                AllowedOperations::QueriesAndSubscriptions
            }
            Transport::EventStream | Transport::WebSocket => AllowedOperations::WithSubscriptions,
        };

        Self {
            headers: Part::Own(parts.headers),
            extensions: Part::Own(parts.extensions),
            hook,
            #[cfg(feature = "auth")]
            identity: svc_auth::Identity::default(),
            transport,
            allowed,
            had_credentials: false,
            share: None,
            started: AtomicU32::new(0),
        }
    }

    /// Prepares the parts for a long-lived connection, whose operations share headers and
    /// extensions. Headers are copied out of the buffer that the whole head of the request was read
    /// into, which would otherwise be retained as long as one of them is.
    pub fn detach(&mut self) {
        // The clone has no capacity for the headers of the handshake, which were removed.
        let mut headers = HeaderMap::clone(&self.headers);
        for value in headers.values_mut() {
            if let Ok(mut copy) = HeaderValue::from_bytes(value.as_bytes()) {
                // A copy from bytes is not sensitive, and `Debug` would show the token in it.
                copy.set_sensitive(value.is_sensitive());
                *value = copy;
            }
        }

        self.headers = Part::Shared(Arc::new(headers));

        if let Part::Own(extensions) = &mut self.extensions {
            self.extensions = Part::Shared(Arc::new(std::mem::take(extensions)));
        }
    }

    /// Returns the size of the headers in bytes.
    pub fn header_bytes(&self) -> usize {
        self.headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum()
    }

    /// Returns the parts of another operation of the same client, in the same batch or on the same
    /// connection.
    pub fn of_operation(&self) -> Self {
        Self {
            headers: self.headers.clone(),
            extensions: self.extensions.clone(),
            hook: self.hook.clone(),
            #[cfg(feature = "auth")]
            identity: self.identity.clone(),
            transport: self.transport,
            allowed: self.allowed,
            had_credentials: self.had_credentials,
            share: self.share.clone(),
            started: AtomicU32::new(0),
        }
    }

    /// Replaces the hook with one for an operation of a connection, if the request that opened the
    /// connection has one.
    #[cfg(feature = "websocket")]
    pub fn renew_hook(&mut self) {
        self.hook = self.hook.as_ref().map(|own| own.for_operation());
    }

    /// Returns the start of the request's time, as a beat of
    /// [`RequestDeadlines`](crate::shared_state::RequestDeadlines).
    pub(crate) fn started(&self) -> u32 {
        self.started.load(Ordering::Relaxed)
    }

    /// Restarts the request's time at another beat, as for each event of a subscription.
    pub(crate) fn restart(&self, beat: u32) {
        self.started.store(beat, Ordering::Relaxed);
    }

    /// Returns a header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns a value of the extensions.
    pub fn extension<T: Any + Clone + Send + Sync>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// Returns the user: that of a layer around the endpoint, or else the token's.
    #[cfg(feature = "auth")]
    pub fn user(&self) -> Option<&svc_auth::UserContext> {
        self.extension().or_else(|| self.identity.user())
    }

    /// Returns the identifier of the user.
    pub fn user_id(&self) -> Option<&str> {
        #[cfg(feature = "auth")]
        return self.user().map(|user| user.user_id.as_str());
        #[cfg(not(feature = "auth"))]
        None
    }

    /// Returns the error for a missing user.
    #[cfg(feature = "auth")]
    pub(crate) fn unauthenticated(&self) -> svc_core::Error {
        let error = svc_core::Error::new(
            svc_core::ErrorCode::Unauthenticated,
            "authentication required",
        );
        match self.identity.refusal() {
            Some(refusal) => error.with_extension("reason", refusal.as_str()),
            None => error,
        }
    }

    /// Creates a security event of this request.
    pub fn security_event(
        &self,
        clients: &Clients,
        event_type: SecurityEventType,
    ) -> SecurityEvent {
        let event = clients.event(event_type, &self.headers, &self.extensions);
        #[cfg(feature = "auth")]
        let event = match self.user() {
            Some(user) => {
                let mut event = event.user_id(&user.user_id);
                event.user_email = user.email.clone();
                event
            }
            None => event,
        };

        event
    }

    /// Returns the address of the peer of the connection.
    pub(crate) fn peer_addr(&self) -> Option<SocketAddr> {
        self.extension::<ConnectInfo<SocketAddr>>()
            .map(|info| info.0)
    }
}

/// Omits the hook.
impl fmt::Debug for RequestParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestParts")
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}
