//! Answers that wait in memory until their clients take them.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use svc::ProtectionConfig;
use svc::prelude::*;
use svc_tests::raw::{PATIENCE, post};
use svc_tests::{App, Log, Socket, TestDatabase, eventually, is_alone, resident};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Barrier;
use tokio::task::JoinHandle;

/// More than the system takes from the service.
const LARGE: usize = 12_000_000;
const DOCUMENT: &str = "{ text(length: 12000000) }";

#[svc::query]
fn text(length: i32) -> String {
    "x".repeat(usize::try_from(length).unwrap())
}

/// A service in which two answers may wait.
async fn app() -> App {
    app_with(30_000_000).await
}

async fn app_with(max_unread_answers: usize) -> App {
    let url = TestDatabase::empty().await;
    let protection = ProtectionConfig {
        max_unread_answers,
        ..ProtectionConfig::default()
    };
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url(url)
        .queries(queries![text]);
    App::serve(options).await.unwatched()
}

/// A client that has asked, and reads nothing but the beginning; `None` where the service has
/// refused.
async fn stalled(app: &App, request: &str) -> Option<TcpStream> {
    stalled_at([127, 0, 0, 1], app, request).await
}

async fn stalled_at(address: [u8; 4], app: &App, request: &str) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((address, 0).into()).unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(app.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut status))
        .await
        .expect("no answer in time")
        .unwrap();
    match &status {
        b"HTTP/1.1 200" => Some(stream),
        b"HTTP/1.1 503" => None,
        other => panic!("{}", String::from_utf8_lossy(other)),
    }
}

/// Reads what is left.
async fn rest(mut stream: TcpStream) -> usize {
    let (mut bytes, mut read) = (vec![0; 1 << 20], 0);
    while let Ok(count) = tokio::time::timeout(PATIENCE, stream.read(&mut bytes))
        .await
        .expect("no end in time")
    {
        if count == 0 {
            break;
        }
        read += count;
    }
    read
}

/// The service answers again.
async fn answers(app: &App) {
    eventually(async || match app.query("{ text(length: 1) }").await {
        reply if reply.status == 200 => Ok(()),
        reply => {
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (503, "SERVICE_UNAVAILABLE")
            );
            assert_eq!(reply.headers["retry-after"], "1");
            Err(reply.text)
        }
    })
    .await;
}

fn close(request: &str) -> String {
    request.replacen("\r\n", "\r\nconnection: close\r\n", 1)
}

#[tokio::test]
async fn the_client_stalled_for_longest_loses_its_connection() {
    let by_post = close(&post(&json!({ "query": DOCUMENT }).to_string()));
    let as_stream = by_post.replacen("\r\n", "\r\naccept: text/event-stream\r\n", 1);
    let by_get = "GET /graphql?query=%7Btext(length:12000000)%7D HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    for request in [by_post.as_str(), &as_stream, by_get] {
        let (log, app) = (Log::start(), app().await);
        let mut clients = Vec::new();
        while clients.len() < 3 {
            // A slow machine may take more than the second that each client has.
            clients.extend(stalled(&app, request).await);
        }
        // Nobody has to ask for it.
        log.has("closed=1 ").await;
        answers(&app).await;
        let mut clients = clients.into_iter();
        let first = rest(clients.next().unwrap()).await;
        assert!(first < LARGE, "{first}");
        // The others are not given up for it, as long as there is room.
        for client in clients {
            let read = rest(client).await;
            assert!(read > LARGE, "{read} of {request}");
        }
    }
}

/// A client that reads steadily, though slowly, outlasts later ones that read nothing. On a machine
/// that stands still for a second no client reads, but not each time.
#[tokio::test]
async fn a_steady_slow_reader_receives_everything() {
    let mut tries = Vec::new();
    while tries.len() < 6 {
        let (by_http, by_socket, stalled_ones) = steady_and_stalled().await;
        let is_steady = by_http > LARGE && by_socket > LARGE;
        if is_steady && stalled_ones.iter().any(|length| *length < LARGE) {
            return;
        }
        tries.push((by_http, by_socket, stalled_ones));
    }
    panic!("read by HTTP, by a socket, and by those who came later: {tries:?}");
}

