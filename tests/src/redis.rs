//! Redis servers.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

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
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let mut redis = Self { folder: TempDir::new().expect("a folder"), port, server: None, identity };
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

    /// Starts the server again.
    pub async fn start(&mut self) {
        let mut command = Command::new("redis-server");
        let port = self.port.to_string();
        command.args(["--bind", "127.0.0.1", "--save", ""]);
        match &self.identity {
            None => command.args(["--port", &port]),
            Some((certificate, key)) => {
                command.args(["--port", "0", "--tls-port", &port, "--tls-auth-clients", "no"]);
                command.arg("--tls-cert-file").arg(certificate).arg("--tls-key-file").arg(key)
            }
        };
        command.args(["--appendonly", "yes", "--appendfsync", "always", "--dir"]).arg(self.folder.path());
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.server = Some(server.expect("no Redis; run `cargo xtask setup`"));
        eventually(async || {
            let connected = tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await;
            connected.map(drop).map_err(|error| error.to_string())
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
