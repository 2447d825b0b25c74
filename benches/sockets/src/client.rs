//! Clients that cost little: a socket, and the frames that are needed.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::future::try_join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const UPGRADE: &str = "GET /graphql HTTP/1.1\r\nhost: localhost\r\nuser-agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/140\r\n\
    accept-language: en\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n";
const INIT: &str = r#"{"type":"connection_init"}"#;

/// The clients that are opened at a time.
const AT_ONCE: usize = 100;

/// Open sockets. Dropping them closes them.
pub(crate) struct Clients {
    count: usize,
    tasks: JoinSet<()>,
    events: mpsc::UnboundedReceiver<Instant>,
}

impl Clients {
    /// Opens sockets, each of a tenant of its own, which subscribe with this document.
    pub(crate) async fn open(
        address: SocketAddr,
        count: usize,
        document: Option<&str>,
    ) -> Result<Self> {
        let (send, events) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        let tenants: Vec<usize> = (0..count).collect();
        for batch in tenants.chunks(AT_ONCE) {
            for client in try_join_all(
                batch
                    .iter()
                    .map(|tenant| connect(address, *tenant, document)),
            )
            .await?
            {
                tasks.spawn(listen(client, send.clone()));
            }
        }
        Ok(Self {
            count,
            tasks,
            events,
        })
    }

    /// Waits until each has an event; the times that that took.
    pub(crate) async fn all_have_it(&mut self, began: Instant) -> Result<Vec<Duration>> {
        let mut times = Vec::with_capacity(self.count);
        while times.len() < self.count {
            let next = tokio::time::timeout(Duration::from_secs(30), self.events.recv()).await;
            let at = next
                .context("a subscriber has no event")?
                .context("all sockets are closed")?;
            times.push(at.saturating_duration_since(began));
        }
        ensure!(!self.tasks.is_empty(), "there are no clients");
        Ok(times)
    }
}

/// A socket that is acknowledged. Its subscription has begun when the ping behind it is answered.
async fn connect(address: SocketAddr, tenant: usize, document: Option<&str>) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream
        .write_all(format!("{UPGRADE}x-tenant: t{tenant}\r\n\r\n").as_bytes())
        .await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    ensure!(
        head.starts_with(b"HTTP/1.1 101"),
        "{}",
        String::from_utf8_lossy(&head)
    );
    stream.write_all(&frame(INIT)).await?;
    expect(&mut stream, "connection_ack").await?;
    if let Some(document) = document {
        let subscribe =
            format!(r#"{{"id":"1","type":"subscribe","payload":{{"query":"{document}"}}}}"#);
        stream.write_all(&frame(&subscribe)).await?;
        stream.write_all(&frame(r#"{"type":"ping"}"#)).await?;
        expect(&mut stream, "pong").await?;
    }
    Ok(stream)
}

async fn listen(mut stream: TcpStream, events: mpsc::UnboundedSender<Instant>) {
    while let Ok(text) = read(&mut stream).await {
        let sent = if text.contains("\"next\"") {
            events.send(Instant::now()).is_ok()
        } else if text.contains("\"ping\"") {
            stream.write_all(&frame(r#"{"type":"pong"}"#)).await.is_ok()
        } else {
            true
        };
        if !sent {
            return;
        }
    }
}

/// Has the server publish.
pub(crate) async fn publish(address: SocketAddr) -> Result<()> {
    let answer = ask(address, "mutation { publish }").await?;
    ensure!(answer.contains(r#""publish":true"#), "{answer}");
    Ok(())
}

/// The number of tasks that the server runs.
pub(crate) async fn tasks(address: SocketAddr) -> Result<String> {
    let answer = ask(address, "{ tasks }").await?;
    let (_, tasks) = answer
        .rsplit_once("\"tasks\":")
        .context("no number of tasks")?;
    Ok(tasks.trim_end_matches('}').to_owned())
}

async fn ask(address: SocketAddr, document: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let body = format!(r#"{{"query":"{document}"}}"#);
    let head = "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n";
    stream
        .write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

async fn expect(stream: &mut TcpStream, part: &str) -> Result<()> {
    let text = read(stream).await?;
    ensure!(text.contains(part), "{text} in the place of {part}");
    Ok(())
}

/// A text of fewer than 126 bytes, with a mask of zeros.
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    let mut frame = vec![0x81, 0x80 | length, 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    frame
}

async fn read(stream: &mut TcpStream) -> Result<String> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).await?;
    let length = usize::from(head[1] & 0x7f);
    if head[0] != 0x81 || length > 125 {
        bail!("a frame that the measurement does not know");
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text).await?;
    Ok(String::from_utf8(text)?)
}
