//! Keys that verify tokens.

use ring::hmac;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject as _;
use spki::{ObjectIdentifier, SubjectPublicKeyInfoRef};

use super::KeyError;
use crate::TokenAlgorithm;
use svc_core::settings::use_value;

/// A key that verifies tokens of one algorithm. `Debug` shows the algorithm only.
#[derive(Clone)]
pub struct VerifyingKey {
    algorithm: TokenAlgorithm,
    key: Key,
}

#[derive(Clone)]
enum Key {
    Secret(hmac::Key),
    Public(UnparsedPublicKey<Box<[u8]>>),
    #[cfg(feature = "idp")]
    Rsa(
        &'static signature::RsaParameters,
        signature::RsaPublicKeyComponents<Box<[u8]>>,
    ),
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ELLIPTIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
/// The minimum length in bytes of a 2,048-bit modulus and its exponent as DER.
const RSA_2048: usize = 256 + 8;

impl VerifyingKey {
    /// A secret, which can also sign.
    ///
    /// # Errors
    /// A [`KeyError`] if the algorithm takes no secret, or the secret is empty or a PEM key.
    pub fn from_secret(algorithm: TokenAlgorithm, secret: &[u8]) -> Result<Self, KeyError> {
        Ok(Self {
            algorithm,
            key: Key::Secret(hmac_key(algorithm, secret)?),
        })
    }

    /// A public key as PEM (`-----BEGIN PUBLIC KEY-----`, RFC 7468, section 13).
    ///
    /// # Errors
    /// A [`KeyError`] if the text is not such a key, or the key belongs to another algorithm.
    pub fn from_pem(algorithm: TokenAlgorithm, pem: &str) -> Result<Self, KeyError> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| KeyError::NotPublicPem)?;
        let info =
            SubjectPublicKeyInfoRef::try_from(der.as_ref()).map_err(|_| KeyError::NotPublicPem)?;
        let bytes = info
            .subject_public_key
            .as_bytes()
            .ok_or(KeyError::NotPublicPem)?;
        use_value("SVC_AUTH_PUBLIC_KEY", pem);
        use_value("SVC_AUTH_ALGORITHM", algorithm.as_str());

        Self::from_bytes(algorithm, info.algorithm.oid, bytes)
    }

    fn from_bytes(
        algorithm: TokenAlgorithm,
        family: ObjectIdentifier,
        bytes: &[u8],
    ) -> Result<Self, KeyError> {
        // `ring` parses a public key only when it verifies, so an unfit key would be noticed at the
        // first token. Points are uncompressed: a leading 4 and two coordinates (SEC 1, section
        // 2.3.3).
        let fits = match algorithm {
            TokenAlgorithm::Es256 => family == ELLIPTIC && bytes.len() == 65,
            TokenAlgorithm::Es384 => family == ELLIPTIC && bytes.len() == 97,
            TokenAlgorithm::EdDsa => family == ED25519 && bytes.len() == 32,
            _ => family == RSA && bytes.len() >= RSA_2048,
        };

        let Some(verifier) = verifier(algorithm).filter(|_| fits) else {
            return Err(KeyError::Unfit(algorithm, wanted(algorithm)));
        };

        Ok(Self {
            algorithm,
            key: Key::Public(UnparsedPublicKey::new(verifier, bytes.into())),
        })
    }

    /// An RSA key from its modulus and exponent, of 2,048 to 8,192 bits (RFC 7518, section 6.3.1).
    #[cfg(feature = "idp")]
    pub(crate) fn from_rsa(
        algorithm: TokenAlgorithm,
        n: &[u8],
        e: &[u8],
    ) -> Result<Self, KeyError> {
        // `ring` rejects leading zeros, and some libraries add one to the modulus (RFC 7518,
        // section 6.3.1.1).
        let bare =
            |bytes: &[u8]| Box::from(&bytes[bytes.iter().take_while(|byte| **byte == 0).count()..]);
        let (n, e): (Box<[u8]>, Box<[u8]>) = (bare(n), bare(e));
        let fits = (256..=1_024).contains(&n.len()) && (1..=8).contains(&e.len());
        let parameters = rsa(algorithm)
            .filter(|_| fits)
            .ok_or(KeyError::Unfit(algorithm, wanted(algorithm)))?;

        Ok(Self {
            algorithm,
            key: Key::Rsa(parameters, signature::RsaPublicKeyComponents { n, e }),
        })
    }

    /// A point on an elliptic curve (RFC 7518, section 6.2.1).
    #[cfg(feature = "idp")]
    pub(crate) fn from_point(
        algorithm: TokenAlgorithm,
        curve: &str,
        x: &[u8],
        y: &[u8],
    ) -> Result<Self, KeyError> {
        // Coordinates have their full length, with leading zeros (RFC 7518, section 6.2.1.2).
        let size = match (algorithm, curve) {
            (TokenAlgorithm::Es256, "P-256") => 32,
            (TokenAlgorithm::Es384, "P-384") => 48,
            _ => 0,
        };

        if x.len() != size || y.len() != size {
            return Err(KeyError::Unfit(algorithm, wanted(algorithm)));
        }

        Self::from_bytes(algorithm, ELLIPTIC, &[&[4], x, y].concat())
    }

    /// An Ed25519 key (RFC 8037, section 2).
    #[cfg(feature = "idp")]
    pub(crate) fn from_ed25519(algorithm: TokenAlgorithm, x: &[u8]) -> Result<Self, KeyError> {
        Self::from_bytes(algorithm, ED25519, x)
    }

    /// The only algorithm of the key.
    pub fn algorithm(&self) -> TokenAlgorithm {
        self.algorithm
    }

    /// Whether the signature was made with the key.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.key {
            // `hmac::verify` compares in constant time.
            Key::Secret(key) => hmac::verify(key, message, signature).is_ok(),
            Key::Public(key) => key.verify(message, signature).is_ok(),
            #[cfg(feature = "idp")]
            Key::Rsa(parameters, key) => key.verify(parameters, message, signature).is_ok(),
        }
    }
}

