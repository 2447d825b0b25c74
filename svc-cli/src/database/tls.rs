//! Encrypted connections.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Target;
use crate::failure::{Failure, Result};

/// Encrypts if the URL or the server requires it, and verifies the server's certificate.
pub(super) fn connector(target: &Target) -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = &target.authorities {
        let bad = |why: String| {
            Failure::new(format!("cannot read the certificates of {}: {why}", file.display()))
                .hint("sslrootcert in SVC_DATABASE_URL names a file of PEM certificates, relative to this folder")
        };

        for certificate in
            CertificateDer::pem_file_iter(file).map_err(|error| bad(error.to_string()))?
        {
            let certificate = certificate.map_err(|error| bad(error.to_string()))?;
            roots
                .add(certificate)
                .map_err(|error| bad(error.to_string()))?;
        }
    } else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }

    // Named explicitly: if a dependency enables a second provider, rustls has no default and
    // panics.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Failure::new(format!("cannot set up TLS: {error}")))?;

    Ok(MakeRustlsConnect::new(
        builder.with_root_certificates(roots).with_no_client_auth(),
    ))
}
