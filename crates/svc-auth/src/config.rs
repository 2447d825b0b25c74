//! The settings of authentication. They are there in every build, so that one without the feature
//! refuses to start where it is asked for, and does not serve without.

use std::str::FromStr;
use std::time::Duration;

use super::token::{ALGORITHMS, MAX_LEEWAY, TokenAlgorithm};
use svc_core::settings::{Count, Flag, Maybe, Parsed, Seconds, Secret, Text, Whether, settings};

/// The provider that verifies tokens, as the settings name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AuthProviderKind {
    /// None but the program's own.
    #[default]
    None,
    /// An identity provider with a key set.
    Idp,
    /// Tokens that are signed with a secret or a key of one's own.
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
        /// Whether requests are authenticated. True without a provider stops the start; false
        /// leaves every request without a user.
        enabled: Option<bool> = None, ["SVC_AUTH_ENABLED"], Whether("true where there is a provider");
        /// The provider that verifies tokens.
        provider: AuthProviderKind = AuthProviderKind::None, ["SVC_AUTH_PROVIDER"],
            Parsed("none, idp, custom or native");
        /// Whether requests without a user are refused with 401, whatever they ask for.
        required: bool = false, ["SVC_AUTH_REQUIRED"], Flag;
        /// The secret that tokens are signed with, for HS256, HS384 and HS512; at least 32 bytes.
        secret_key: Option<String> = None, ["SVC_AUTH_SECRET_KEY"], Secret("text");
        /// The public key that tokens are verified with, for the other algorithms, as PEM.
        public_key: Option<String> = None, ["SVC_AUTH_PUBLIC_KEY"], Maybe(Text);
        /// The algorithm that tokens of the custom provider are signed with.
        algorithm: TokenAlgorithm = TokenAlgorithm::Hs256, ["SVC_AUTH_ALGORITHM"], Parsed(ALGORITHMS);
        /// The issuer that tokens must name in `iss`; those of native accounts name it.
        issuer: Option<String> = None, ["SVC_AUTH_ISSUER"], Maybe(Text);
        /// The audience that tokens must name in `aud`; those of native accounts name it.
        audience: Option<String> = None, ["SVC_AUTH_AUDIENCE"], Maybe(Text);
        /// The difference of clocks that `exp` and `nbf` are forgiven.
        leeway: Duration = Duration::ZERO, ["SVC_AUTH_LEEWAY"], Seconds(0..=MAX_LEEWAY.as_secs());
        /// The password that HTTP basic authentication asks for in front of `/graphql`, GraphiQL
        /// included; without one there is none.
        dev_password: Option<String> = None, ["SVC_DEV_AUTH_PASSWORD"], Secret("text");
        /// The name that belongs to that password.
        dev_username: String = "admin".to_owned(), ["SVC_DEV_AUTH_USERNAME"], Text;
        /// The longest token.
        token_size: u32 = 8 << 10, ["SVC_AUTH_TOKEN_SIZE"], Count(256..=65_536, "bytes");
        /// The MiB that verified tokens may take, so that one that comes again is not verified
        /// again; 0 keeps none.
        token_cache_size: u64 = 16, ["SVC_AUTH_TOKEN_CACHE_SIZE"], Count(0..=4_096, "MiB");
        /// The longest that a provider or a revocation store may take; a request that waits longer
        /// is answered with 503.
        timeout: Duration = Duration::from_secs(10), ["SVC_AUTH_TIMEOUT"], Seconds(1..=300);
    }
}
