//! Clients that speak HTTP as they like.

use std::time::{Duration, Instant};

use svc::axum::Router;
use svc::{HttpConfig, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time that a test waits for what has to come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Serves a router with bounds, until the test ends.
pub async fn serve(config: HttpConfig, router: Router) -> std::net::SocketAddr {
    let server = Server::bind(([127, 0, 0, 1], 0))
        .await
        .expect("no failure of the network")
        .http(config);
    let address = server.local_addr();
    tokio::spawn(server.run(router, std::future::pending()));
    address
}

/// A connection of HTTP/1.1.
pub struct Client(pub TcpStream);

impl Client {
    /// Connects.
    pub async fn open(address: std::net::SocketAddr) -> Self {
        Self(
            TcpStream::connect(address)
                .await
                .expect("no failure of the network"),
        )
    }

    /// Sends bytes.
    pub async fn send(&mut self, text: &str) {
        timeout(PATIENCE, self.0.write_all(text.as_bytes()))
            .await
            .expect("the server does not read")
            .expect("no failure of the network");
    }

    /// Reads a response with a `Content-Length`.
    pub async fn answer(&mut self) -> String {
        let mut text = Vec::new();
        let read = async {
            while !is_whole(&text) {
                let mut bytes = [0; 4096];
                match self.0.read(&mut bytes).await {
                    Ok(0) => break,
                    Ok(count) => text.extend_from_slice(&bytes[..count]),
                    Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&text)),
                }
            }
        };
        timeout(PATIENCE, read)
            .await
            .expect("no whole answer in time");
        String::from_utf8(text).expect("no failure of the network")
    }

    /// Waits until the server has closed the connection; the time that it took, and the bytes that
    /// came until then.
    pub async fn closed(&mut self) -> (Duration, String) {
        let start = Instant::now();
        let mut rest = Vec::new();
        let read = timeout(PATIENCE, self.0.read_to_end(&mut rest)).await;
        // A reset is an end too.
        let _ = read.expect("the connection is still open");
        (start.elapsed(), String::from_utf8_lossy(&rest).into_owned())
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    body.len() >= length.unwrap_or(0)
}

/// A request with a JSON body.
pub fn post(body: &str) -> String {
    let length = body.len();
    format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}
