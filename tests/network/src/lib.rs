//! A network between a service and its PostgreSQL that can be broken: stopped, slowed down, or made
//! to lose an answer.

use std::io::Result;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream, tcp, unix};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The way in which bytes are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// As they come.
    Free,
    /// Not at all; connections stay open, and new ones are accepted.
    Stopped,
    /// One byte after such a time, of the server's answers.
    Slow(Duration),
}

/// A TCP proxy before the socket of a PostgreSQL; it ends with the value.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    flow: Arc<watch::Sender<Flow>>,
    losing: Losing,
    turns: Arc<Turns>,
    task: JoinHandle<()>,
}

/// The number of times that clients have spoken after answers: round trips.
#[derive(Debug, Default)]
struct Turns {
    number: AtomicUsize,
    is_answered: AtomicBool,
}

/// A text, and the answer to the next message with it is lost.
type Losing = Arc<Mutex<Option<&'static str>>>;

impl Proxy {
    /// A proxy that passes everything on.
    ///
    /// # Errors
    /// When the system has no port for it.
    pub async fn start(socket: PathBuf) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (flow, losing) = (Arc::new(watch::Sender::new(Flow::Free)), Losing::default());
        let turns = Arc::new(Turns {
            is_answered: AtomicBool::new(true),
            ..Turns::default()
        });
        let (flows, lost, counted) = (flow.clone(), losing.clone(), turns.clone());
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(
                    client,
                    socket.clone(),
                    flows.subscribe(),
                    lost.clone(),
                    counted.clone(),
                ));
            }
        });
        Ok(Self {
            address,
            flow,
            losing,
            turns,
            task,
        })
    }

    /// The URL of a database behind the proxy.
    pub fn url(&self, database: &str) -> String {
        format!(
            "postgres://postgres@{}/{database}?sslmode=disable",
            self.address
        )
    }

    /// Passes bytes on in this way from now on.
    pub fn set(&self, flow: Flow) {
        self.flow.send_replace(flow);
    }

    /// Returns the number of round trips so far, of clients that do not speak at the same time.
    pub fn round_trips(&self) -> usize {
        self.turns.number.load(Ordering::Relaxed)
    }

    /// Loses the answer to the next message with this text in it, and closes that connection.
    pub fn lose_answer_to(&self, text: &'static str) {
        *self.losing.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(
    client: TcpStream,
    socket: PathBuf,
    flow: watch::Receiver<Flow>,
    losing: Losing,
    turns: Arc<Turns>,
) {
    let Ok(server) = UnixStream::connect(socket).await else {
        return;
    };
    // A connection that cannot be made quicker is as good.
    let _ = client.set_nodelay(true);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let lost = Losing::default();
    // When one side ends, so does the other.
    tokio::select! {
        () = requests(from_client, to_server, flow.clone(), losing, lost.clone(), &turns) => {}
        () = answers(from_server, to_client, flow, lost, &turns) => {}
    }
}

/// Passes on the client's messages, and notes in `lost` when the answer to one is to be lost.
async fn requests(
    mut client: tcp::OwnedReadHalf,
    mut server: unix::OwnedWriteHalf,
    mut flow: watch::Receiver<Flow>,
    losing: Losing,
    lost: Losing,
    turns: &Turns,
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = client.read(&mut buffer).await {
        let message = &buffer[..length];
        if turns.is_answered.swap(false, Ordering::Relaxed) {
            turns.number.fetch_add(1, Ordering::Relaxed);
        }
        let holds = |text: &mut &str| {
            message
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        if let Some(text) = losing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take_if(holds)
        {
            *lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        let is_free = flow.wait_for(|flow| *flow != Flow::Stopped).await.is_ok();
        if !is_free || server.write_all(message).await.is_err() {
            return;
        }
    }
}

/// Passes on the server's answers, until one is to be lost.
async fn answers(
    mut server: unix::OwnedReadHalf,
    mut client: tcp::OwnedWriteHalf,
    mut flow: watch::Receiver<Flow>,
    lost: Losing,
    turns: &Turns,
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = server.read(&mut buffer).await {
        turns.is_answered.store(true, Ordering::Relaxed);
        let text = *lost.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = text {
            return until_done(server, buffer[..length].to_vec(), text == "BEGIN").await;
        }
        let mut rest = &buffer[..length];
        while !rest.is_empty() {
            let Ok(now) = flow
                .wait_for(|flow| *flow != Flow::Stopped)
                .await
                .map(|flow| *flow)
            else {
                return;
            };
            let mut part = rest.len();
            if let Flow::Slow(pause) = now {
                // A network that is mended is so at once.
                let _ = tokio::time::timeout(pause, flow.changed()).await;
                part = 1;
            }
            if client.write_all(&rest[..part]).await.is_err() {
                return;
            }
            rest = &rest[part..];
        }
    }
}

/// Reads answers until PostgreSQL has done all that it was sent: it would drop what it has not read
/// when we leave.
async fn until_done(mut server: unix::OwnedReadHalf, mut answered: Vec<u8>, in_transaction: bool) {
    loop {
        // ReadyForQuery, and whether a transaction is open.
        if answered.ends_with(b"Z\0\0\0\x05I")
            || (in_transaction && answered.ends_with(b"Z\0\0\0\x05T"))
        {
            return;
        }
        if !server
            .read_buf(&mut answered)
            .await
            .is_ok_and(|length| length > 0)
        {
            return;
        }
    }
}
