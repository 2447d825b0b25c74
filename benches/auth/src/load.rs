//! Load on one server: several connections at once, and the CPU time that it takes.

use std::time::Duration;

use anyhow::{Result, anyhow};
use testbed::{Client, Process, Request, Server};

/// A server with its connections.
pub(crate) struct Loaded {
    server: Server,
    clients: Vec<Client>,
    /// The number of requests that were sent, by which the next is chosen.
    sent: usize,
}

/// CPU time of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) server: Duration,
    pub(crate) database: Duration,
}

impl Cost {
    pub(crate) fn total(self) -> f64 {
        (self.server + self.database).as_secs_f64()
    }
}

impl Loaded {
    pub(crate) fn new(server: Server, connections: usize) -> Result<Self> {
        let clients = (0..connections)
            .map(|_| server.client())
            .collect::<Result<_>>()?;
        Ok(Self {
            server,
            clients,
            sent: 0,
        })
    }

    /// Sends so many requests, and says what one of them has cost.
    pub(crate) fn measure(
        &mut self,
        requests: &[Request],
        count: usize,
        database: Process,
    ) -> Result<Cost> {
        let process = self.server.process();
        let before = (process.cpu()?, database.cpu()?);
        let each = count / self.clients.len();
        let start = self.sent;
        std::thread::scope(|scope| {
            let send = |(index, client): (usize, &mut Client)| {
                let first = start + index * each;
                (first..first + each).try_for_each(|number| {
                    client.send(&requests[number % requests.len()]).map(drop)
                })
            };
            let sending: Vec<_> = self
                .clients
                .iter_mut()
                .enumerate()
                .map(|one| scope.spawn(move || send(one)))
                .collect();
            sending
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a client panicked"))?)
        })?;
        let sent = each * self.clients.len();
        self.sent += sent;
        let part =
            |after: Duration, before| (after - before) / u32::try_from(sent).unwrap_or(u32::MAX);
        Ok(Cost {
            server: part(process.cpu()?, before.0),
            database: part(database.cpu()?, before.1),
        })
    }
}
