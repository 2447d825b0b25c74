//! A local socket whose connections are forwarded to the server, for sqlx.
//!
//! sqlx trusts the public certificate authorities besides the configured one, and supports only one
//! host. So where the URL needs more, sqlx's pool connects here, and the proxy connects to the
//! server as the driver does.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use super::DriverError;
use super::config::Target;
use super::wire::BoxStream;
use crate::connect::{ConnectConfig, PROXY_PORT};

/// How long to wait when the system cannot accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// The maximum bytes of a connection's first message, as in PostgreSQL.
const MAX_STARTUP_SIZE: usize = 10_000;

/// The SQLSTATE `sqlclient_unable_to_establish_sqlconnection`.
const NO_CONNECTION: &str = "08001";

/// A socket in a directory that only this user can open. Its connections are closed on drop.
#[derive(Debug)]
pub(crate) struct Proxy {
    task: JoinHandle<()>,
    folder: TempDir,
}

impl Proxy {
    /// Returns a proxy if the URL needs features that sqlx lacks.
    ///
    /// # Errors
    /// When the system cannot create the directory or the socket.
    pub(crate) fn for_sqlx(connect: &ConnectConfig) -> std::io::Result<Option<Self>> {
        if connect.suits_sqlx() {
            return Ok(None);
        }

        use std::os::unix::fs::PermissionsExt as _;

        let private = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new()
            .prefix("svc-")
            .permissions(private)
            .tempdir()?;
        let listener = UnixListener::bind(folder.path().join(format!(".s.PGSQL.{PROXY_PORT}")))?;
        let unwanted = connect.unwanted_options().map(Arc::from);
        let task = tokio::spawn(accept(listener, Arc::new(Target::new(connect)), unwanted));

        Ok(Some(Self { task, folder }))
    }

    /// The directory of the socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: UnixListener, target: Arc<Target>, unwanted: Option<Arc<str>>) {
    // Aborts the remaining connections when the task ends.
    let mut running = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                running.spawn(forward(client, target.clone(), unwanted.clone()));
            }
            // Without free file descriptors, each attempt fails at once and would occupy a
            // processor.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }

        // A `JoinSet` keeps finished tasks until they are taken out.
        while running.try_join_next().is_some() {}
    }
}

async fn forward(mut client: UnixStream, target: Arc<Target>, unwanted: Option<Arc<str>>) {
    match target.dial().await {
        // Either side may close it at any time.
        Ok(mut server) => drop(copy(&mut client, &mut server, unwanted.as_deref()).await),
        Err(error) => drop(refuse(&mut client, &error).await),
    }
}

async fn copy(
    client: &mut UnixStream,
    server: &mut BoxStream,
    unwanted: Option<&str>,
) -> std::io::Result<()> {
    if let Some(unwanted) = unwanted {
        // sqlx does not request TLS from a local socket, so the start-up message comes first. Its
        // length includes the four bytes of the length.
        let length = client.read_u32().await?;
        let mut message = vec![
            0;
            usize::try_from(length)
                .unwrap_or_default()
                .clamp(4, MAX_STARTUP_SIZE)
                - 4
        ];

        client.read_exact(&mut message).await?;
        let message = without_options(&message, unwanted);
        server
            .write_u32(u32::try_from(message.len() + 4).unwrap_or(u32::MAX))
            .await?;

        server.write_all(&message).await?;
    }

    copy_bidirectional(client, server).await.map(drop)
}

/// Removes unwanted options from the start of the start-up options in a connection's first message.
///
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html>
fn without_options(message: &[u8], unwanted: &str) -> Vec<u8> {
    let prefix = [b"options\0", unwanted.as_bytes()].concat();
    let Some(at) = message
        .windows(prefix.len())
        .position(|window| window == prefix)
    else {
        return message.to_vec();
    };

    let (before, after) = (
        &message[..at + b"options\0".len()],
        &message[at + prefix.len()..],
    );

    [before, after].concat()
}

impl Target {
    /// A stream to the host that a connection would use.
    async fn dial(&self) -> Result<BoxStream, DriverError> {
        let host = match self.hosts.as_slice() {
            [_] if self.accepts_any() => 0,
            _ => {
                // Only a session shows whether a server fits, and sqlx's own begins later, so one
                // is opened for the choice alone.
                let found = self.connect().await?;
                drop(found.client);
                found.wire.close();
                found.host
            }
        };

        let config = &self.hosts[host];
        let dial = super::wire::dial(config, self.connector().await?);
        match config.get_connect_timeout() {
            Some(time) => tokio::time::timeout(*time, dial)
                .await
                .unwrap_or(Err(DriverError::Unanswered)),
            None => dial.await,
        }
    }
}

/// Reports to sqlx why there is no connection, in the form of a server error.
async fn refuse(client: &mut UnixStream, error: &DriverError) -> std::io::Result<()> {
    // sqlx expects the response after it has sent its message.
    client.readable().await?;
    let mut fields = Vec::new();
    let text = error.with_sources();
    for (kind, text) in [
        (b'S', "FATAL"),
        (b'V', "FATAL"),
        (b'C', NO_CONNECTION),
        (b'M', text.as_str()),
    ] {
        fields.push(kind);
        fields.extend(text.bytes().filter(|byte| *byte != 0));
        fields.push(0);
    }

    fields.push(0);
    let length = u32::try_from(fields.len() + 4).unwrap_or(u32::MAX);
    client.write_u8(b'E').await?;
    client.write_u32(length).await?;
    client.write_all(&fields).await?;

    client.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::without_options;

    #[test]
    fn options_of_the_environment_are_left_out() {
        let start = b"\0\x03\0\0user\0me\0options\0-c a=1 -c b=2\0database\0d\0\0";
        let expected = b"\0\x03\0\0user\0me\0options\0 -c b=2\0database\0d\0\0";
        assert_eq!(without_options(start, "-c a=1"), expected);
        assert_eq!(without_options(expected, "-c a=1"), expected);
    }
}
