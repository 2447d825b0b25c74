//! The ordinary clients. Each sends its next request as soon as it has a response.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use testbed::{Client, Request};
use tokio::task::JoinSet;

/// The number of clients.
const CLIENTS: usize = 4;
/// The start of every response without errors.
const DATA: &[u8] = b"{\"data\":";

/// The responses of a period.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The latencies of responses with data, sorted.
    times: Vec<Duration>,
    /// The number of other responses.
    pub(crate) refused: usize,
}

impl Answers {
    /// The number of responses with data.
    pub(crate) fn count(&self) -> f64 {
        self.times.len() as f64
    }

    /// The 99th percentile of their latencies.
    pub(crate) fn late(&self) -> Duration {
        let last = self.times.len().saturating_sub(1);
        let index = (self.times.len() * 99 / 100).min(last);
        self.times.get(index).copied().unwrap_or_default()
    }

    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.refused += other.refused;
    }
}

/// The request for the cheap row.
pub(crate) fn request() -> Request {
    Request::new("{ works { id } }", &serde_json::json!({}))
}

/// Runs the clients for a period.
pub(crate) async fn ask(address: SocketAddr, time: Duration) -> Result<Answers> {
    let end = Instant::now() + time;
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn_blocking(move || client(address, end));
    }
    let mut all = Answers::default();
    while let Some(answers) = clients.join_next().await {
        all.add(answers??);
    }
    all.times.sort_unstable();
    Ok(all)
}

fn client(address: SocketAddr, end: Instant) -> Result<Answers> {
    let request = request();
    let mut client = Client::connect(address)?;
    let mut answers = Answers::default();
    while Instant::now() < end {
        let start = Instant::now();
        if client.ask(&request)?.starts_with(DATA) {
            answers.times.push(start.elapsed());
        } else {
            answers.refused += 1;
        }
    }
    Ok(answers)
}
