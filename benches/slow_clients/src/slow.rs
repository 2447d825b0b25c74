//! The slow clients. They have the same address as the ordinary ones.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The pause between two pieces of a body, and before a client sends another request.
const PAUSE: Duration = Duration::from_secs(1);
/// The number of clients whose tokens need the identity provider.
const TOKENS: usize = 30;

/// A kind of slow clients.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slow {
    /// Connections whose JSON bodies arrive slowly.
    Bodies(usize),
    /// Streams of one HTTP/2 connection that send no body.
    Streams(u32),
    /// Uploads whose files arrive slowly.
    Uploads(usize),
    /// An identity provider that hangs, for clients with tokens.
    Provider,
}

impl Slow {
    /// The measured kinds, in the order of the table.
    pub(crate) const ALL: [Self; 5] = [
        Self::Bodies(60),
        Self::Bodies(300),
        Self::Streams(9),
        Self::Uploads(12),
        Self::Provider,
    ];

    /// The name of the row in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Bodies(count) => format!("{count} connections with slow bodies"),
            Self::Streams(count) => {
                format!("an HTTP/2 connection with {count} streams without a body")
            }
            Self::Uploads(count) => format!("{count} slow uploads"),
            Self::Provider => {
                format!("an identity provider that hangs, with {TOKENS} clients")
            }
        }
    }

    /// Starts the clients, which stop when the set is dropped.
    pub(crate) fn start(self, address: SocketAddr) -> JoinSet<()> {
        let mut clients = JoinSet::new();
        match self {
            Self::Bodies(count) => {
                for _ in 0..count {
                    clients.spawn(trickle(address, body(), b" "));
                }
            }
            Self::Streams(count) => {
                clients.spawn(trickle(address, streams(count), b""));
            }
            Self::Uploads(count) => {
                for _ in 0..count {
                    clients.spawn(trickle(address, upload(), &[b'x'; 1_024]));
                }
            }
            Self::Provider => {
                for number in 0..TOKENS {
                    clients.spawn(with_tokens(address, number));
                }
            }
        }
        clients
    }
}

/// The start of a request: its head, and the first bytes of its body.
fn body() -> Vec<u8> {
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
      Content-Length: 1000\r\n\r\n{\"query\":\""
        .to_vec()
}

/// The start of an upload: its head, the operation, and the head of the file.
fn upload() -> Vec<u8> {
    let part = |name: &str, value: &str| {
        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let operations =
        r#"{"query":"mutation ($file: Upload!) { size(file: $file) }","variables":{"file":null}}"#;
    let head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nGraphQL-Preflight: 1\r\n\
                Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000000\r\n\r\n";
    let file = "--b\r\nContent-Disposition: form-data; name=\"0\"; filename=\"a\"\r\n\r\n";
    format!(
        "{head}{}{}{file}",
        part("operations", operations),
        part("map", r#"{"0":["variables.file"]}"#)
    )
    .into_bytes()
}

/// The start of an HTTP/2 connection (RFC 9113): the preface, empty settings, and the heads of
/// requests, which HPACK (RFC 7541) encodes.
fn streams(count: u32) -> Vec<u8> {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const HEADERS: u8 = 1;
    const END_HEADERS: u8 = 4;
    // Entries of the static table: `:method: POST` and `:scheme: http`. The names `:path`,
    // `:authority` and `content-type` are also in the table; their values are literals.
    let mut head = vec![0x83, 0x86];
    for (name, value) in [
        (b"\x04".as_slice(), "/graphql"),
        (b"\x01".as_slice(), "localhost"),
        (b"\x0f\x10".as_slice(), "application/json"),
    ] {
        head.extend_from_slice(name);
        // A length below 127 is one byte.
        head.push(value.len() as u8);
        head.extend_from_slice(value.as_bytes());
    }
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend_from_slice(&SETTINGS);
    for stream in 0..count {
        bytes.extend_from_slice(&[0, 0, head.len() as u8, HEADERS, END_HEADERS]);
        bytes.extend_from_slice(&(2 * stream + 1).to_be_bytes());
        bytes.extend_from_slice(&head);
    }
    bytes
}

/// Sends the start of a request, then a piece after each pause. Connects again after an error, or
/// if the server closes the connection.
async fn trickle(address: SocketAddr, beginning: Vec<u8>, piece: &'static [u8]) {
    loop {
        // Every attempt may fail: beyond a limit, the server closes the slowest connections.
        let _ = begin(address, &beginning, piece).await;
        tokio::time::sleep(PAUSE).await;
    }
}

async fn begin(address: SocketAddr, beginning: &[u8], piece: &[u8]) -> Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(beginning).await?;
    loop {
        tokio::time::sleep(PAUSE).await;
        stream.write_all(piece).await?;
        match stream.try_read(&mut [0; 4_096]) {
            Ok(0) => return Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Sends requests one after the other. Each token has a new key ID, so the server needs the keys of
/// the provider.
async fn with_tokens(address: SocketAddr, client: usize) {
    for request in 0_u64.. {
        // The response is an error once the server stops waiting for the provider.
        let _ = with_token(address, &format!("{client}-{request}")).await;
        tokio::time::sleep(PAUSE).await;
    }
}

async fn with_token(address: SocketAddr, key: &str) -> Result<()> {
    let head = format!(r#"{{"alg":"EdDSA","typ":"JWT","kid":"{key}"}}"#);
    let claims = r#"{"sub":"ada","aud":"bench","exp":4102444800}"#;
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let token = [
        part(head.as_bytes()),
        part(claims.as_bytes()),
        part(&[7; 64]),
    ]
    .join(".");
    let body = r#"{"query":"{ works { id } }"}"#;
    let request = format!(
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    stream.read_to_end(&mut Vec::new()).await.map(drop)
}
