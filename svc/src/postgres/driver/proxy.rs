//! A socket of this process whose connections lead to the server, for sqlx.
//!
//! sqlx trusts the public authorities beside the one that is given, and knows one host. So where the URL asks for more,
//! its pool connects here, and what is between here and the server is set up as for the driver.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use super::DriverError;
use super::config::Target;
use super::stream::BoxStream;
use crate::postgres::connect::{ConnectConfig, PROXY_PORT};

/// The time that the system is given when it cannot accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

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
        let task = tokio::spawn(accept(listener, Arc::new(Target::new(connect))));
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

async fn accept(listener: UnixListener, target: Arc<Target>) {
    // Ends those that are left when the task does.
    let mut running = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                running.spawn(forward(client, target.clone()));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
        while running.try_join_next().is_some() {}
    }
}

async fn forward(mut client: UnixStream, target: Arc<Target>) {
    match target.dial().await {
        // Either side may end it at any time.
        Ok(mut server) => drop(copy_bidirectional(&mut client, &mut server).await),
        Err(error) => drop(refuse(&mut client, &error).await),
    }
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
