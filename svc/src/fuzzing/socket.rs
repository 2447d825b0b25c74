//! WebSockets: the bytes of a client that uses `graphql-transport-ws`, or violates it.

use std::io::{self, Cursor, Read, Write};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf};
use tokio_tungstenite::tungstenite::WebSocket;
use tokio_tungstenite::tungstenite::protocol::{Message, Role};

use super::service::{self, Service};
use svc_core::exact_json::ExactJson;

const HANDSHAKE: &[u8] =
    b"GET /graphql HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
    sec-websocket-protocol: graphql-transport-ws\r\n\r\n";

/// A masked close frame with the code 1000.
const CLOSE: &[u8] = b"\x88\x82\0\0\0\0\x03\xe8";

/// The byte between two frames, which never occurs in UTF-8.
const BETWEEN: u8 = 0xff;

/// The number of times that a waiting client yields to the service: enough for all operations that
/// do not wait themselves.
const TURNS: usize = 64;

/// Opens a WebSocket, sends frames, and closes it. The frames are separated by bytes of 255; the
/// first byte of each is its kind, see [`written`]. The client waits at an empty frame, and before
/// it closes.
pub fn socket(bytes: &[u8]) {
    service::with(|service| {
        let heard = service.runtime.block_on(async {
            let talk = tokio::time::timeout(Duration::from_secs(10), talk(service, bytes));
            talk.await.expect("the socket is closed in time")
        });
        check(heard, bytes.split(|byte| *byte == BETWEEN).count());
    });
}

/// Encodes one frame: `b` starts a binary message, `f` a text with continuation frames, `c` is the
/// rest of a message, `p` a ping, `q` a pong, `x` a close frame, and `r` bytes that are sent as
/// they are. Anything else is a text.
fn written(frame: &[u8]) -> Vec<u8> {
    let (head, payload) = match frame {
        [b'r', raw @ ..] => return raw.to_vec(),
        [b'b', rest @ ..] => (0x82, rest),
        [b'f', rest @ ..] => (0x01, rest),
        [b'c', rest @ ..] => (0x80, rest),
        [b'p', rest @ ..] => (0x89, rest),
        [b'q', rest @ ..] => (0x8a, rest),
        [b'x', rest @ ..] => (0x88, rest),
        text => (0x81, text),
    };

    let length = u16::try_from(payload.len()).unwrap_or(u16::MAX);
    let payload = &payload[..length.into()];
    let mut bytes = vec![head];

    match u8::try_from(length) {
        Ok(short @ ..126) => bytes.push(0x80 | short),
        _ => bytes.extend([&[0x80 | 126], &length.to_be_bytes()[..]].concat()),
    }

    // The mask is zero.
    bytes.extend([0; 4]);
    bytes.extend(payload);

    bytes
}

/// Returns all bytes that the service sends.
async fn talk(service: &Service, bytes: &[u8]) -> Vec<u8> {
    let (client, server) = tokio::io::duplex(1 << 16);
    let routes = TowerToHyperService::new(service.router.clone());
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(server), routes);
    let connection = tokio::spawn(connection.with_upgrades());
    let (mut read, write) = tokio::io::split(client);
    let (heard, ()) = tokio::join!(hear(&mut read), speak(write, bytes));

    // Dropping the client closes the rest of the connection.
    drop(read);
    connection
        .await
        .expect("no panic")
        .expect("a connection that became a socket");

    // The socket is unregistered by another task, which needs a turn on this thread.
    for _ in 0..TURNS {
        if service.state.live.is_empty() {
            return heard;
        }
        tokio::task::yield_now().await;
    }

    panic!("the socket was not closed");
}

async fn hear(read: &mut ReadHalf<DuplexStream>) -> Vec<u8> {
    let mut heard = Vec::new();
    // The connection may also end with an error.
    let _ = read.read_to_end(&mut heard).await;
    heard
}

async fn speak(mut write: WriteHalf<DuplexStream>, bytes: &[u8]) {
    let frames = bytes
        .split(|byte| *byte == BETWEEN)
        .map(|frame| match frame {
            [] => Vec::new(),
            frame => written(frame),
        });

    for frame in std::iter::once(HANDSHAKE.to_vec())
        .chain(frames)
        .chain([Vec::new(), CLOSE.to_vec()])
    {
        if frame.is_empty() {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
        }
        // A closed WebSocket accepts no more bytes.
        if write.write_all(&frame).await.is_err() {
            return;
        }
    }

    let _ = write.shutdown().await;
}

/// Checks the messages of the service: their format, their order, and the close code.
fn check(heard: Vec<u8>, sent: usize) {
    let end = heard
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .expect("a head")
        + 4;

    assert!(
        heard.starts_with(b"HTTP/1.1 101"),
        "{}",
        String::from_utf8_lossy(&heard[..end])
    );

    let mut recorded = Cursor::new(heard);
    recorded.set_position(end as u64);
    let mut socket = WebSocket::from_raw_socket(Recorded(recorded), Role::Client, None);
    let (mut acknowledged, mut ended) = (false, 0);
    while let Ok(message) = socket.read() {
        match message {
            Message::Text(text) => {
                // Numbers may be larger than serde_json supports.
                let message = ExactJson::read(&text).expect("a message in JSON");
                let field = |name| message.get(name).and_then(ExactJson::as_str);
                match field("type").expect("a type") {
                    "connection_ack" => {
                        assert!(!std::mem::replace(&mut acknowledged, true), "a second one");
                    }
                    "ping" | "pong" => {}
                    "next" | "error" | "complete" => {
                        assert!(acknowledged && field("id").is_some(), "{text}");
                        assert_ne!(code(&message), Some("INTERNAL_SERVER_ERROR"), "{text}");
                        ended += usize::from(field("type") != Some("next"));
                    }
                    _ => panic!("{text}"),
                }
            }
            // A close frame from the client is echoed.
            Message::Close(frame) => {
                assert!(frame.is_none_or(|frame| u16::from(frame.code) != 4500));
            }
            Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }

    assert!(
        ended <= sent,
        "{ended} operations have ended, and {sent} frames were sent"
    );
}

/// Returns the code of the first error in an error message.
fn code(message: &ExactJson) -> Option<&str> {
    let ExactJson::Array(errors) = message.get("payload")? else {
        return None;
    };
    errors.first()?.get("extensions")?.get("code")?.as_str()
}

/// Replays the bytes that were received; writes are discarded.
struct Recorded(Cursor<Vec<u8>>);

impl Read for Recorded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Read::read(&mut self.0, buffer)
    }
}

impl Write for Recorded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