/// Creates the HMAC key from a secret.
pub(super) fn hmac_key(algorithm: TokenAlgorithm, secret: &[u8]) -> Result<hmac::Key, KeyError> {
    let digest = match algorithm {
        TokenAlgorithm::Hs256 => hmac::HMAC_SHA256,
        TokenAlgorithm::Hs384 => hmac::HMAC_SHA384,
        TokenAlgorithm::Hs512 => hmac::HMAC_SHA512,
        _ => return Err(KeyError::Unfit(algorithm, wanted(algorithm))),
    };

    if secret.is_empty() {
        return Err(KeyError::EmptySecret);
    }

    // With a public key in place of the secret, everyone could sign tokens.
    if secret.trim_ascii_start().starts_with(b"-----BEGIN ") {
        return Err(KeyError::PublicSecret(algorithm));
    }

    Ok(hmac::Key::new(digest, secret))
}

fn verifier(algorithm: TokenAlgorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        TokenAlgorithm::Hs256 | TokenAlgorithm::Hs384 | TokenAlgorithm::Hs512 => return None,
        TokenAlgorithm::Es256 => &signature::ECDSA_P256_SHA256_FIXED,
        TokenAlgorithm::Es384 => &signature::ECDSA_P384_SHA384_FIXED,
        TokenAlgorithm::EdDsa => &signature::ED25519,
        _ => return rsa(algorithm).map(|parameters| parameters as _),
    })
}

fn rsa(algorithm: TokenAlgorithm) -> Option<&'static signature::RsaParameters> {
    Some(match algorithm {
        TokenAlgorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        TokenAlgorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        TokenAlgorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        TokenAlgorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
        TokenAlgorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
        TokenAlgorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

/// The kind of key that an algorithm takes.
fn wanted(algorithm: TokenAlgorithm) -> &'static str {
    match algorithm {
        TokenAlgorithm::Hs256 | TokenAlgorithm::Hs384 | TokenAlgorithm::Hs512 => "a secret",
        TokenAlgorithm::Es256 => "an elliptic-curve key on P-256",
        TokenAlgorithm::Es384 => "an elliptic-curve key on P-384",
        TokenAlgorithm::EdDsa => "an Ed25519 key",
        _ => "an RSA key of 2,048 bits or more",
    }
}

impl std::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifyingKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_of_the_family_and_the_size_of_its_algorithm() {
        use TokenAlgorithm::{EdDsa, Es256, Es384, Hs256, Ps512, Rs256};

        for (algorithm, family, size, wanted) in [
            (Es256, ELLIPTIC, 65, "an elliptic-curve key on P-256"),
            (Es384, ELLIPTIC, 97, "an elliptic-curve key on P-384"),
            (EdDsa, ED25519, 32, "an Ed25519 key"),
            (Rs256, RSA, RSA_2048, "an RSA key"),
            (Ps512, RSA, RSA_2048, "an RSA key"),
        ] {
            let key =
                |family, size: usize| VerifyingKey::from_bytes(algorithm, family, &vec![1; size]);
            assert!(key(family, size).is_ok(), "{algorithm:?}");
            for other in [ELLIPTIC, ED25519, RSA]
                .into_iter()
                .filter(|other| *other != family)
            {
                let refused = key(other, size).unwrap_err().to_string();
                assert!(refused.contains(wanted), "{algorithm:?}: {refused}");
            }
            assert!(key(family, size - 1).is_err(), "{algorithm:?}");
        }

        let secret = VerifyingKey::from_bytes(Hs256, RSA, &[1; 512])
            .unwrap_err()
            .to_string();

        assert!(secret.contains("a secret"), "{secret}");
    }
}
