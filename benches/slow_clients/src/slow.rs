//! Slow clients of several kinds. All of them come from the address of the ordinary ones.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The time between two pieces of a slow body, and before the next request of a client.
const PAUSE: Duration = Duration::from_secs(1);
/// The clients whose tokens wait for the identity provider.
const TOKENS: usize = 30;

/// What takes its time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slow {
    /// The bodies of so many connections.
    Bodies(usize),
    /// So many streams of one connection of HTTP/2, which have no body yet.
    Streams(u32),
    /// So many files.
    Uploads(usize),
    /// The identity provider, whose keys the tokens of some clients need.
    Provider,
}

impl Slow {
    /// The kinds that are measured.
    pub(crate) const ALL: [Self; 5] = [
        Self::Bodies(60),
        Self::Bodies(300),
        Self::Streams(9),
        Self::Uploads(12),
        Self::Provider,
    ];

    /// The name of its row.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Bodies(count) => format!("{count} connections whose bodies come slowly"),
            Self::Streams(count) => {
                format!("one connection of HTTP/2 with {count} streams without a body")
            }
            Self::Uploads(count) => format!("{count} uploads"),
            Self::Provider => {
                format!("an identity provider that hangs, {TOKENS} clients with tokens")
            }
        }
    }

    /// Has the clients begin; they end with the value.
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

/// The beginning of a request whose document comes later.
fn body() -> Vec<u8> {
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
      Content-Length: 1000\r\n\r\n{\"query\":\""
        .to_vec()
}

/// The beginning of a request with a file of which little has come.
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

/// The beginning of a connection of HTTP/2: its preface, empty settings, and the heads of requests
/// (RFC 9113, with the static table of RFC 7541).
fn streams(count: u32) -> Vec<u8> {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const HEADERS: u8 = 1;
    const END_HEADERS: u8 = 4;
    // `:method: POST`, `:scheme: http`, and then names of the table with values of their own:
    // `:path`, `:authority`, `content-type`.
    let mut head = vec![0x83, 0x86];
    for (name, value) in [
        (b"\x04".as_slice(), "/graphql"),
        (b"\x01".as_slice(), "localhost"),
        (b"\x0f\x10".as_slice(), "application/json"),
    ] {
        head.extend_from_slice(name);
        // All of them are shorter than 127 letters.
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

/// Begins a request and sends a piece of it after each pause; begins anew where the server ends it.
async fn trickle(address: SocketAddr, beginning: Vec<u8>, piece: &'static [u8]) {
    loop {
        // A refusal ends this attempt only.
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

/// Asks with ever new tokens, by keys that only the identity provider knows.
async fn with_tokens(address: SocketAddr, client: usize) {
    for request in 0_u64.. {
        // It is refused once the provider has not answered for long.
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
