//! Clients that ask all the time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use serde_json::{Value, json};
use svc::Environment;
use testbed::{Client, Request};

use crate::app::POOL;
use crate::tally::Tally;

/// The longest time until the service is well again.
const RECOVERY: Duration = Duration::from_secs(20);

/// The state that all clients share.
struct Shared {
    stop: AtomicBool,
    /// The fault has begun; what was before is not counted.
    counts: AtomicBool,
    environment: Environment,
    address: SocketAddr,
}

pub(crate) struct Load {
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<Result<Tally>>>,
}

impl Load {
    pub(crate) fn start(
        address: SocketAddr,
        clients: usize,
        environment: Environment,
    ) -> Result<Self> {
        let shared = Shared {
            stop: AtomicBool::new(false),
            counts: AtomicBool::new(false),
            environment,
            address,
        };
        let shared = Arc::new(shared);
        let clients = (0..clients).map(|number| {
            let shared = shared.clone();
            std::thread::spawn(move || ask(&shared, number))
        });
        Ok(Self {
            clients: clients.collect(),
            shared,
        })
    }

    /// From now on answers are counted.
    pub(crate) fn mark(&self) {
        self.shared.counts.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stop(self) -> Result<Tally> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        for client in self.clients {
            all.add(client.join().map_err(|_| anyhow!("a client panicked"))??);
        }
        Ok(all)
    }
}

/// Asks one of several things in turns: reads, SQL of resolvers on both ways, and a write with a
/// key of its own.
fn ask(shared: &Shared, number: usize) -> Result<Tally> {
    let rows: Vec<Value> = (1..=50)
        .map(|id| json!({ "id": id, "name": format!("row {id}") }))
        .collect();
    let reads = [
        (
            "{ rows(limit: 50, order_by: [{ id: ASC }]) { id name } }",
            json!({ "rows": rows }),
        ),
        ("{ own }", json!({ "own": 1275 })),
        ("{ pooled }", json!({ "pooled": 1275 })),
    ];
    let reads = reads.map(|(query, data)| (Request::new(query, &json!({})), data));
    let (mut client, mut tally, mut turn) =
        (Client::connect(shared.address)?, Tally::default(), 0_usize);
    while !shared.stop.load(Ordering::Relaxed) {
        let (start, counts) = (Instant::now(), shared.counts.load(Ordering::Relaxed));
        let key = format!("{number}-{turn}");
        let write = Request::new(
            "mutation ($key: String!) { write(key: $key) }",
            &json!({ "key": key }),
        );
        // Half of the requests are the first.
        let (request, expected) = match turn % 6 {
            0 | 2 | 4 => (&reads[0].0, Some(&reads[0].1)),
            1 => (&reads[1].0, Some(&reads[1].1)),
            3 => (&reads[2].0, Some(&reads[2].1)),
            _ => (&write, None),
        };
        let answer: Value = serde_json::from_slice(client.ask(request)?)?;
        if counts || expected.is_none() {
            tally.count(
                counts,
                start.elapsed(),
                &answer,
                expected,
                key,
                shared.environment,
            );
        }
        turn += 1;
    }
    Ok(tally)
}

/// Waits until as many statements as the pool has places run at a time.
pub(crate) async fn recovered(address: SocketAddr) -> Result<()> {
    let (start, slow) = (Instant::now(), Request::new("{ slow { id } }", &json!({})));
    loop {
        let clients: Vec<_> = (0..POOL)
            .map(|_| {
                let slow = slow.clone();
                tokio::task::spawn_blocking(move || {
                    Client::connect(address)?.send(&slow).map(<[u8]>::to_vec)
                })
            })
            .collect();
        let mut well = true;
        for client in clients {
            well &= client
                .await?
                .is_ok_and(|answer| answer == br#"{"data":{"slow":{"id":1}}}"#);
        }
        if well {
            return Ok(());
        }
        ensure!(start.elapsed() < RECOVERY, "the places do not come back");
    }
}
