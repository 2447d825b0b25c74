//! The transports of requests, and the operations that they allow.

use axum::http::Method;

/// The transport of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// `GET /graphql`.
    HttpGet,
    /// `POST /graphql`.
    HttpPost,
    /// `QUERY /graphql` (RFC 10008): a query in the body of a safe request.
    HttpQuery,
    /// `POST /graphql/rust`.
    RustEndpoint,
    /// A WebSocket at `/graphql`.
    WebSocket,
    /// `GET`, `POST` or `QUERY` of `/graphql` with an incremental response: server-sent events or
    /// multipart.
    EventStream,
}

/// The operations that a transport allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedOperations {
    /// Queries and mutations.
    All,
    /// Queries, as GET and QUERY must not change anything.
    Queries,
    /// All kinds of operations.
    WithSubscriptions,
    /// Queries and subscriptions: a stream opened with GET or QUERY must not change anything
    /// either.
    QueriesAndSubscriptions,
    /// Operations that call no function of the program.
    WithoutCode,
}

impl AllowedOperations {
    /// Whether mutations are allowed.
    pub(crate) fn mutations(self) -> bool {
        !matches!(self, Self::Queries | Self::QueriesAndSubscriptions)
    }

    /// Whether subscriptions are allowed.
    pub(crate) fn subscriptions(self) -> bool {
        matches!(
            self,
            Self::WithSubscriptions | Self::QueriesAndSubscriptions
        )
    }
}

/// Whether a method is `QUERY` (RFC 10008): it has a body like `POST`, and is safe like `GET`.
pub fn is_query(method: &Method) -> bool {
    // Older versions of `http` have no constant for it.
    method.as_str() == "QUERY"
}