/// The bytes that two steady readers have received, and two later clients.
async fn steady_and_stalled() -> (usize, usize, Vec<usize>) {
    let app = app().await;
    let both_read = Barrier::new(3);
    let by_http = async {
        let request = close(&post(&json!({ "query": DOCUMENT }).to_string()));
        let mut stream = TcpStream::connect(app.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.readable().await.unwrap();
        both_read.wait().await;
        read_slowly(stream).await
    };
    let by_socket = async {
        let mut socket = Socket::ready(&app).await;
        socket.subscribe("1", DOCUMENT).await;
        socket.0.get_ref().readable().await.unwrap();
        both_read.wait().await;
        read_slowly(socket.0.into_inner()).await
    };
    let stalled_ones = async {
        both_read.wait().await;
        let request = close(&post(&json!({ "query": DOCUMENT }).to_string()));
        let mut clients = Vec::new();
        while clients.len() < 2 {
            match stalled(&app, &request).await {
                None => answers(&app).await,
                client => clients.extend(client),
            }
        }
        answers(&app).await;
        let mut lengths = Vec::new();
        for client in clients {
            lengths.push(rest(client).await);
        }
        lengths
    };
    tokio::join!(by_http, by_socket, stalled_ones)
}

/// Reads about 2 MB in a second, until the connection ends or the answer has come.
async fn read_slowly(stream: TcpStream) -> usize {
    read_in_steps(stream, 100_000, Duration::from_millis(20)).await
}

/// Reads so many bytes at a time, with a pause between two of them.
async fn read_in_steps(mut stream: TcpStream, step: usize, pause: Duration) -> usize {
    let (mut bytes, mut read) = (vec![0; step], 0);
    while read <= LARGE {
        let count = tokio::time::timeout(PATIENCE, stream.read(&mut bytes))
            .await
            .expect("no end in time");
        match count {
            Ok(0) | Err(_) => break,
            Ok(count) => read += count,
        }
        tokio::time::sleep(pause).await;
    }
    read
}

/// A client that reads a little all the time keeps an answer for minutes: below 256 KiB a second is
/// too little for ten.
#[tokio::test]
async fn a_reader_below_the_minimum_rate_is_closed_after_ten_seconds() {
    let app = app().await;
    let request = close(&post(&json!({ "query": DOCUMENT }).to_string()));
    for _ in 0..12 {
        let mut clients = Vec::new();
        for _ in 0..3 {
            // A window smaller than a segment of the loopback stalls for seconds, whatever the
            // client reads.
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(1 << 20).unwrap();
            let mut client = socket.connect(app.address()).await.unwrap();
            client.write_all(request.as_bytes()).await.unwrap();
            client.readable().await.unwrap();
            clients.push(tokio::spawn(read_in_steps(
                client,
                16_384,
                Duration::from_millis(120),
            )));
        }
        let start = Instant::now();
        // All of it would take a minute.
        let first = eventually(async || {
            clients
                .iter()
                .position(JoinHandle::is_finished)
                .ok_or_else(|| "all three keep their answers".to_owned())
        })
        .await;
        let kept = start.elapsed();
        let read = clients.swap_remove(first).await.unwrap();
        assert!(read < LARGE, "{read}");
        join_all(clients.into_iter().map(abort)).await;
        answers(&app).await;
        // One that stands still for a second, as the machine does, is given up for that.
        if kept > Duration::from_secs(9) {
            return;
        }
    }
    panic!("none of twelve is given up for creeping");
}

async fn abort<T>(task: JoinHandle<T>) {
    task.abort();
    let _ = task.await;
}

/// Clients that keep answers waiting do not have the requests of others refused.
#[tokio::test]
async fn requests_of_stalled_clients_are_refused() {
    let app = app().await;
    let large = post(&json!({ "query": DOCUMENT }).to_string());
    let small = post(&json!({ "query": "{ text(length: 1) }" }).to_string());
    let mut clients = Vec::new();
    eventually(async || match stalled(&app, &large).await {
        None => Ok(()),
        client => {
            clients.extend(client);
            Err(format!("{} answers wait", clients.len()))
        }
    })
    .await;
    assert!(
        stalled_at([127, 0, 0, 2], &app, &small).await.is_some(),
        "a client at another address is refused"
    );
    answers(&app).await;
}

#[tokio::test]
async fn a_socket_whose_client_reads_nothing_is_closed() {
    let app = app().await;
    let mut sockets = Vec::new();
    for _ in 0..3 {
        let mut socket = Socket::ready(&app).await;
        socket.subscribe("1", DOCUMENT).await;
        // It is being sent.
        tokio::time::timeout(PATIENCE, socket.0.get_ref().readable())
            .await
            .expect("nothing in time")
            .unwrap();
        sockets.push(socket);
    }
    answers(&app).await;
    let first = sockets[0].receive_text().await;
    assert!(first.is_err(), "the whole answer has come");
    for socket in &mut sockets[1..] {
        assert_eq!(
            socket.receive_text().await.map(|text| text.len() > LARGE),
            Ok(true)
        );
    }
}

/// Answers that wait while another is sent count as well.
#[tokio::test]
async fn the_answers_of_one_socket_count_together() {
    let log = Log::start();
    let app = app().await;
    let mut socket = Socket::ready(&app).await;
    // All of them come before the service sends the first answer, as it reads nothing meanwhile.
    socket.0.get_ref().set_nodelay(true).unwrap();
    for id in ["1", "2", "3"] {
        socket.subscribe(id, DOCUMENT).await;
    }
    eventually(async || {
        answers(&app).await;
        let text = log.text();
        if text.contains("closed the connections of the slowest clients") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;
    let mut came = 0;
    while socket.receive_text().await.is_ok() {
        came += 1;
    }
    assert!(came < 3, "all answers have come");
}

#[tokio::test]
async fn the_memory_of_stalled_clients_is_bounded() {
    if !is_alone(module_path!(), "the_memory_of_stalled_clients_is_bounded") {
        return;
    }
    let app = app().await;
    let request = post(&json!({ "query": DOCUMENT }).to_string());
    answers(&app).await;
    let before = resident();
    let mut clients = Vec::new();
    while clients.len() < 40 {
        match stalled(&app, &request).await {
            None => answers(&app).await,
            client => clients.extend(client),
        }
    }
    let more = resident().saturating_sub(before) >> 20;
    assert!(
        more < 150,
        "{more} MiB more, where all answers would be 458"
    );
}

#[tokio::test]
async fn a_stalled_http2_stream_is_closed() {
    let app = app().await;
    let mut connections = Vec::new();
    while connections.len() < 3 {
        let stream = TcpStream::connect(app.address()).await.unwrap();
        let (requests, connection) = h2::client::handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let body = json!({ "query": DOCUMENT }).to_string();
        let request = http::Request::builder()
            .method("POST")
            .uri("http://x/graphql");
        let request = request
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        let mut requests = requests.ready().await.unwrap();
        let (response, mut send) = requests.send_request(request, false).unwrap();
        send.send_data(body.into(), true).unwrap();
        let response = tokio::time::timeout(PATIENCE, response).await;
        let response = response.expect("no answer in time").unwrap();
        if response.status() == 200 {
            connections.push((connection, response));
        }
    }
    answers(&app).await;
    let (first, _response) = connections.remove(0);
    let _ = tokio::time::timeout(PATIENCE, first)
        .await
        .expect("the connection is still open")
        .unwrap();
    assert!(
        connections
            .iter()
            .all(|(connection, _)| !connection.is_finished()),
        "others have room"
    );
}

/// A connection of HTTP/2 has many answers at once, and small ones make much of it too.
#[tokio::test]
async fn small_answers_of_many_streams_count_together() {
    let app = app_with(1 << 20).await;
    let stream = TcpStream::connect(app.address()).await.unwrap();
    let handshake = h2::client::Builder::new()
        .initial_window_size(0)
        .handshake::<_, svc::axum::body::Bytes>(stream);
    let (requests, connection) = handshake.await.unwrap();
    let connection = tokio::spawn(connection);
    let body = json!({ "query": "{ text(length: 30000) }" }).to_string();
    let mut waiting = Vec::new();
    for _ in 0..90 {
        let request = http::Request::builder()
            .method("POST")
            .uri("http://x/graphql");
        let request = request
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        let Ok(mut requests) = requests.clone().ready().await else {
            break;
        };
        let (response, mut send) = requests.send_request(request, false).unwrap();
        let _ = send.send_data(body.clone().into(), true);
        waiting.push(response);
    }
    let _ = tokio::time::timeout(PATIENCE, connection)
        .await
        .expect("the connection is still open")
        .unwrap();
    answers(&app).await;
}
