//! The settings of authentication. They exist in every build, so that a build without the feature
//! refuses to start if authentication is configured, and does not serve without it.

use std::str::FromStr;
use std::time::Duration;

use super::token::{ALGORITHMS, MAX_LEEWAY, TokenAlgorithm};
use svc_core::settings::{Count, Flag, Maybe, Parsed, Seconds, Secret, Text, Whether, settings};

/// The provider that verifies tokens, as the settings name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AuthProviderKind {
    /// No provider, except one that the program sets.
    #[default]
    None,
    /// An identity provider with a key set.
    Idp,
    /// Tokens signed with your own secret or key.
    Custom,
    /// Accounts in the service's database.
    Native,
}

impl AuthProviderKind {
    const NAMES: [(Self, &str); 4] = [
        (Self::None, "none"),
        (Self::Idp, "idp"),
        (Self::Custom, "custom"),
        (Self::Native, "native"),
    ];
}

impl FromStr for AuthProviderKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.to_ascii_lowercase();
        Self::NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(known, _)| *known)
            .ok_or(())
    }
}

impl std::fmt::Display for AuthProviderKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            Self::NAMES
                .iter()
                .find(|(known, _)| known == self)
                .map_or("", |(_, name)| name),
        )
    }
}

settings! {
    /// The settings of authentication; the field `auth` of `SvcConfig`.
    pub struct AuthConfig {
        /// Authenticates requests. If true without a provider, the service does not start; if
        /// false, no request has a user.
        enabled: Option<bool> = None, ["SVC_AUTH_ENABLED"], Whether("true if there is a provider");
        /// Provider that verifies tokens.
        provider: AuthProviderKind = AuthProviderKind::None, ["SVC_AUTH_PROVIDER"],
            Parsed("none, idp, custom or native");
        /// Rejects all requests without a user with 401.
        required: bool = false, ["SVC_AUTH_REQUIRED"], Flag;
        /// Secret that signs tokens, for HS256, HS384 and HS512; at least 32 bytes.
        secret_key: Option<String> = None, ["SVC_AUTH_SECRET_KEY"], Secret("text");
        /// Public key that verifies tokens, for the other algorithms, as PEM.
        public_key: Option<String> = None, ["SVC_AUTH_PUBLIC_KEY"], Maybe(Text);
        /// Signature algorithm of tokens, for the custom provider.
        algorithm: TokenAlgorithm = TokenAlgorithm::Hs256, ["SVC_AUTH_ALGORITHM"], Parsed(ALGORITHMS);
        /// Issuer (`iss`) that tokens must have; native accounts set it in their tokens.
        issuer: Option<String> = None, ["SVC_AUTH_ISSUER"], Maybe(Text);
        /// Audience (`aud`) that tokens must have; native accounts set it in their tokens.
        audience: Option<String> = None, ["SVC_AUTH_AUDIENCE"], Maybe(Text);
        /// Clock skew tolerated when checking `exp` and `nbf`.
        leeway: Duration = Duration::ZERO, ["SVC_AUTH_LEEWAY"], Seconds(0..=MAX_LEEWAY.as_secs());
        /// Password for HTTP basic authentication in front of `/graphql`, including GraphiQL; if
        /// unset, there is none.
        dev_password: Option<String> = None, ["SVC_DEV_AUTH_PASSWORD"], Secret("text");
        /// User name for HTTP basic authentication.
        dev_username: String = "admin".to_owned(), ["SVC_DEV_AUTH_USERNAME"], Text;
        /// Maximum size of a token, in bytes.
        token_size: u32 = 8 << 10, ["SVC_AUTH_TOKEN_SIZE"], Count(256..=65_536, "bytes");
        /// Maximum size of the cache of verified tokens, in MiB. A cached token is not verified
        /// again; 0 disables the cache.
        token_cache_size: u64 = 16, ["SVC_AUTH_TOKEN_CACHE_SIZE"], Count(0..=4_096, "MiB");
        /// Maximum time to wait for a provider or a revocation store. A request that waits longer
        /// gets 503.
        timeout: Duration = Duration::from_secs(10), ["SVC_AUTH_TIMEOUT"], Seconds(1..=300);
    }
}
