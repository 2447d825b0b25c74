//! Requests on one connection that arrive together, or in parts that belong to two of them.

use std::time::{Duration, Instant};

use svc::HttpConfig;
use svc_tests::raw::{Client, PATIENCE, post, serve};
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use super::{router, steadily};

/// The maximum time of a round. A connection that nothing wakes takes as long as its time-outs.
const MAX_TIME: Duration = Duration::from_secs(2);
/// The time for which a machine must stand still to excuse a slower round.
const STILL: Duration = Duration::from_millis(200);
/// The rounds on one connection.
const ROUNDS: usize = 3;

fn query(alias: &str) -> String {
    format!(r#"{{"query":"{{ {alias}: hello }}"}}"#)
}

fn answer(alias: &str) -> String {
    format!(r#"{{"data":{{"{alias}":"world"}}}}"#)
}

/// A request whose body has a length.
fn sized(alias: &str) -> String {
    post(&query(alias))
}

/// A request whose body has two chunks and a trailer.
fn chunked(alias: &str) -> String {
    let body = query(alias);
    let (first, rest) = body.split_at(5);
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                transfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n";
    let rest = format!("{:x}\r\n{rest}\r\n0\r\nx-sum: 1\r\n\r\n", rest.len());
    format!("{head}5\r\n{first}\r\n{rest}")
}

/// Splits the text of some requests before each of these parts of it.
fn split(text: &str, before: &[&str]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    for part in before {
        // The rest begins with the part before which the text was split last.
        let at = rest[1..].find(part).expect("the part is in the text") + 1;
        let (first, second) = rest.split_at(at);
        parts.push(first.to_owned());
        rest = second;
    }
    parts.push(rest.to_owned());
    parts
}

/// Reads until the text ends with these letters, or until the connection ends.
async fn read_to(client: &mut Client, end: &str) -> String {
    let mut text = Vec::new();
    while !text.ends_with(end.as_bytes()) {
        let mut bytes = [0; 4096];
        let count = timeout(PATIENCE, client.0.read(&mut bytes))
            .await
            .unwrap_or_else(|_| panic!("no answer after {:?}", String::from_utf8_lossy(&text)))
            .unwrap();
        if count == 0 {
            break;
        }
        text.extend_from_slice(&bytes[..count]);
    }
    String::from_utf8(text).unwrap()
}

fn bodies(answers: &str) -> Vec<&str> {
    answers
        .split("HTTP/1.1 200 OK\r\n")
        .skip(1)
        .map(|answer| answer.split_once("\r\n\r\n").map_or("", |(_, body)| body))
        .collect()
}

/// Sends these parts one after the other, several times on one connection, and compares the
/// answers.
async fn assert_answered(parts: &[String], aliases: &[&str]) {
    let address = serve(HttpConfig::default(), router().await.0).await;
    let expected: Vec<_> = aliases.iter().map(|alias| answer(alias)).collect();
    let last = expected.last().expect("there are requests");

    steadily(STILL, async |_| {
        let mut client = Client::open(address).await;
        client.0.set_nodelay(true).unwrap();
        for round in 0..ROUNDS {
            let start = Instant::now();
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    // Long enough for each part to arrive alone on most machines, and right in
                    // either case.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                client.send(part).await;
            }

            let text = read_to(&mut client, last).await;
            assert_eq!(bodies(&text), expected, "round {round}: {text}");
            if start.elapsed() > MAX_TIME {
                return Err(format!("round {round} took {:?}", start.elapsed()));
            }
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn requests_in_one_write_are_answered() {
    let text = [sized("a"), sized("b")].concat();
    assert_answered(&[text], &["a", "b"]).await;
}

#[tokio::test]
async fn a_head_that_arrives_with_the_end_of_a_body_is_answered() {
    let text = [sized("a"), sized("b")].concat();
    let parts = split(&text, &["a: hello", r#"{"query""#]);
    assert!(parts[1].contains("a: hello") && parts[1].ends_with("\r\n\r\n"));
    assert_answered(&parts, &["a", "b"]).await;
}

#[tokio::test]
async fn a_request_that_arrives_with_the_rest_of_a_body_is_answered() {
    let text = [sized("a"), sized("b")].concat();
    let parts = split(&text, &["a: hello"]);
    assert_answered(&parts, &["a", "b"]).await;
}

#[tokio::test]
async fn a_request_with_trailers_between_others_is_answered() {
    let text = [sized("a"), chunked("b"), sized("c")].concat();
    let splits: [&[&str]; 3] = [
        &[],
        &["x-sum: 1"],
        &["a: hello", "b: hello", "x-sum: 1", "c: hello"],
    ];
    for before in splits {
        assert_answered(&split(&text, before), &["a", "b", "c"]).await;
    }
}
