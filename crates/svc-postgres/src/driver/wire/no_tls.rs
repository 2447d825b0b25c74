//! Connections of a program built without the feature `tls`. A URL that requires encryption is
//! rejected when it is read.

use crate::connect::TlsConfig;
use crate::driver::DriverError;

/// Creates streams, which are not encrypted.
pub(in crate::driver) type Connector = tokio_postgres::NoTls;

pub(in crate::driver) async fn connector(_: &TlsConfig) -> Result<Connector, DriverError> {
    Ok(tokio_postgres::NoTls)
}

/// # Errors
/// Always.
#[cfg(all(unix, feature = "sqlx"))]
pub(super) async fn encrypt(
    _: Connector,
    _: &str,
    _: tokio::net::TcpStream,
) -> Result<super::stream::BoxStream, DriverError> {
    Err(DriverError::Tls(
        "svc is compiled without the feature `tls`".to_owned(),
    ))
}
