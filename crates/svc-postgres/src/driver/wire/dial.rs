//! A stream to a server, encrypted as configured, before any protocol message.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};

use super::stream::BoxStream;
use super::tls::{Connector, encrypt};
use crate::driver::DriverError;

/// The message that requests TLS: its length and a code.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Connects to the only host of a configuration.
pub(in crate::driver) async fn dial(
    config: &Config,
    connector: Connector,
) -> Result<BoxStream, DriverError> {
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let name = match config.get_hosts() {
        [Host::Unix(folder), ..] => {
            let stream = UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await?;
            return Ok(Box::new(stream));
        }
        [Host::Tcp(name), ..] => name.as_str(),
        [] => "",
    };

    let addresses: Vec<_> = match config.get_hostaddrs() {
        [] => lookup_host((name, port)).await?.collect(),
        known => known
            .iter()
            .map(|address| SocketAddr::new(*address, port))
            .collect(),
    };

    let mut stream = connect_tcp(config, &addresses).await?;
    if !is_encrypted(config, &mut stream).await? {
        return Ok(Box::new(stream));
    }

    encrypt(connector, name, stream).await
}

async fn connect_tcp(config: &Config, addresses: &[SocketAddr]) -> Result<TcpStream, DriverError> {
    let time = config
        .get_connect_timeout()
        .copied()
        .unwrap_or(Duration::MAX);
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match tokio::time::timeout(time, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                stream.set_nodelay(true)?;
                watch(config, &stream)?;
                return Ok(stream);
            }
            Ok(Err(error)) => failed = error,
            Err(_) => failed = io::ErrorKind::TimedOut.into(),
        }
    }

    Err(failed.into())
}

/// Sets the socket options as `tokio-postgres` does for the driver.
fn watch(config: &Config, stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    #[cfg(target_os = "linux")]
    if let Some(time) = config.get_tcp_user_timeout() {
        socket.set_tcp_user_timeout(Some(*time))?;
    }

    if !config.get_keepalives() {
        return Ok(());
    }

    let mut keepalive = TcpKeepalive::new().with_time(config.get_keepalives_idle());
    if let Some(time) = config.get_keepalives_interval() {
        keepalive = keepalive.with_interval(time);
    }

    if let Some(count) = config.get_keepalives_retries() {
        keepalive = keepalive.with_retries(count);
    }

    socket.set_tcp_keepalive(&keepalive)
}

/// Requests TLS, unless it is to start immediately or not at all.
async fn is_encrypted(config: &Config, stream: &mut TcpStream) -> Result<bool, DriverError> {
    let mode = config.get_ssl_mode();
    if mode == SslMode::Disable || config.get_ssl_negotiation() == SslNegotiation::Direct {
        return Ok(mode != SslMode::Disable);
    }

    stream.write_all(&SSL_REQUEST).await?;

    // Exactly one byte is read: bytes that a man in the middle adds behind it then break the TLS
    // handshake, rather than count as the server's.
    let refused = match stream.read_u8().await? {
        b'S' => return Ok(true),
        b'N' if mode == SslMode::Prefer => return Ok(false),
        b'N' => "the server does not support TLS",
        // As in libpq, its text is not shown: a man in the middle may have written it.
        b'E' => "the server has responded to the request for TLS with an error",
        _ => "the server has not responded to the request for TLS as PostgreSQL does",
    };

    Err(DriverError::Tls(refused.to_owned()))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// The result of a request for TLS that is answered with these bytes.
    async fn requested(mode: SslMode, answer: &'static [u8]) -> Result<bool, String> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; SSL_REQUEST.len()];
            stream.read_exact(&mut request).await.unwrap();
            assert_eq!(request, SSL_REQUEST);
            stream.write_all(answer).await.unwrap();
        };
        let client = async {
            let mut config = Config::new();
            config.ssl_mode(mode);
            let mut stream = TcpStream::connect(address).await.unwrap();
            is_encrypted(&config, &mut stream).await
        };

        let ((), found) = tokio::join!(server, client);
        found.map_err(|error| error.with_sources())
    }

    #[tokio::test]
    async fn only_the_byte_n_declines_tls() {
        for mode in [SslMode::Prefer, SslMode::Require] {
            assert_eq!(requested(mode, b"S").await, Ok(true));
            for (answer, why) in [
                (&b"E\0\0\0\x08hunter2"[..], "with an error"),
                (&b"HTTP/1.1 400"[..], "as PostgreSQL does"),
            ] {
                let error = requested(mode, answer).await.unwrap_err();
                assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
            }
        }

        assert_eq!(requested(SslMode::Prefer, b"N").await, Ok(false));
        let error = requested(SslMode::Require, b"N").await.unwrap_err();
        assert!(error.contains("does not support TLS"), "{error}");
        assert!(requested(SslMode::Prefer, b"").await.is_err());
    }
}
