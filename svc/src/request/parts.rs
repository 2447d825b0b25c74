//! The parts of a request, as its transport hands them to the engine.

use std::any::Any;
use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

/// The way on which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// `GET /graphql`.
    HttpGet,
    /// `POST /graphql`.
    HttpPost,
    /// `POST /graphql/rust`.
    RustEndpoint,
}

/// The operations that a transport allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedOperations {
    /// Queries and mutations.
    All,
    /// Queries, as GET changes nothing.
    Queries,
    /// Operations that need no function of the program.
    WithoutCode,
}

/// A request without its document.
#[derive(Debug)]
pub(crate) struct RequestParts {
    pub(crate) headers: HeaderMap,
    /// Values that layers around the endpoint have put there.
    pub(crate) extensions: Extensions,
    /// The identity that the token says.
    #[cfg(feature = "auth")]
    pub(crate) identity: crate::auth::Identity,
    pub(crate) transport: Transport,
    pub(crate) allowed: AllowedOperations,
    /// The beat of [`RequestDeadlines`](crate::application::RequestDeadlines) from which the request's time counts.
    pub(crate) started: u32,
}

impl RequestParts {
    /// The parts of an HTTP request.
    pub(crate) fn of_http(parts: Parts, transport: Transport) -> Self {
        let allowed = match transport {
            Transport::HttpGet => AllowedOperations::Queries,
            Transport::HttpPost => AllowedOperations::All,
            Transport::RustEndpoint => AllowedOperations::WithoutCode,
        };
        Self {
            headers: parts.headers,
            extensions: parts.extensions,
            #[cfg(feature = "auth")]
            identity: crate::auth::Identity::default(),
            transport,
            allowed,
            started: 0,
        }
    }

    /// A header's text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A value of the extensions.
    pub(crate) fn extension<T: Any + Clone + Send + Sync>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// The user: that of a layer around the endpoint, or else the token's.
    #[cfg(feature = "auth")]
    pub(crate) fn user(&self) -> Option<&crate::auth::UserContext> {
        self.extension().or_else(|| self.identity.user())
    }

    /// The error of what needs a user, where there is none.
    #[cfg(feature = "auth")]
    pub(crate) fn unauthenticated(&self) -> crate::Error {
        let error = crate::Error::new(crate::ErrorCode::Unauthenticated, "authentication required");
        match self.identity.refusal() {
            Some(refusal) => error.with_extension("reason", refusal.as_str()),
            None => error,
        }
    }

    /// The other end of the connection.
    pub(crate) fn peer_addr(&self) -> Option<SocketAddr> {
        self.extension::<ConnectInfo<SocketAddr>>().map(|info| info.0)
    }
}
