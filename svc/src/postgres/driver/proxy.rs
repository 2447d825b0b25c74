//! A socket of this process whose connections lead to the server, for sqlx.
//!
//! sqlx trusts the public authorities beside the one that is given, and knows one host. So where the URL asks for more,
//! its pool connects here, and what is between here and the server is set up as for the driver.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use super::DriverError;
use super::config::Target;
use super::stream::BoxStream;
use crate::postgres::connect::{ConnectConfig, PROXY_PORT};

/// The time that the system is given when it cannot accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// The most bytes of a connection's first message, as PostgreSQL has it.
const LONGEST_START: usize = 10_000;

/// The SQLSTATE `sqlclient_unable_to_establish_sqlconnection`.
const NO_CONNECTION: &str = "08001";

/// A socket in a folder that only this user can open. Its connections end with the value.
#[derive(Debug)]
pub(crate) struct Proxy {
    task: JoinHandle<()>,
    folder: TempDir,
}

impl Proxy {
    /// A proxy where the URL asks for what sqlx cannot do by itself.
    ///
    /// # Errors
    /// When the system has no folder or no socket for it.
    pub(crate) fn for_sqlx(connect: &ConnectConfig) -> std::io::Result<Option<Self>> {
        if connect.suits_sqlx() {
            return Ok(None);
        }
        use std::os::unix::fs::PermissionsExt as _;
        let private = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("svc-").permissions(private).tempdir()?;
        let listener = UnixListener::bind(folder.path().join(format!(".s.PGSQL.{PROXY_PORT}")))?;
        let unwanted = connect.unwanted_options().map(Arc::from);
        let task = tokio::spawn(accept(listener, Arc::new(Target::new(connect)), unwanted));
        Ok(Some(Self { task, folder }))
    }

    /// The folder of the socket.
    pub(in crate::postgres) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: UnixListener, target: Arc<Target>, unwanted: Option<Arc<str>>) {
    // Ends those that are left when the task does.
    let mut running = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                running.spawn(forward(client, target.clone(), unwanted.clone()));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
        while running.try_join_next().is_some() {}
    }
}

async fn forward(mut client: UnixStream, target: Arc<Target>, unwanted: Option<Arc<str>>) {
    match target.dial().await {
        // Either side may end it at any time.
        Ok(mut server) => drop(copy(&mut client, &mut server, unwanted.as_deref()).await),
        Err(error) => drop(refuse(&mut client, &error).await),
    }
}

async fn copy(client: &mut UnixStream, server: &mut BoxStream, unwanted: Option<&str>) -> std::io::Result<()> {
    if let Some(unwanted) = unwanted {
        let length = client.read_u32().await?;
        let mut message = vec![0; usize::try_from(length).unwrap_or_default().clamp(4, LONGEST_START) - 4];
        client.read_exact(&mut message).await?;
        let message = without_options(&message, unwanted);
        server.write_u32(u32::try_from(message.len() + 4).unwrap_or(u32::MAX)).await?;
        server.write_all(&message).await?;
    }
    copy_bidirectional(client, server).await.map(drop)
}

/// The first message of a connection, whose start-up options begin with some that are not wanted, without those.
///
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html>
fn without_options(message: &[u8], unwanted: &str) -> Vec<u8> {
    let prefix = [b"options\0", unwanted.as_bytes()].concat();
    let Some(at) = message.windows(prefix.len()).position(|window| window == prefix) else { return message.to_vec() };
    let (before, after) = (&message[..at + b"options\0".len()], &message[at + prefix.len()..]);
    [before, after].concat()
}

impl Target {
    /// A stream to the host that a connection would lead to.
    async fn dial(&self) -> Result<BoxStream, DriverError> {
        let host = match self.hosts.as_slice() {
            [_] if self.accepts_any() => 0,
            _ => {
                let found = self.connect().await?;
                drop(found.client);
                found.wire.close();
                found.host
            }
        };
        let config = &self.hosts[host];
        let dial = super::dial::dial(config, self.connector().await?);
        match config.get_connect_timeout() {
            Some(time) => tokio::time::timeout(*time, dial).await.unwrap_or(Err(DriverError::Unanswered)),
            None => dial.await,
        }
    }
}

/// Tells sqlx why there is no connection, as the server would.
async fn refuse(client: &mut UnixStream, error: &DriverError) -> std::io::Result<()> {
    // It reads the answer to what it has sent.
    client.readable().await?;
    let mut fields = Vec::new();
    let text = error.with_sources();
    for (kind, text) in [(b'S', "FATAL"), (b'V', "FATAL"), (b'C', NO_CONNECTION), (b'M', text.as_str())] {
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
