//! The time-outs and bounds of connections of HTTP/2.

use std::net::SocketAddr;
use std::time::{Duration, Instant};
use svc_tests::raw::{PATIENCE, serve};

use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use svc::HttpConfig;
use svc::axum::body::Bytes;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{HELLO, NEVER, router, steadily};

/// A connection of HTTP/2, and the task that reads and writes it until it ends.
struct Client {
    requests: SendRequest<Bytes>,
    connection: JoinHandle<Result<(), h2::Error>>,
}

impl Client {
    async fn open(address: SocketAddr) -> Self {
        Self::try_open(address).await.unwrap()
    }

    /// The same; an error where the connection was closed meanwhile.
    async fn try_open(address: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(address).await.unwrap();
        let (requests, connection) = h2::client::handshake(stream)
            .await
            .map_err(|error| error.to_string())?;
        let mut client = Self {
            requests,
            connection: tokio::spawn(connection),
        };
        client
            .try_post(HELLO)
            .await
            .map_err(|error| error.to_string())?;
        Ok(client)
    }

    async fn begin(
        &mut self,
        method: &str,
        path: &str,
        end: bool,
    ) -> Result<(ResponseFuture, SendStream<Bytes>), h2::Error> {
        let request = http::Request::builder()
            .method(method)
            .uri(format!("http://x{path}"));
        let request = request
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        self.requests = tokio::time::timeout(PATIENCE, self.requests.clone().ready())
            .await
            .expect("the connection takes no request")?;
        self.requests.send_request(request, end)
    }

    async fn post(&mut self, body: &'static str) -> String {
        self.try_post(body).await.unwrap()
    }

    async fn try_post(&mut self, body: &'static str) -> Result<String, h2::Error> {
        let (response, mut send) = self.begin("POST", "/graphql", false).await?;
        send.send_data(Bytes::from_static(body.as_bytes()), true)?;
        let answer = async {
            let mut body = response.await?.into_body();
            let mut text = Vec::new();
            while let Some(data) = body.data().await {
                text.extend_from_slice(&data?);
            }
            Ok::<_, h2::Error>(String::from_utf8(text).unwrap())
        };
        tokio::time::timeout(PATIENCE, answer)
            .await
            .expect("no whole answer in time")
    }

    async fn large(&mut self) -> Result<RecvStream, h2::Error> {
        let (response, _) = self.begin("GET", "/large", true).await?;
        let response = tokio::time::timeout(PATIENCE, response).await;
        Ok(response.expect("no answer in time")?.into_body())
    }

    /// Waits until the server has closed the connection.
    async fn closed(self) {
        let _ = tokio::time::timeout(PATIENCE, self.connection)
            .await
            .expect("the connection is still open");
    }
}

