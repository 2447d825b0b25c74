//! The codes of errors.

/// The values of `extensions.code` that svc itself uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The field needs a user and there is none.
    Unauthenticated,
    /// The user may not do this.
    Forbidden,
    /// A field's authorizer failed, or a gated field was denied on a bypass path.
    FieldAuthorizationError,
    /// Too many requests.
    RateLimited,
    /// The document is not GraphQL.
    GraphqlParseFailed,
    /// The document breaks a validation rule.
    GraphqlValidationFailed,
    /// A variable or argument has a wrong value.
    BadUserInput,
    /// The requested object does not exist.
    NotFound,
    /// The change clashes with what is there, such as a name that is taken.
    Conflict,
    /// The request itself is malformed.
    BadRequest,
    /// `operationName` is missing or names no operation.
    OperationResolutionFailure,
    /// The persisted query was not found; send its text.
    PersistedQueryNotFound,
    /// Persisted queries are switched off.
    PersistedQueryNotSupported,
    /// The document is nested too deeply.
    QueryTooDeep,
    /// The document costs too much.
    QueryTooComplex,
    /// The document or the request is too large.
    QueryTooLarge,
    /// A filter of the caller and one of the policy name the same column.
    FilterConflict,
    /// The request, or a statement of it, took too long.
    Timeout,
    /// Something the service needs is unreachable.
    ServiceUnavailable,
    /// A cross-site request was rejected.
    CsrfProtectionFailed,
    /// A mutation is done, but its result could not be read. It must not be sent again.
    NotRead,
    /// A mutation was not done, because of another field of the operation.
    NotDone,
    /// The outcome of a mutation is uncertain. It must not be sent again unless it can be done
    /// twice.
    OutcomeUnknown,
    /// The client reads events of a subscription more slowly than they arrive.
    SubscriptionTooSlow,
    /// Everything that is not the client's fault.
    InternalServerError,
}

impl ErrorCode {
    /// Returns the code as clients see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::FieldAuthorizationError => "FIELD_AUTHORIZATION_ERROR",
            Self::RateLimited => "RATE_LIMITED",
            Self::GraphqlParseFailed => "GRAPHQL_PARSE_FAILED",
            Self::GraphqlValidationFailed => "GRAPHQL_VALIDATION_FAILED",
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::NotFound => "NOT_FOUND",
            Self::Conflict => "CONFLICT",
            Self::BadRequest => "BAD_REQUEST",
            Self::OperationResolutionFailure => "OPERATION_RESOLUTION_FAILURE",
            Self::PersistedQueryNotFound => "PERSISTED_QUERY_NOT_FOUND",
            Self::PersistedQueryNotSupported => "PERSISTED_QUERY_NOT_SUPPORTED",
            Self::QueryTooDeep => "QUERY_TOO_DEEP",
            Self::QueryTooComplex => "QUERY_TOO_COMPLEX",
            Self::QueryTooLarge => "QUERY_TOO_LARGE",
            Self::FilterConflict => "FILTER_CONFLICT",
            Self::Timeout => "TIMEOUT",
            Self::ServiceUnavailable => "SERVICE_UNAVAILABLE",
            Self::CsrfProtectionFailed => "CSRF_PROTECTION_FAILED",
            Self::NotRead => "NOT_READ",
            Self::NotDone => "NOT_DONE",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Self::SubscriptionTooSlow => "SUBSCRIPTION_TOO_SLOW",
            Self::InternalServerError => "INTERNAL_SERVER_ERROR",
        }
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
