//! The settings of an identity provider. They are there in every build, as those of
//! [`AuthConfig`](super::AuthConfig).

use std::path::PathBuf;
use std::time::Duration;

use super::token::{ALGORITHMS, TokenAlgorithm};
use svc_core::settings::{
    BETWEEN, Flag, Kind, Maybe, Path, Seconds, Secret, Text, items, settings,
};

settings! {
    /// The settings of an identity provider; the field `idp` of `SvcConfig`.
    ///
    /// Either `domain` or `issuer` is set. Of an issuer everything else is read from its metadata
    /// (OpenID Connect Discovery 1.0).
    pub struct IdpConfig {
        /// The domain of a tenant: tokens name the issuer `https://<domain>/`, and the keys are at
        /// `https://<domain>/.well-known/jwks.json`.
        domain: Option<String> = None, ["SVC_IDP_DOMAIN"], Maybe(Text);
        /// The issuer as tokens name it. Without a domain, its metadata says where the keys are.
        issuer: Option<String> = None, ["SVC_IDP_ISSUER"], Maybe(Text);
        /// The audience that tokens must name.
        api_identifier: Option<String> = None, ["SVC_IDP_API_IDENTIFIER"], Maybe(Text);
        /// The algorithms that tokens may be signed with.
        algorithms: Vec<TokenAlgorithm> = vec![TokenAlgorithm::Rs256], ["SVC_IDP_ALGORITHMS"], Algorithms;
        /// Whether keys are kept between tokens.
        cache_jwks: bool = true, ["SVC_IDP_CACHE_JWKS"], Flag;
        /// The time for which keys are kept.
        key_lifetime: Duration = Duration::from_secs(3_600), ["SVC_IDP_KEY_LIFETIME"], Seconds(1..=86_400);
        /// The shortest time between two fetches of the keys for the sake of a key that is not
        /// known.
        key_refetch_interval: Duration = Duration::from_secs(30), ["SVC_IDP_KEY_REFETCH_INTERVAL"], Seconds(1..=3_600);
        /// The client that the service is for the identity provider.
        client_id: Option<String> = None, ["SVC_IDP_CLIENT_ID"], Maybe(Text);
        /// The secret of that client.
        client_secret: Option<String> = None, ["SVC_IDP_CLIENT_SECRET"], Secret("text");
        /// A file of certificates (PEM) that may sign the identity provider's, in place of the
        /// public authorities.
        root_certificates: Option<PathBuf> = None, ["SVC_IDP_ROOT_CERTIFICATES"], Maybe(Path);
        /// The claim of the roles, as a JSON pointer; without one,
        /// `https://<api_identifier>/roles`.
        roles_claim: Option<String> = None, ["SVC_IDP_ROLES_CLAIM"], Maybe(Text);
        /// The claim of the permissions, as a JSON pointer; without one, `permissions` or else
        /// `scope`.
        permissions_claim: Option<String> = None, ["SVC_IDP_PERMISSIONS_CLAIM"], Maybe(Text);
        /// The claim of the tenant, as a JSON pointer; it becomes the user's metadata `tenant`.
        tenant_claim: Option<String> = None, ["SVC_IDP_TENANT_CLAIM"], Maybe(Text);
        /// The claim of the audience, as a JSON pointer.
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
