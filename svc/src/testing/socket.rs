//! A WebSocket connection within the process.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request, header};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::{Error as SocketError, handshake::client};
use tokio_tungstenite::{WebSocketStream, client_async};
use tower::Service as _;

use super::case::Principal;
use svc_core::{Error, Result};

/// The size of the buffer between client and server, in bytes.
const BUFFER: usize = 16 * 1024;

/// Sends an operation over its own WebSocket and returns the first response; null if the WebSocket
/// is rejected.
pub(super) async fn first(app: &Router, principal: &Principal, operation: &Value) -> Result<Value> {
    let (client, server) = tokio::io::duplex(BUFFER);
    let app = app.clone();
    let service =
        service_fn(move |request: Request<Incoming>| app.clone().call(request.map(Body::new)));
    let connection = http1::Builder::new()
        .serve_connection(TokioIo::new(server), service)
        .with_upgrades();
    let serving = async {
        // The client notices the end of the connection by itself.
        let _ = connection.await;
        std::future::pending().await
    };

    tokio::select! {
        answer = ask(client, principal, operation) => answer,
        never = serving => never,
    }
}

async fn ask(connection: DuplexStream, principal: &Principal, operation: &Value) -> Result<Value> {
    let mut socket = match client_async(request(principal)?, connection).await {
        Ok((socket, _)) => socket,
        // A rejected handshake is a verdict on the principal, not a failure of the test.
        Err(SocketError::Http(_)) => return Ok(Value::Null),
        Err(error) => return Err(failed(&error)),
    };

    send(&mut socket, &json!({ "type": "connection_init" })).await?;

    while let Some(message) = socket.next().await {
        let Message::Text(text) = message.map_err(|error| failed(&error))? else {
            continue;
        };

        let mut message: Value = serde_json::from_str(&text)?;
        match message["type"].as_str() {
            // A `subscribe` before the acknowledgement closes a graphql-transport-ws connection
            // with 4401.
            Some("connection_ack") => {
                let subscribe = json!({ "id": "1", "type": "subscribe", "payload": operation });
                send(&mut socket, &subscribe).await?;
            }
            Some("ping") => send(&mut socket, &json!({ "type": "pong" })).await?,
            Some("next") => return Ok(message["payload"].take()),
            Some("error") => return Ok(json!({ "errors": message["payload"] })),
            _ => break,
        }
    }

    Ok(Value::Null)
}

async fn send(socket: &mut WebSocketStream<DuplexStream>, message: &Value) -> Result<()> {
    socket
        .send(Message::text(message.to_string()))
        .await
        .map_err(|error| failed(&error))
}

fn request(principal: &Principal) -> Result<client::Request> {
    let mut request = "ws://localhost/graphql"
        .into_client_request()
        .map_err(|error| failed(&error))?;
    let headers = request.headers_mut();
    headers.insert(
        header::SEC_WEBSOCKET_PROTOCOL,
        HeaderValue::from_static("graphql-transport-ws"),
    );

    for (name, value) in &principal.headers {
        let bad = || Error::internal(format!("the principal has a bad header `{name}`"));
        let name: HeaderName = name.parse().map_err(|_| bad())?;
        headers.append(name, value.parse().map_err(|_| bad())?);
    }

    Ok(request)
}

fn failed(error: &SocketError) -> Error {
    Error::internal(format!("the socket has failed: {error}"))
}
