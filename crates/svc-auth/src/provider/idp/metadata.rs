//! The addresses of an identity provider.

use serde_json::Value;

use super::client::HttpClient;
use super::error::FetchError;
use super::{Endpoint, IdpError};

/// The location of the keys.
#[derive(Debug, Clone)]
pub(super) enum Metadata {
    /// The address is configured.
    Known(Endpoint),
    /// The address comes from the issuer's metadata: OpenID Connect Discovery 1.0, section 4.
    Discovered { issuer: String, at: Endpoint },
}

impl Metadata {
    /// The metadata of an issuer.
    pub(super) fn of_issuer(issuer: &str) -> Result<Self, IdpError> {
        let at = Endpoint::parse(&format!(
            "{}/.well-known/openid-configuration",
            issuer.trim_end_matches('/')
        ))?;
        Ok(Self::Discovered {
            issuer: issuer.to_owned(),
            at,
        })
    }

    /// Whether the connection uses TLS.
    pub(super) fn is_encrypted(&self) -> bool {
        match self {
            Self::Known(at) | Self::Discovered { at, .. } => at.is_encrypted(),
        }
    }

    /// The address of the keys.
    pub(super) async fn keys(&self, client: &HttpClient) -> Result<Endpoint, FetchError> {
        let (issuer, at) = match self {
            Self::Known(keys) => return Ok(keys.clone()),
            Self::Discovered { issuer, at } => (issuer, at),
        };

        let metadata = client.get(at, None).await?;
        let text = |name: &str| metadata.get(name).and_then(Value::as_str);

        // Another tenant of the same host could otherwise supply its keys (OpenID Connect Discovery
        // 1.0, section 4.3).
        if text("issuer") != Some(issuer) {
            return Err(FetchError::Unexpected(
                at.clone(),
                "the metadata of the issuer that is configured",
            ));
        }

        let keys = text("jwks_uri").and_then(|keys| Endpoint::parse(keys).ok());

        // Metadata received over TLS must not lead to a plain port of this machine, where another
        // process may listen.
        let keys = keys.filter(|keys| keys.is_encrypted() || !at.is_encrypted());

        keys.ok_or_else(|| {
            FetchError::Unexpected(
                at.clone(),
                "metadata with a `jwks_uri` that begins with https://",
            )
        })
    }
}
