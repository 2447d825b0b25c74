//! Clients of subscriptions that say what a test wants them to say.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use svc::testing::Subscribed;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, http};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::App;
use crate::raw::PATIENCE;

/// The longest wait for a text or for the end of a connection on which other things, such as pings,
/// keep coming.
const LONGEST: Duration = Duration::from_secs(300);

/// A WebSocket at `/graphql`.
#[derive(Debug)]
pub struct Socket(pub WebSocketStream<TcpStream>);

/// The code and the reason with which a socket was closed.
pub type Closed = (u16, String);

impl Socket {
    /// Opens a socket with the protocol `graphql-transport-ws`.
    pub async fn open(app: &App) -> Self {
        Self::open_with(app, &[]).await
    }

    /// The same, with further headers.
    pub async fn open_with(app: &App, headers: &[(&'static str, &str)]) -> Self {
        let mut all = vec![("sec-websocket-protocol", "graphql-transport-ws")];
        all.extend_from_slice(headers);
        Self::upgrade(app, &all).await.expect("a socket")
    }

    /// Opens a socket with these headers and no others.
    ///
    /// # Errors
    /// The status of an answer that refuses it.
    pub async fn upgrade(app: &App, headers: &[(&'static str, &str)]) -> Result<Self, u16> {
        let url = app.url("/graphql").replacen("http", "ws", 1);
        let mut request = url.into_client_request().expect("a request");
        for (name, value) in headers {
            request
                .headers_mut()
                .append(*name, http::HeaderValue::from_str(value).expect("a header"));
        }
        let stream = TcpStream::connect(app.address())
            .await
            .expect("a connection");
        let upgraded = timeout(PATIENCE, client_async(request, stream)).await;
        match upgraded.expect("no answer to the upgrade in time") {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Opens a socket and waits until it is acknowledged.
    pub async fn ready(app: &App) -> Self {
        Self::ready_with(app, json!({})).await
    }

    /// The same, with a payload of `connection_init`.
    pub async fn ready_with(app: &App, payload: Value) -> Self {
        let mut socket = Self::open(app).await;
        socket
            .send(&json!({ "type": "connection_init", "payload": payload }))
            .await;
        assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
        socket
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &Value) {
        self.send_frame(Message::text(message.to_string())).await;
    }

    /// Sends a frame.
    pub async fn send_frame(&mut self, frame: Message) {
        timeout(PATIENCE, self.0.send(frame))
            .await
            .expect("the service does not read")
            .expect("a frame that is sent");
    }

    /// Subscribes under an identifier.
    pub async fn subscribe(&mut self, id: &str, query: &str) {
        self.send(&json!({ "id": id, "type": "subscribe", "payload": { "query": query } }))
            .await;
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        match self.receive().await {
            Ok(message) => message,
            Err(closed) => panic!("the socket was closed: {closed:?}"),
        }
    }

    /// The next message, or with what the socket was closed.
    ///
    /// # Errors
    /// When it was closed.
    pub async fn receive(&mut self) -> Result<Value, Closed> {
        self.receive_text()
            .await
            .map(|text| serde_json::from_str(&text).expect("JSON"))
    }

    /// The next message as it came, or with what the socket was closed.
    ///
    /// # Errors
    /// When it was closed.
    pub async fn receive_text(&mut self) -> Result<String, Closed> {
        loop {
            let frame = timeout(PATIENCE, self.0.next())
                .await
                .expect("no message in time");
            match frame {
                Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
                Some(Ok(Message::Close(frame))) => {
                    let frame = frame.expect("a code");
                    return Err((CloseCode::into(frame.code), frame.reason.to_string()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err((1006, String::new())),
            }
        }
    }

    /// Waits until the socket is closed; messages before that are not looked at.
    pub async fn closed(&mut self) -> Closed {
        let closed = async {
            loop {
                if let Err(closed) = self.receive().await {
                    return closed;
                }
            }
        };
        timeout(LONGEST, closed)
            .await
            .expect("the socket is still open")
    }

    /// Fails if a message comes within a time.
    pub async fn is_silent(&mut self, time: Duration) {
        if let Ok(message) = timeout(time, self.receive()).await {
            panic!("{message:?}");
        }
    }
}

/// A body that comes in parts.
#[derive(Debug)]
pub struct Events {
    /// The response, without its body.
    pub status: u16,
    /// The media type.
    pub content_type: String,
    response: reqwest::Response,
    text: String,
}

impl Events {
    /// Sends a document that a stream shall answer.
    pub async fn post(app: &App, accept: &str, query: &str) -> Self {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        Self::of(
            request
                .header("accept", accept)
                .body(json!({ "query": query }).to_string()),
        )
        .await
    }

    /// Sends a request.
    pub async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        let content_type = response.headers()["content-type"]
            .to_str()
            .expect("a text")
            .to_owned();
        Self {
            status: response.status().as_u16(),
            content_type,
            response,
            text: String::new(),
        }
    }

    /// Waits until the body has this text, and returns all that came until then.
    pub async fn until(&mut self, part: &str) -> &str {
        let reading = async {
            while !self.text.contains(part) {
                let chunk = timeout(PATIENCE, self.response.chunk())
                    .await
                    .expect("no part in time");
                match chunk.expect("a body") {
                    Some(bytes) => self.text.push_str(&String::from_utf8_lossy(&bytes)),
                    None => panic!("the body has ended without {part:?}: {}", self.text),
                }
            }
        };
        let read = timeout(LONGEST, reading).await;
        assert!(read.is_ok(), "the body has no {part:?}: {}", self.text);
        &self.text
    }

    /// The whole body.
    pub async fn whole(mut self) -> String {
        let reading = async {
            while let Ok(chunk) = timeout(PATIENCE, self.response.chunk())
                .await
                .expect("no end in time")
            {
                let Some(bytes) = chunk else { break };
                self.text.push_str(&String::from_utf8_lossy(&bytes));
            }
        };
        let read = timeout(LONGEST, reading).await;
        assert!(read.is_ok(), "the body does not end: {}", self.text);
        self.text
    }
}

/// The next answer of a subscription of a `TestService`.
pub async fn next_answer(answers: &mut Subscribed) -> Value {
    timeout(LONGEST, answers.next())
        .await
        .expect("no answer in time")
        .expect("the stream goes on")
}
