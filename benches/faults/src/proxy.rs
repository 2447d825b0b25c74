//! A network that can be broken.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// How bytes are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Free,
    /// Not at all, though connections are accepted.
    Stopped,
    /// A byte a second of what PostgreSQL says.
    Slow,
}

pub(crate) struct Proxy {
    address: SocketAddr,
    pub(crate) flow: watch::Sender<Flow>,
}

impl Proxy {
    pub(crate) async fn start(socket: PathBuf) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let (address, (flow, flows)) = (listener.local_addr()?, watch::channel(Flow::Free));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, socket.clone(), flows.clone()));
            }
        });
        Ok(Self { address, flow })
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres?sslmode=disable", self.address)
    }
}

async fn pass(client: TcpStream, socket: PathBuf, flow: watch::Receiver<Flow>) {
    let Ok(server) = UnixStream::connect(socket).await else { return };
    let _ = client.set_nodelay(true);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = copy(from_client, to_server, flow.clone(), false) => {}
        () = copy(from_server, to_client, flow, true) => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut flow: watch::Receiver<Flow>,
    is_answer: bool,
) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let Ok(length @ 1..) = from.read(&mut buffer).await else { return };
        let mut rest = &buffer[..length];
        while !rest.is_empty() {
            let now = *flow.borrow_and_update();
            let part = match now {
                Flow::Stopped if flow.changed().await.is_err() => return,
                Flow::Stopped => continue,
                Flow::Slow if is_answer => {
                    let _ = tokio::time::timeout(Duration::from_secs(1), flow.changed()).await;
                    1
                }
                Flow::Free | Flow::Slow => rest.len(),
            };
            if to.write_all(&rest[..part]).await.is_err() {
                return;
            }
            rest = &rest[part..];
        }
    }
}
