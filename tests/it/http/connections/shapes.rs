//! Requests of a shape that two servers may read in two ways, or that cost much to read.

use svc::HttpConfig;
use svc_tests::raw::{Client, post, serve};
use tokio::io::AsyncWriteExt as _;

use super::{HELLO, router};

const JSON: &str = "host: x\r\ncontent-type: application/json\r\n";

fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

/// Each request with the beginning of all that comes back; it is empty where nothing does.
fn shapes() -> Vec<(&'static str, String, &'static str)> {
    let both = format!(
        "POST /graphql HTTP/1.1\r\n{JSON}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    let lengths = format!(
        "POST /graphql HTTP/1.1\r\n{JSON}content-length: 20\r\ncontent-length: 21\r\n\r\n{HELLO}"
    );
    let length = |value: &str| {
        format!("POST /graphql HTTP/1.1\r\n{JSON}content-length: {value}\r\n\r\n{HELLO}")
    };
    let encoding = |value: &str| {
        format!(
            "POST /graphql HTTP/1.1\r\n{JSON}transfer-encoding: {value}\r\n\r\n{}",
            chunked(HELLO)
        )
    };
    let chunks = |chunks: &str| {
        format!("POST /graphql HTTP/1.1\r\n{JSON}transfer-encoding: chunked\r\n\r\n{chunks}")
    };
    vec![
        ("a second length that differs", lengths, "HTTP/1.1 400"),
        ("a negative length", length("-1"), "HTTP/1.1 400"),
        ("a length with a sign", length("+20"), "HTTP/1.1 400"),
        (
            "a length beyond all numbers",
            length("99999999999999999999999"),
            "HTTP/1.1 400",
        ),
        ("a list of lengths", length("20, 21"), "HTTP/1.1 400"),
        ("an unknown encoding", encoding("gzip"), "HTTP/1.1 400"),
        (
            "chunked is not the last encoding",
            encoding("chunked, identity"),
            "HTTP/1.1 400",
        ),
        (
            "both framings",
            format!("{both}{}GET /smuggled HTTP/1.1\r\n\r\n", chunked(HELLO)),
            "HTTP/1.1 200",
        ),
        (
            "HTTP/1.0 with chunks",
            encoding("chunked").replacen("HTTP/1.1", "HTTP/1.0", 1),
            "HTTP/1.1 400",
        ),
        (
            "a space before the colon",
            "GET /health HTTP/1.1\r\nhost : x\r\n\r\n".to_owned(),
            "HTTP/1.1 400",
        ),
        (
            "a folded header",
            "GET /health HTTP/1.1\r\nhost: x\r\n y: z\r\n\r\n".to_owned(),
            "HTTP/1.1 400",
        ),
        (
            "a zero byte",
            "GET /health HTTP/1.1\r\nhost: x\0y\r\n\r\n".to_owned(),
            "HTTP/1.1 400",
        ),
        (
            "a version that is none",
            "GET /health HTTP/9.9\r\nhost: x\r\n\r\n".to_owned(),
            "HTTP/1.1 400",
        ),
        (
            "no version",
            "GET /health\r\n\r\n".to_owned(),
            "HTTP/1.1 400",
        ),
        (
            "a tunnel",
            "CONNECT x:80 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned(),
            "HTTP/1.1 404",
        ),
        (
            "an asterisk",
            "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned(),
            "HTTP/1.1 404",
        ),
        (
            "an absolute address",
            "GET http://other:1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned(),
            "HTTP/1.1 200",
        ),
        (
            "a chunk that is not hexadecimal",
            chunks("zz\r\n{}\r\n0\r\n\r\n"),
            "HTTP/1.1 400",
        ),
        (
            "a chunk larger than all memory",
            chunks("fffffffffffffff\r\n{}"),
            "",
        ),
        (
            "a chunk longer than it says",
            chunks("1\r\n{}\r\n0\r\n\r\n"),
            "HTTP/1.1 400",
        ),
        (
            "an endless extension",
            chunks(&format!("1;{}", "x".repeat(1_000_000))),
            "HTTP/1.1 400",
        ),
        (
            "endless trailers",
            chunks(&format!(
                "2\r\n{{}}\r\n0\r\n{}\r\n",
                "a: b\r\n".repeat(100_000)
            )),
            "HTTP/1.1 400",
        ),
    ]
}

#[tokio::test]
async fn ambiguous_requests_are_refused_or_end_the_connection() {
    let address = serve(HttpConfig::default(), router().await.0).await;
    let mut wrong = Vec::new();
    for (what, text, begin) in shapes() {
        let (mut read, mut write) = Client::open(address).await.0.into_split();
        // A server that has refused does not read all of it.
        let _ = write.write_all(text.as_bytes()).await;
        if begin.is_empty() {
            write.shutdown().await.unwrap_or_default();
        }
        let mut answer = Vec::new();
        let read = tokio::io::AsyncReadExt::read_to_end(&mut read, &mut answer);
        let ended = tokio::time::timeout(svc_tests::raw::PATIENCE, read).await;
        let answer = String::from_utf8_lossy(&answer);
        let answers = answer.matches("HTTP/1.").count();
        if ended.is_err() || !answer.starts_with(begin) || answers > 1 {
            wrong.push((what, ended.is_ok(), answer.into_owned()));
        }
    }
    assert!(
        wrong.is_empty(),
        "what was sent, whether the connection ended, what came: {wrong:#?}"
    );
    let mut client = Client::open(address).await;
    client.send(&post(HELLO)).await;
    assert!(client.answer().await.contains("world"));
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let mut client = Client::open(serve(HttpConfig::default(), router().await.0).await).await;
    client
        .send(&[post(super::SLOW), post(HELLO), post("{}")].concat())
        .await;
    for part in ["slow", "world", "`query` is missing"] {
        let mut answer = String::new();
        while !answer.contains("\r\n\r\n") || !answer.ends_with('}') {
            let mut byte = [0];
            let read = tokio::io::AsyncReadExt::read_exact(&mut client.0, &mut byte);
            tokio::time::timeout(svc_tests::raw::PATIENCE, read)
                .await
                .unwrap()
                .unwrap();
            answer.push(char::from(byte[0]));
            if answer.ends_with('}') && answer.matches('{').count() != answer.matches('}').count() {
                continue;
            }
        }
        assert!(answer.contains(part), "{part}: {answer}");
    }
}
