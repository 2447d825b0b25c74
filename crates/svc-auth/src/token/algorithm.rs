//! The algorithms of signed tokens.

use std::str::FromStr;

/// The algorithm that a token is signed with (RFC 7518, section 3.1; RFC 8037 for `EdDSA`).
///
/// A key has exactly one algorithm, and a token that names another is rejected, so that a public
/// key is never used as a secret (RFC 8725, section 3.1). `none` is not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TokenAlgorithm {
    /// HMAC with SHA-256.
    #[default]
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
    /// RSA (PKCS #1, 1.5) with SHA-256.
    Rs256,
    /// RSA (PKCS #1, 1.5) with SHA-384.
    Rs384,
    /// RSA (PKCS #1, 1.5) with SHA-512.
    Rs512,
    /// RSA (PSS) with SHA-256.
    Ps256,
    /// RSA (PSS) with SHA-384.
    Ps384,
    /// RSA (PSS) with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

const NAMES: [(TokenAlgorithm, &str); 12] = [
    (TokenAlgorithm::Hs256, "HS256"),
    (TokenAlgorithm::Hs384, "HS384"),
    (TokenAlgorithm::Hs512, "HS512"),
    (TokenAlgorithm::Rs256, "RS256"),
    (TokenAlgorithm::Rs384, "RS384"),
    (TokenAlgorithm::Rs512, "RS512"),
    (TokenAlgorithm::Ps256, "PS256"),
    (TokenAlgorithm::Ps384, "PS384"),
    (TokenAlgorithm::Ps512, "PS512"),
    (TokenAlgorithm::Es256, "ES256"),
    (TokenAlgorithm::Es384, "ES384"),
    (TokenAlgorithm::EdDsa, "EdDSA"),
];

/// The names, for error messages.
pub(crate) const ALGORITHMS: &str =
    "HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 or EdDSA";

impl TokenAlgorithm {
    /// The name of the algorithm in token headers (`alg`).
    pub fn as_str(self) -> &'static str {
        NAMES
            .iter()
            .find(|(known, _)| *known == self)
            .map_or("", |(_, name)| name)
    }

    /// Whether the algorithm signs and verifies with the same secret.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::Hs256 | Self::Hs384 | Self::Hs512)
    }
}

/// Parses the name used in token headers; the match is exact.
impl FromStr for TokenAlgorithm {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(known, _)| *known)
            .ok_or(())
    }
}

impl std::fmt::Display for TokenAlgorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
