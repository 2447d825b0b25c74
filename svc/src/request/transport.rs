//! The way on which a request came, and the operations that it allows.

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
    /// A WebSocket at `/graphql`.
    WebSocket,
    /// `GET` or `POST` of `/graphql` with an answer in parts: server-sent events or multipart.
    EventStream,
}

/// The operations that a transport allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedOperations {
    /// Queries and mutations.
    All,
    /// Queries, as GET changes nothing.
    Queries,
    /// All kinds of operations.
    WithSubscriptions,
    /// Queries and subscriptions: a stream that was asked for with GET changes nothing either.
    QueriesAndSubscriptions,
    /// Operations that need no function of the program.
    WithoutCode,
}

impl AllowedOperations {
    /// Whether mutations may be sent.
    pub(crate) fn mutations(self) -> bool {
        !matches!(self, Self::Queries | Self::QueriesAndSubscriptions)
    }

    /// Whether subscriptions may be sent.
    pub(crate) fn subscriptions(self) -> bool {
        matches!(self, Self::WithSubscriptions | Self::QueriesAndSubscriptions)
    }
}
