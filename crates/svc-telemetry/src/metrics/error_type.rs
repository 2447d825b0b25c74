//! The classes of errors, by code.

use svc_core::ErrorCode as Code;

/// The codes of each class. Any other code is an error of the application.
const CLASSES: [(&str, &[Code]); 8] = [
    ("authentication", &[Code::Unauthenticated]),
    (
        "authorization",
        &[
            Code::Forbidden,
            Code::FieldAuthorizationError,
            Code::FilterConflict,
            Code::CsrfProtectionFailed,
        ],
    ),
    ("rate_limit", &[Code::RateLimited]),
    (
        "limit",
        &[
            Code::QueryTooDeep,
            Code::QueryTooComplex,
            Code::QueryTooLarge,
            Code::SubscriptionTooSlow,
        ],
    ),
    ("timeout", &[Code::Timeout]),
    ("unavailable", &[Code::ServiceUnavailable]),
    (
        "internal",
        &[
            Code::InternalServerError,
            Code::NotRead,
            Code::OutcomeUnknown,
        ],
    ),
    (
        "request",
        &[
            Code::GraphqlParseFailed,
            Code::GraphqlValidationFailed,
            Code::BadUserInput,
            Code::BadRequest,
            Code::OperationResolutionFailure,
            Code::PersistedQueryNotFound,
            Code::PersistedQueryNotSupported,
        ],
    ),
];

/// Returns the class of an error with this code.
pub fn error_type(code: &str) -> &'static str {
    let has = |codes: &[Code]| codes.iter().any(|known| known.as_str() == code);
    CLASSES
        .iter()
        .find(|(_, codes)| has(codes))
        .map_or("application", |(class, _)| class)
}
