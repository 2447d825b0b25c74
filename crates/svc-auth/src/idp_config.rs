//! The settings of an identity provider. Like [`AuthConfig`](super::AuthConfig), they exist in
//! every build.

use std::path::PathBuf;
use std::time::Duration;

use super::token::{ALGORITHMS, TokenAlgorithm};
use svc_core::settings::{
    BETWEEN, Flag, Kind, Maybe, Path, Seconds, Secret, Text, items, settings,
};

settings! {
    /// The settings of an identity provider; the field `idp` of `SvcConfig`.
    ///
    /// Set either `domain` or `issuer`. For an issuer, everything else is read from its metadata
    /// (OpenID Connect Discovery 1.0).
    pub struct IdpConfig {
        /// Domain of the tenant: tokens have the issuer `https://<domain>/`, and the keys are at
        /// `https://<domain>/.well-known/jwks.json`.
        domain: Option<String> = None, ["SVC_IDP_DOMAIN"], Maybe(Text);
        /// Issuer that tokens must have. Without a domain, its metadata contains the location of
        /// the keys.
        issuer: Option<String> = None, ["SVC_IDP_ISSUER"], Maybe(Text);
        /// Audience that tokens must have.
        api_identifier: Option<String> = None, ["SVC_IDP_API_IDENTIFIER"], Maybe(Text);
        /// Signature algorithms that are accepted.
        algorithms: Vec<TokenAlgorithm> = vec![TokenAlgorithm::Rs256], ["SVC_IDP_ALGORITHMS"], Algorithms;
        /// Caches the provider's keys.
        cache_jwks: bool = true, ["SVC_IDP_CACHE_JWKS"], Flag;
        /// Time for which keys are cached.
        key_lifetime: Duration = Duration::from_secs(3_600), ["SVC_IDP_KEY_LIFETIME"], Seconds(1..=86_400);
        /// Minimum interval between fetches of the keys for tokens with an unknown key.
        key_refetch_interval: Duration = Duration::from_secs(30), ["SVC_IDP_KEY_REFETCH_INTERVAL"], Seconds(1..=3_600);
        /// Client ID of the service at the identity provider.
        client_id: Option<String> = None, ["SVC_IDP_CLIENT_ID"], Maybe(Text);
        /// Secret of that client.
        client_secret: Option<String> = None, ["SVC_IDP_CLIENT_SECRET"], Secret("text");
        /// PEM file of the certificate authorities to trust for the identity provider, instead of
        /// the public ones.
        root_certificates: Option<PathBuf> = None, ["SVC_IDP_ROOT_CERTIFICATES"], Maybe(Path);
        /// Claim of the roles, as a JSON pointer; by default `https://<api_identifier>/roles`.
        roles_claim: Option<String> = None, ["SVC_IDP_ROLES_CLAIM"], Maybe(Text);
        /// Claim of the permissions, as a JSON pointer; by default `permissions`, or else `scope`.
        permissions_claim: Option<String> = None, ["SVC_IDP_PERMISSIONS_CLAIM"], Maybe(Text);
        /// Claim of the tenant, as a JSON pointer; becomes the user's metadata `tenant`.
        tenant_claim: Option<String> = None, ["SVC_IDP_TENANT_CLAIM"], Maybe(Text);
        /// Claim of the audience, as a JSON pointer.
        audience_claim: String = "/aud".to_owned(), ["SVC_IDP_AUDIENCE_CLAIM"], Text;
    }
}

/// A JSON list of algorithms.
struct Algorithms;

impl Kind<Vec<TokenAlgorithm>> for Algorithms {
    fn parse(&self, text: &str) -> Result<Vec<TokenAlgorithm>, String> {
        let names = items(text);
        let read = |names: Vec<String>| {
            names
                .iter()
                .map(|name| name.parse().ok())
                .collect::<Option<Vec<_>>>()
        };

        let algorithms = names
            .and_then(read)
            .filter(|algorithms| !algorithms.is_empty());

        algorithms.ok_or_else(|| format!("it must be {}", self.allowed()))
    }
    fn allowed(&self) -> String {
        format!("a list of {ALGORITHMS}, such as RS256 or [\"RS256\"], {BETWEEN}")
    }
    fn shown(&self, value: &Vec<TokenAlgorithm>) -> String {
        let names = value.iter().map(|algorithm| format!("\"{algorithm}\""));
        format!("[{}]", names.collect::<Vec<_>>().join(", "))
    }
    fn debugged(&self, value: &Vec<TokenAlgorithm>) -> String {
        format!("{value:?}")
    }
}
