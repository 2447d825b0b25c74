//! Clients that read or write slowly.

use std::time::{Duration, Instant};
use svc_tests::raw::{Client, PATIENCE, serve};

use svc::HttpConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{router, steadily};

const LARGE: &str = "GET /large HTTP/1.1\r\nhost: x\r\n\r\n";

fn config(write_timeout: Duration) -> HttpConfig {
    HttpConfig {
        write_timeout,
        ..HttpConfig::default()
    }
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_disconnected() {
    let (router, held) = router().await;
    // Long enough for the answer to be seen before it is given up, also where the machine stands
    // still meanwhile.
    let address = serve(config(Duration::from_secs(8)), router).await;
    let mut client = Client::open(address).await;
    client.send(LARGE).await;
    client.0.readable().await.unwrap();
    assert_eq!(held.now(), 1);
    held.is_gone().await;
}

#[tokio::test]
async fn a_client_that_reads_single_bytes_is_disconnected() {
    let (router, held) = router().await;
    let address = serve(config(Duration::from_millis(300)), router).await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(LARGE.as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    let reading = tokio::spawn(async move {
        let mut byte = [0];
        while stream.read(&mut byte).await.is_ok_and(|read| read > 0) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    held.is_gone().await;
    reading.abort();
}

#[tokio::test]
async fn a_slow_but_steady_client_gets_everything() {
    let (router, held) = router().await;
    // The kernel gives up a connection too that stands still for so long, be it because of a busy
    // machine.
    let write_timeout = Duration::from_secs(2);
    let address = serve(config(write_timeout), router).await;
    steadily(write_timeout / 2, async |turns| {
        let mut client = Client::open(address).await;
        let start = Instant::now();
        client.send(LARGE).await;
        let (mut bytes, mut read, mut since_pause) = (vec![0; 100_000], 0, 0);
        while read < 32_000_000 {
            let count = some(&mut client, &mut bytes)
                .await
                .ok_or(format!("closed after {read} bytes"))?;
            turns.take();
            read += count;
            since_pause += count;
            if since_pause > 1_000_000 {
                since_pause = 0;
                tokio::time::sleep(Duration::from_millis(160)).await;
            }
        }
        assert!(
            start.elapsed() > write_timeout * 2,
            "the pauses took only {:?}",
            start.elapsed()
        );
        Ok(())
    })
    .await;
    held.is_gone().await;
}

/// The kernel buffers megabytes for a client; a client that takes a part of them in time is not
/// late.
#[tokio::test]
async fn a_client_that_reads_enough_in_time_is_kept() {
    let (router, _held) = router().await;
    let write_timeout = Duration::from_secs(1);
    let address = serve(
        HttpConfig {
            write_timeout,
            ..HttpConfig::default()
        },
        router,
    )
    .await;
    steadily(write_timeout / 2, async |turns| {
        let mut client = Client::open(address).await;
        client.send(LARGE).await;
        let (mut bytes, mut read, start) = (vec![0; 25_000], 0, Instant::now());
        // Ten times what it has to take.
        while start.elapsed() < 8 * write_timeout {
            let closed = || format!("closed after {read} bytes and {:?}", start.elapsed());
            let count = some(&mut client, &mut bytes).await.ok_or_else(closed)?;
            turns.take();
            read += count;
            tokio::time::sleep(Duration::from_millis(75)).await;
        }
        Ok(())
    })
    .await;
}

/// Reads something; `None` where the connection is closed.
async fn some(client: &mut Client, bytes: &mut [u8]) -> Option<usize> {
    let read = tokio::time::timeout(PATIENCE, client.0.read(bytes))
        .await
        .expect("no bytes in time");
    read.ok().filter(|count| *count > 0)
}

#[tokio::test]
async fn a_request_body_sent_byte_by_byte_is_ended() {
    let url = svc_tests::TestDatabase::empty().await;
    let mut settings = svc::SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(url),
            ..svc::DatabaseConfig::default()
        },
        ..svc::SvcConfig::default()
    };
    settings.http.body_timeout = Duration::from_millis(300);
    let options = svc::AppOptions::new()
        .config(settings)
        .queries(svc::queries![super::hello]);
    let address = serve(
        HttpConfig::default(),
        svc::create_svc_app(options).await.unwrap(),
    )
    .await;
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    for length in [
        "content-length: 1000\r\n\r\n{",
        "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
    ] {
        let (read, mut write) = Client::open(address).await.0.into_split();
        write
            .write_all(format!("{head}{length}").as_bytes())
            .await
            .unwrap();
        let sending = tokio::spawn(async move {
            while write.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        let mut text = String::new();
        let mut read = tokio::io::BufReader::new(read);
        let line = tokio::io::AsyncBufReadExt::read_line(&mut read, &mut text);
        tokio::time::timeout(PATIENCE, line)
            .await
            .expect("no answer in time")
            .unwrap();
        assert!(
            text.starts_with("HTTP/1.1 408") || text.starts_with("HTTP/1.1 400"),
            "{text}"
        );
        sending.abort();
    }
}
