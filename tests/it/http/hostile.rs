//! Requests that mean the service ill: each is answered, or its connection closed, and the service
//! goes on.

use std::net::SocketAddr;

use hostile_requests::{End, Hostile};
use svc::futures_util::{StreamExt as _, stream};
use svc::prelude::*;
use svc::{HttpConfig, ProtectionConfig};
use svc_tests::raw::{Client, PATIENCE, post, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The hostile requests at the same time: many wait for the service to see the end of a connection.
const AT_ONCE: usize = 4;

#[svc_type]
struct Node {
    id: i32,
}

#[svc_type]
impl Node {
    fn next(&self) -> Node {
        Node { id: self.id + 1 }
    }
}

#[svc_type(sql_source = "v_user")]
struct User {
    id: i32,
    name: String,
}

#[svc::query]
fn start() -> Node {
    Node { id: 0 }
}

#[svc::query]
async fn users() -> Vec<User>;

#[svc::query]
fn length(text: String) -> i32 {
    text.len().try_into().unwrap_or(i32::MAX)
}

#[svc::query]
fn echo(json: svc::serde_json::Value) -> bool {
    !json.is_null()
}

#[svc::subscription]
fn ticks(count: i32) -> impl Stream<Item = i32> {
    stream::iter(1..=count)
}

#[svc::subscription]
fn forever() -> impl Stream<Item = i32> {
    stream::iter([1]).chain(stream::pending())
}

async fn server() -> SocketAddr {
    let protection = ProtectionConfig {
        batch_max: 10,
        ..ProtectionConfig::default()
    };
    let options = AppOptions::new()
        .config(SvcConfig {
            protection,
            ..SvcConfig::default()
        })
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![start, users, length, echo])
        .subscriptions(subscriptions![ticks, forever]);
    serve(
        HttpConfig::default(),
        create_svc_app(options).await.unwrap(),
    )
    .await
}

/// All that comes back; `None` where the connection stays open.
async fn answer(address: SocketAddr, hostile: &Hostile) -> Option<Vec<u8>> {
    let (mut read, mut write) = Client::open(address).await.0.into_split();
    let mut answer = Vec::new();
    let sending = async {
        // A service that has refused does not read all of it.
        let _ = write.write_all(&hostile.bytes).await;
        if hostile.end == End::ClosesItsSide {
            let _ = write.shutdown().await;
        }
    };
    if hostile.end == End::Goes {
        let sent = tokio::time::timeout(PATIENCE, sending).await;
        return sent.is_ok().then_some(answer);
    }
    let talk = async { tokio::join!(sending, read.read_to_end(&mut answer)) };
    let is_over = tokio::time::timeout(PATIENCE, talk).await.is_ok();
    is_over.then_some(answer)
}

/// The statuses of the answers in HTTP/1.
fn statuses(answer: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(answer);
    text.split("HTTP/1.")
        .skip(1)
        .filter_map(|rest| rest.split(' ').nth(1)?.parse().ok())
        .collect()
}

/// The faults of a service that gets a hostile request, and another one after it.
async fn faults(address: SocketAddr, hostile: Hostile) -> Vec<String> {
    let mut wrong = Vec::new();
    match answer(address, &hostile).await {
        None => wrong.push(format!("{}: the connection stays open", hostile.name)),
        Some(bytes) => {
            let statuses = statuses(&bytes);
            if statuses
                .iter()
                .any(|status| *status >= 500 && *status != 503)
            {
                wrong.push(format!(
                    "{}: {statuses:?} {}",
                    hostile.name,
                    String::from_utf8_lossy(&bytes)
                ));
            }
            if hostile.end == End::Waits && statuses.len() != 1 {
                wrong.push(format!("{}: {statuses:?} answers", hostile.name));
            }
        }
    }

    let mut client = Client::open(address).await;
    client.send(&post(r#"{"query":"{ start { id } }"}"#)).await;
    let after = client.answer().await;
    if !after.ends_with(r#"{"data":{"start":{"id":0}}}"#) {
        let others = AT_ONCE - 1;
        let name = hostile.name;
        wrong.push(format!(
            "{name}: {after} follows, beside up to {others} others"
        ));
    }

    wrong
}

#[tokio::test]
async fn hostile_requests_are_answered_and_the_service_keeps_serving() {
    let address = server().await;
    let all = hostile_requests::all();
    assert!(
        all.len() >= 442,
        "tests/README.md says 442 requests: {}",
        all.len()
    );
    let checks = stream::iter(all).map(|hostile| faults(address, hostile));
    let wrong: Vec<Vec<String>> = checks.buffer_unordered(AT_ONCE).collect().await;
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
