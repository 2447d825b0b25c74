//! TLS by the rules of `sslmode`: encryption without checking the certificate, checking its issuer,
//! or checking the host name as well.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslNegotiation;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connect::{Pem, TlsConfig, Verify};
use crate::driver::DriverError;

/// Creates encrypted streams.
pub(in crate::driver) type Connector = MakeRustlsConnect;

/// Returns the connector for encrypted streams. Reads the configured files.
pub(in crate::driver) async fn connector(tls: &TlsConfig) -> Result<Connector, DriverError> {
    // Given explicitly: rustls cannot choose one if another crate of the program enables a second.
    let provider = Arc::new(ring::default_provider());
    let spoken = [&TLS12, &TLS13].into_iter().zip(tls.versions);
    let versions: Vec<_> = spoken
        .filter(|(_, spoken)| *spoken)
        .map(|(version, _)| version)
        .collect();
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&versions)
        .map_err(failed)?;
    let builder = match tls.verify {
        Verify::Nothing => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Lenient::Anyone(provider))),
        Verify::Authority => {
            let roots = Arc::new(roots(tls).await?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider)
                .build()
                .map_err(failed)?;
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Lenient::AnyName(verifier)))
        }
        Verify::Name => builder.with_root_certificates(roots(tls).await?),
    };

    let mut config = match &tls.identity {
        Some((certificate, key)) => {
            let chain = certificates(certificate).await?;
            let pem = read_key(key).await?;
            let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| {
                DriverError::Tls(
                    "sslkey does not hold a private key, or one that is encrypted".to_owned(),
                )
            })?;
            builder.with_client_auth_cert(chain, key).map_err(failed)?
        }
        None => builder.with_no_client_auth(),
    };

    if tls.negotiation == SslNegotiation::Direct {
        // PostgreSQL rejects connections that start with TLS without naming the protocol.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }

    Ok(MakeRustlsConnect::new(config))
}

/// An encrypted stream to the named host, over another stream.
#[cfg(all(unix, feature = "sqlx"))]
pub(super) async fn encrypt(
    mut connector: Connector,
    name: &str,
    stream: tokio::net::TcpStream,
) -> Result<super::stream::BoxStream, DriverError> {
    use tokio_postgres::tls::{MakeTlsConnect, TlsConnect as _};
    let Ok(tls) = MakeTlsConnect::<tokio::net::TcpStream>::make_tls_connect(&mut connector, name);
    Ok(Box::new(tls.connect(stream).await?))
}

/// Only the authorities of `sslrootcert` if it is set, or else the public ones.
async fn roots(tls: &TlsConfig) -> Result<RootCertStore, DriverError> {
    let Some(root) = &tls.root else {
        return Ok(RootCertStore::from_iter(
            webpki_roots::TLS_SERVER_ROOTS.iter().cloned(),
        ));
    };

    let mut roots = RootCertStore::empty();
    for certificate in certificates(root).await? {
        roots.add(certificate).map_err(failed)?;
    }

    Ok(roots)
}

async fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, DriverError> {
    let text = read(pem).await?;

    // The reader's own message quotes its input, which may be a misplaced key.
    let broken = |_| DriverError::Tls(format!("{} is not valid PEM", named(pem)));
    let certificates = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(broken)?;
    if certificates.is_empty() {
        return Err(DriverError::Tls(format!(
            "{} holds no certificate",
            named(pem)
        )));
    }

    Ok(certificates)
}

async fn read(pem: &Pem) -> Result<Vec<u8>, DriverError> {
    match pem {
        Pem::Inline(text) => Ok(text.clone().into_bytes()),
        Pem::File(path) => tokio::fs::read(path).await.map_err(|error| {
            DriverError::Tls(format!("{} cannot be read: {error}", path.display()))
        }),
    }
}

/// Like libpq, rejects a key that others may read.
async fn read_key(pem: &Pem) -> Result<Vec<u8>, DriverError> {
    #[cfg(unix)]
    if let Pem::File(path) = pem {
        use std::os::unix::fs::MetadataExt as _;

        let metadata = tokio::fs::metadata(path).await;

        // A system key may be readable by a group that the service belongs to.
        let open_to = |metadata: &std::fs::Metadata| {
            metadata.mode() & if metadata.uid() == 0 { 0o037 } else { 0o077 }
        };

        if metadata.is_ok_and(|metadata| open_to(&metadata) != 0) {
            let path = path.display();
            return Err(DriverError::Tls(format!(
                "{path} can be read by others; allow only its owner (0600)"
            )));
        }
    }

    read(pem).await
}

fn named(pem: &Pem) -> String {
    match pem {
        Pem::Inline(_) => "the text of a certificate".to_owned(),
        Pem::File(path) => path.display().to_string(),
    }
}

fn failed(error: impl std::fmt::Display) -> DriverError {
    DriverError::Tls(error.to_string())
}

/// Checks less than rustls does by default.
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
        let Self::AnyName(verifier) = self else {
            return Ok(ServerCertVerified::assertion());
        };

        match verifier.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // rustls compares the name last, so an authority has signed a certificate with this
            // error.
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
            Self::Anyone(provider) => verify_tls12_signature(
                message,
                certificate,
                signed,
                &provider.signature_verification_algorithms,
            ),
            Self::AnyName(verifier) => {
                verifier.verify_tls12_signature(message, certificate, signed)
            }
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Anyone(provider) => verify_tls13_signature(
                message,
                certificate,
                signed,
                &provider.signature_verification_algorithms,
            ),
            Self::AnyName(verifier) => {
                verifier.verify_tls13_signature(message, certificate, signed)
            }
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self {
            Self::Anyone(provider) => provider
                .signature_verification_algorithms
                .supported_schemes(),
            Self::AnyName(verifier) => verifier.supported_verify_schemes(),
        }
    }
}