#[tokio::test]
async fn an_idle_http2_connection_is_closed() {
    let idle_timeout = Duration::from_millis(400);
    let address = serve(
        HttpConfig {
            idle_timeout,
            ..HttpConfig::default()
        },
        router().await.0,
    )
    .await;
    steadily(idle_timeout / 2, async |_| {
        let start = Instant::now();
        Client::try_open(address).await?.closed().await;
        assert!(
            start.elapsed() >= idle_timeout,
            "closed after {:?}",
            start.elapsed()
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_unresponsive_http2_client_is_closed() {
    let config = HttpConfig {
        idle_timeout: Duration::from_millis(200),
        header_timeout: Duration::from_millis(200),
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    let mut raw = svc_tests::raw::Client::open(address).await;
    let settings = "\0\0\0\u{4}\0\0\0\0\0";
    // GET / as HPACK's static table has it.
    let headers = "\0\0\u{3}\u{1}\u{5}\0\0\0\u{1}";
    raw.send(&format!(
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{settings}{headers}"
    ))
    .await;
    // Where the machine has stood still, the connection is closed already.
    let _ = tokio::io::AsyncWriteExt::write_all(&mut raw.0, &[0x82, 0x84, 0x86]).await;
    raw.closed().await;
}

#[tokio::test]
async fn a_connection_with_a_running_request_is_not_idle() {
    let brief = Duration::from_millis(250);
    let config = HttpConfig {
        idle_timeout: brief,
        header_timeout: brief,
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    steadily(brief / 2, async |_| {
        let answer = Client::try_open(address).await?.try_post(super::SLOW).await;
        assert_eq!(
            answer.map_err(|error| error.to_string())?,
            r#"{"data":{"slow":true}}"#
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_stalled_stream_ends_and_the_connection_continues() {
    // Long enough for all three to be seen before the first is given up, also where the machine
    // stands still meanwhile.
    let config = HttpConfig {
        write_timeout: Duration::from_secs(8),
        ..HttpConfig::default()
    };
    let (router, held) = router().await;
    let address = serve(config, router).await;
    let mut client = Client::open(address).await;
    let mut bodies = Vec::new();
    for _ in 0..3 {
        bodies.push(client.large().await.unwrap());
    }
    assert_eq!(held.now(), 3);
    held.is_gone().await;
    // What was taken of the connection's window is given back, so that others can be answered.
    drop(bodies);
    assert_eq!(client.post(HELLO).await, r#"{"data":{"hello":"world"}}"#);
}

#[tokio::test]
async fn a_slow_but_steady_stream_gets_everything() {
    // The kernel gives up a connection too that stands still for so long, be it because of a busy
    // machine.
    let write_timeout = Duration::from_secs(2);
    let address = serve(
        HttpConfig {
            write_timeout,
            ..HttpConfig::default()
        },
        router().await.0,
    )
    .await;
    steadily(write_timeout / 2, async |turns| {
        let mut client = Client::try_open(address).await?;
        let start = Instant::now();
        let mut body = client.large().await.map_err(|error| error.to_string())?;
        let (mut read, mut since_pause) = (0, 0);
        while let Some(data) = tokio::time::timeout(PATIENCE, body.data())
            .await
            .expect("no part in time")
        {
            turns.take();
            let count = data
                .map_err(|error| format!("closed after {read} bytes: {error}"))?
                .len();
            body.flow_control()
                .release_capacity(count)
                .map_err(|error| error.to_string())?;
            read += count;
            since_pause += count;
            if since_pause > 1_000_000 {
                since_pause = 0;
                tokio::time::sleep(Duration::from_millis(160)).await;
            }
        }
        assert_eq!(read, 32_000_000);
        assert!(
            start.elapsed() > write_timeout * 2,
            "the pauses took only {:?}",
            start.elapsed()
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_client_that_resets_many_requests_is_closed() {
    let address = serve(HttpConfig::default(), router().await.0).await;
    let mut client = Client::open(address).await;
    for _ in 0..1_000 {
        if client.connection.is_finished() {
            break;
        }
        let Ok((response, mut send)) = client.begin("POST", "/graphql", false).await else {
            break;
        };
        if send
            .send_data(Bytes::from_static(NEVER.as_bytes()), true)
            .is_err()
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        drop((response, send));
    }
    client.closed().await;
    assert_eq!(
        Client::open(address).await.post(HELLO).await,
        r#"{"data":{"hello":"world"}}"#
    );
}

#[tokio::test]
async fn a_client_can_reset_some_requests() {
    let address = serve(HttpConfig::default(), router().await.0).await;
    let mut client = Client::open(address).await;
    for _ in 0..150 {
        let (response, mut send) = client.begin("POST", "/graphql", false).await.unwrap();
        send.send_data(Bytes::from_static(NEVER.as_bytes()), true)
            .unwrap();
        tokio::task::yield_now().await;
        drop((response, send));
        client.post(HELLO).await;
        client.post(HELLO).await;
    }
    assert!(!client.connection.is_finished());
}

#[tokio::test]
async fn concurrent_streams_are_bounded() {
    let config = HttpConfig {
        http2_max_streams: 7,
        ..HttpConfig::default()
    };
    let address = serve(config, router().await.0).await;
    let client = Client::open(address).await;
    assert_eq!(client.requests.current_max_send_streams(), 7);
}
