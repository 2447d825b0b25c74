//! TLS connections to Redis; the certificate is always verified.

use std::io;
use std::sync::Arc;

use redis::{ConnectionAddr, ConnectionInfo, RedisConnectionInfo};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::tls_client;

/// A server that is connected to with TLS.
pub(super) struct Encryption {
    host: String,
    port: u16,
    name: ServerName<'static>,
    settings: RedisConnectionInfo,
    connector: TlsConnector,
}

impl Encryption {
    /// Creates a server whose certificate must be signed by one of the authorities in a PEM text,
    /// or else by a public one.
    ///
    /// # Errors
    /// Describes why the authorities or the host are invalid.
    pub(super) fn new(info: &ConnectionInfo, roots: Option<&[u8]>) -> Result<Self, String> {
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err("there is no host".to_owned());
        };

        let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
        let connector = TlsConnector::from(Arc::new(tls_client::config(roots)?));
        Ok(Self {
            host: host.clone(),
            port: *port,
            name,
            settings: info.redis_settings().clone(),
            connector,
        })
    }

    /// Returns the same server with other trusted authorities.
    ///
    /// # Errors
    /// Describes why the authorities are invalid.
    pub(super) fn trusting(&self, roots: &[u8]) -> Result<Self, String> {
        let connector = TlsConnector::from(Arc::new(tls_client::config(Some(roots))?));
        let Self {
            host,
            port,
            name,
            settings,
            ..
        } = self;

        Ok(Self {
            host: host.clone(),
            port: *port,
            name: name.clone(),
            settings: settings.clone(),
            connector,
        })
    }

    /// Returns the user, the password and the number of the database.
    pub(super) fn settings(&self) -> &RedisConnectionInfo {
        &self.settings
    }

    /// Opens a stream.
    pub(super) async fn connect(&self) -> io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect((&*self.host, self.port)).await?;

        // Nagle's algorithm would delay small commands.
        stream.set_nodelay(true)?;
        self.connector.connect(self.name.clone(), stream).await
    }
}
