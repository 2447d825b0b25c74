//! The cost of requests, and the memory that the largest answer needs.

use std::time::{Duration, Instant};

use anyhow::Result;
use testbed::{Client, Process, Request, Server};

use crate::wide;

/// CPU time of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) server: Duration,
    pub(crate) postgres: Duration,
}

impl Cost {
    pub(crate) const MAX: Self = Self {
        server: Duration::MAX,
        postgres: Duration::MAX,
    };

    /// The lower of each part: what else the machine does only adds.
    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            server: self.server.min(other.server),
            postgres: self.postgres.min(other.postgres),
        }
    }

    pub(crate) fn total(self) -> Duration {
        self.server + self.postgres
    }
}

/// Requests whose cost is not counted: PostgreSQL settles for a plan after five.
const WARM_UP: usize = 6;

/// Sends a request again and again, one at a time, for about `time`.
pub(crate) fn cost(
    client: &mut Client,
    server: Process,
    postgres: Process,
    request: &Request,
    time: Duration,
) -> Result<Cost> {
    let (before_server, before_postgres) = (server.cpu()?, postgres.cpu()?);
    let start = Instant::now();
    let mut requests = 0;
    while requests < 2 || start.elapsed() < time {
        client.send(request)?;
        requests += 1;
    }
    Ok(Cost {
        server: (server.cpu()? - before_server) / requests,
        postgres: (postgres.cpu()? - before_postgres) / requests,
    })
}

/// Sends each request until its statement is planned for good.
pub(crate) fn warm_up(client: &mut Client, request: &Request) -> Result<()> {
    (0..WARM_UP).try_for_each(|_| client.send(request).map(drop))
}

/// The memory that one answer takes of a server that has not given a large one before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) before: u64,
    pub(crate) peak: u64,
    pub(crate) after: u64,
    pub(crate) bytes: usize,
}

impl Memory {
    /// The peak above what was resident before, times the answer.
    pub(crate) fn times(self) -> f64 {
        self.peak.saturating_sub(self.before) as f64 / self.bytes as f64
    }
}

/// Asks for all rows once.
pub(crate) fn memory(server: &Server, count: usize) -> Result<Memory> {
    let process = server.process();
    let mut client = server.client()?;
    warm_up(&mut client, &wide::request(1, count))?;
    process.reset_peak()?;
    let before = process.resident()?;
    let bytes = client.send(&wide::request(wide::ROWS, count))?.len();
    Ok(Memory {
        before,
        peak: process.peak()?,
        after: process.resident()?,
        bytes,
    })
}
