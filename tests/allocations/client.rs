//! Clients that wait for each response, without a runtime.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::raw::PATIENCE;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

/// The beginning of a response without errors.
const DATA: &str = r#"{"data":"#;

/// Returns a request, with further headers that have their line ends.
pub(crate) fn post(document: &str, variables: &Value, headers: &str) -> Vec<u8> {
    let body = json!({ "query": document, "variables": variables }).to_string();
    let length = body.len();
    format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\n\
         content-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A connection that is kept open.
#[derive(Debug)]
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self(BufReader::new(connect(address)))
    }

    /// Sends a request in one write, so that the server reads it in one piece, and returns the body
    /// of the response.
    ///
    /// # Panics
    /// When the response has errors.
    pub(crate) fn send(&mut self, request: &[u8]) -> String {
        let sent = self.0.get_mut().write_all(request);
        sent.expect("a server that reads");

        let mut body = vec![0; self.content_length()];
        self.0.read_exact(&mut body).expect("a whole body");
        let body = String::from_utf8(body).expect("a text");
        assert!(body.starts_with(DATA), "{body}");
        body
    }

    /// Reads the head of a response.
    fn content_length(&mut self) -> usize {
        let (mut line, mut length) = (String::new(), None);
        loop {
            line.clear();
            let read = self.0.read_line(&mut line).expect("a whole head");
            assert!(read > 0, "the server has closed the connection");

            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().ok();
                }
                None if line.trim_end().is_empty() => return length.expect("a Content-Length"),
                _ => {}
            }
        }
    }
}

/// A WebSocket with one subscription.
#[derive(Debug)]
pub(crate) struct Subscriber(WebSocket<TcpStream>);

impl Subscriber {
    /// Subscribes. Events that happen before the service has started the subscription are lost.
    pub(crate) fn open(address: SocketAddr, document: &str) -> Self {
        let mut request = format!("ws://{address}/graphql")
            .into_client_request()
            .expect("a request");
        let protocol = HeaderValue::from_static("graphql-transport-ws");
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let (socket, _) = client(request, connect(address)).expect("a socket");

        let mut subscriber = Self(socket);
        subscriber.send(&json!({ "type": "connection_init" }));
        assert!(subscriber.receives("connection_ack", PATIENCE));
        let payload = json!({ "query": document });
        subscriber.send(&json!({ "id": "1", "type": "subscribe", "payload": payload }));
        subscriber
    }

    /// Waits for a message with a text; whether it comes in time.
    pub(crate) fn receives(&mut self, text: &str, patience: Duration) -> bool {
        let stream = self.0.get_mut();
        stream
            .set_read_timeout(Some(patience))
            .expect("a time limit");

        loop {
            match self.0.read() {
                Ok(Message::Text(message)) if message.contains(text) => return true,
                Ok(Message::Text(message)) if message.contains(r#""type":"ping""#) => {
                    self.send(&json!({ "type": "pong" }));
                }
                Ok(_) => {}
                Err(Error::Io(error))
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return false;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn send(&mut self, message: &Value) {
        let sent = self.0.send(Message::text(message.to_string()));
        sent.expect("a server that reads");
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("an option of the socket");
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("a time limit");
    stream
}
