use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{TestDatabase, cluster};

/// The way in which a [`Proxy`] passes bytes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// As they come.
    Free,
    /// Not at all; connections stay open, and new ones are accepted.
    Stopped,
    /// One byte after such a time, of what the server says.
    Slow(Duration),
}

/// A TCP proxy before the tests' PostgreSQL.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    flow: Arc<watch::Sender<Flow>>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// A proxy that passes on everything.
    pub async fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let flow = Arc::new(watch::Sender::new(Flow::Free));
        let flows = flow.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, flows.subscribe()));
            }
        });
        Self { address, flow, task }
    }

    /// Passes bytes on in this way from now on.
    pub fn set(&self, flow: Flow) {
        self.flow.send_replace(flow);
    }

    /// The URL of a database, through the proxy.
    pub fn url(&self, database: &TestDatabase) -> String {
        let url = database.url();
        let name = url.rsplit('/').find_map(|part| part.split_once("?host=")).map_or("", |(name, _)| name);
        format!("postgres://postgres@{}/{name}?sslmode=disable", self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The socket of the tests' PostgreSQL.
fn socket() -> PathBuf {
    let url = cluster().url();
    let port = url.split('&').find_map(|part| part.strip_prefix("port=")).expect("a port");
    cluster().socket_folder().join(format!(".s.PGSQL.{port}"))
}

async fn pass(client: TcpStream, flow: watch::Receiver<Flow>) {
    let Ok(server) = UnixStream::connect(socket()).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // When one side ends, so does the other.
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
                Flow::Stopped => {
                    if flow.changed().await.is_err() {
                        return;
                    }
                    continue;
                }
                Flow::Slow(pause) if is_answer => {
                    tokio::time::sleep(pause).await;
                    1
                }
                Flow::Free | Flow::Slow(_) => rest.len(),
            };
            if to.write_all(&rest[..part]).await.is_err() {
                return;
            }
            rest = &rest[part..];
        }
    }
}
