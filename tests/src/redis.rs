//! Redis servers.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use svc_embedded::free_port;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::raw::PATIENCE;
use crate::{Frozen, eventually};

/// A Redis of a test's own, which keeps what it has over a restart.
#[derive(Debug)]
pub struct Redis {
    folder: TempDir,
    port: u16,
    server: Option<Child>,
    /// The certificate and its key, of one that speaks TLS.
    identity: Option<(PathBuf, PathBuf)>,
}

impl Redis {
    /// Starts a server.
    pub async fn new() -> Self {
        Self::with_identity(None).await
    }

    /// Starts a server that speaks nothing but TLS, with a certificate and its key.
    pub async fn encrypted(certificate: &Path, key: &Path) -> Self {
        Self::with_identity(Some((certificate.to_owned(), key.to_owned()))).await
    }

    async fn with_identity(identity: Option<(PathBuf, PathBuf)>) -> Self {
        let (folder, port) = (
            TempDir::new().expect("a folder"),
            free_port().expect("a free port"),
        );
        let mut redis = Self {
            folder,
            port,
            server: None,
            identity,
        };
        redis.start().await;
        redis
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The answers of the server to a command without TLS.
    pub async fn answer(&self, command: &str) -> String {
        let asking = async {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
            let commands = format!("{command}\r\nQUIT\r\n");
            stream.write_all(commands.as_bytes()).await?;
            let mut text = String::new();
            stream.read_to_string(&mut text).await?;
            Ok::<_, std::io::Error>(text)
        };
        timeout(PATIENCE, asking)
            .await
            .expect("no answer of Redis in time")
            .expect("an answer of Redis")
    }

    /// Starts the server again, and waits until it has read what it keeps.
    pub async fn start(&mut self) {
        let mut command = Command::new("redis-server");
        let port = self.port.to_string();
        let socket = self.folder.path().join("redis.sock");
        command
            .args(["--bind", "127.0.0.1", "--save", "", "--unixsocket"])
            .arg(&socket);
        match &self.identity {
            None => command.args(["--port", &port]),
            Some((certificate, key)) => {
                command.args([
                    "--port",
                    "0",
                    "--tls-port",
                    &port,
                    "--tls-auth-clients",
                    "no",
                ]);
                command
                    .arg("--tls-cert-file")
                    .arg(certificate)
                    .arg("--tls-key-file")
                    .arg(key)
            }
        };
        // It writes before it answers, so the end of its process loses nothing, and a busy disk
        // holds nobody up.
        command
            .args(["--appendonly", "yes", "--appendfsync", "no", "--dir"])
            .arg(self.folder.path());
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        self.server = Some(command.spawn().expect("no Redis; run `cargo xtask setup`"));
        eventually(async || {
            // It ends where another process has the port for a moment.
            if let Some(server) = &mut self.server
                && server.try_wait().expect("a process").is_some()
            {
                *server = command.spawn().expect("Redis");
            }
            match ping(&socket).await {
                Ok(answer) if answer == "+PONG\r\n" => Ok(()),
                Ok(answer) => Err(answer),
                Err(error) => Err(error.to_string()),
            }
        })
        .await;
    }

    /// Ends the server.
    pub fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().expect("a process");
            server.wait().expect("a process");
        }
    }

    /// Stops the server without closing anything, until what is returned is dropped.
    pub fn freeze(&self) -> Frozen {
        let pid = self.server.as_ref().expect("a server that runs").id();
        Frozen::new(vec![pid.try_into().expect("a process")])
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The answer to `PING`: it is an error while the server reads what it keeps.
async fn ping(socket: &Path) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(b"PING\r\n").await?;
    let mut answer = [0; 64];
    let length = stream.read(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
}
