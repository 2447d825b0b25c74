//! TLS, by the rules of `sslmode`: encrypted without a look at the certificate, with a look at who signed it, or with
//! a look at the host's name as well.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::DriverError;

/// What of the server's certificate is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verify {
    Nothing,
    Authority,
    Name,
}

/// A certificate or a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pem {
    Inline(String),
    File(PathBuf),
}

/// How connections are encrypted.
#[derive(Debug)]
pub(super) struct Tls {
    pub(super) verify: Verify,
    pub(super) root: Option<Pem>,
    pub(super) certificate: Option<Pem>,
    pub(super) key: Option<Pem>,
}

impl Pem {
    /// From the text that sqlx shows.
    pub(super) fn from_text(text: &str) -> Self {
        if text.trim_start().starts_with("-----BEGIN") {
            return Self::Inline(text.to_owned());
        }
        Self::File(text.strip_prefix("file: ").unwrap_or(text).into())
    }

    async fn read(&self) -> Result<Vec<u8>, DriverError> {
        match self {
            Self::Inline(text) => Ok(text.clone().into_bytes()),
            Self::File(path) => tokio::fs::read(path)
                .await
                .map_err(|error| DriverError::Tls(format!("{} cannot be read: {error}", path.display()))),
        }
    }
}

impl Tls {
    /// Files are read for each new connection, so that a renewed certificate is used.
    pub(super) async fn connector(&self) -> Result<MakeRustlsConnect, DriverError> {
        let provider = Arc::new(ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().map_err(tls)?;
        let builder = match self.verify {
            Verify::Nothing => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(Lenient::Anyone(provider)))
            }
            Verify::Authority => {
                let roots = Arc::new(self.roots().await?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build().map_err(tls)?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(Lenient::AnyName(verifier)))
            }
            Verify::Name => builder.with_root_certificates(self.roots().await?),
        };
        let config = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let chain = certificates(&certificate.read().await?)?;
                let key = PrivateKeyDer::from_pem_slice(&key.read().await?).map_err(tls)?;
                builder.with_client_auth_cert(chain, key).map_err(tls)?
            }
            (None, None) => builder.with_no_client_auth(),
            _ => return Err(DriverError::Tls("sslcert and sslkey must be given together".to_owned())),
        };
        Ok(MakeRustlsConnect::new(config))
    }

    async fn roots(&self) -> Result<RootCertStore, DriverError> {
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(root) = &self.root {
            for certificate in certificates(&root.read().await?)? {
                roots.add(certificate).map_err(tls)?;
            }
        }
        Ok(roots)
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, DriverError> {
    CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(tls)
}

fn tls(error: impl std::fmt::Display) -> DriverError {
    DriverError::Tls(error.to_string())
}

/// Checks less than rustls does by itself.
#[derive(Debug)]
enum Lenient {
    /// Any certificate: `prefer` and `require` only encrypt.
    Anyone(Arc<CryptoProvider>),
    /// A certificate for another host: `verify-ca`.
    AnyName(Arc<WebPkiServerVerifier>),
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Self::AnyName(verifier) = self else { return Ok(ServerCertVerified::assertion()) };
        match verifier.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Anyone(provider) => {
                verify_tls12_signature(message, certificate, signed, &provider.signature_verification_algorithms)
            }
            Self::AnyName(verifier) => verifier.verify_tls12_signature(message, certificate, signed),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Anyone(provider) => {
                verify_tls13_signature(message, certificate, signed, &provider.signature_verification_algorithms)
            }
            Self::AnyName(verifier) => verifier.verify_tls13_signature(message, certificate, signed),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self {
            Self::Anyone(provider) => provider.signature_verification_algorithms.supported_schemes(),
            Self::AnyName(verifier) => verifier.supported_verify_schemes(),
        }
    }
}
