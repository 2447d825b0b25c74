//! TLS to other services: the trusted authorities, and the protocol configuration.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Returns a configuration that trusts the authorities of a PEM text, or else the public ones.
///
/// # Errors
/// Describes why the text is invalid; it is not quoted, as it may be a key used by mistake.
pub fn config(roots: Option<&[u8]>) -> Result<ClientConfig, String> {
    // The provider is named, because rustls panics if the build contains none or several.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    Ok(builder
        .with_root_certificates(authorities(roots)?)
        .with_no_client_auth())
}

fn authorities(roots: Option<&[u8]>) -> Result<RootCertStore, String> {
    let Some(pem) = roots else {
        return Ok(RootCertStore::from_iter(
            webpki_roots::TLS_SERVER_ROOTS.iter().cloned(),
        ));
    };

    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| "they are not valid PEM")?;
        store.add(certificate).map_err(|error| error.to_string())?;
    }

    // A file with only a private key is valid PEM, but leaves no authority to trust.
    if store.is_empty() {
        Err("there are none in the file".to_owned())
    } else {
        Ok(store)
    }
}
