//! Errors of identity providers and of other services.

use std::error::Error;

use super::endpoint::{BadEndpoint, Endpoint};
use crate::{AuthError, TokenAlgorithm};

/// Why a provider that depends on another service cannot be created. It never contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdpError {
    /// The issuer of the tokens is not configured.
    #[error("there is neither a domain nor an issuer; set SVC_IDP_DOMAIN or SVC_IDP_ISSUER")]
    NoIssuer,
    /// The audience of the tokens is not configured.
    #[error(
        "there is no audience, so tokens for other services would be taken; set SVC_IDP_API_IDENTIFIER to the \
         identifier of this API"
    )]
    NoAudience,
    /// An address cannot be used.
    #[error("{0} {1}")]
    Address(String, &'static str),
    /// The algorithm takes a secret, but a key set contains public keys.
    #[error(
        "{0} takes a secret, and an identity provider publishes its keys; set SVC_IDP_ALGORITHMS to others"
    )]
    Symmetric(TokenAlgorithm),
    /// The name of a claim is not a JSON pointer.
    #[error("{0} must be a JSON pointer to a claim, such as /realm_access/roles")]
    Pointer(String),
    /// The root certificates cannot be used.
    #[error("the root certificates cannot be used: {0}")]
    RootCertificates(String),
    /// There is a client secret without a client.
    #[error("there is a secret without a client; set SVC_IDP_CLIENT_ID too")]
    NoClient,
}

#[doc(hidden)]
impl From<BadEndpoint> for IdpError {
    fn from(BadEndpoint(text, must): BadEndpoint) -> Self {
        Self::Address(text, must)
    }
}

/// Why a request to another service failed. It never contains data that was sent or received.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("{0} cannot be reached")]
    Unreachable(Endpoint, #[source] Box<dyn Error + Send + Sync>),
    #[error("{0} has not answered within {1} seconds")]
    Late(Endpoint, u64),
    #[error("{0} answers with more than {1} bytes")]
    Long(Endpoint, usize),
    #[error("{0} answers with status {1}")]
    Status(Endpoint, u16),
    #[error("{0} redirects to another host, or too often")]
    Redirect(Endpoint),
    #[error("{0} answers with something other than {1}")]
    Unexpected(Endpoint, &'static str),
}

#[doc(hidden)]
impl From<FetchError> for AuthError {
    fn from(error: FetchError) -> Self {
        Self::unavailable(error)
    }
}
