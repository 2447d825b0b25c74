//! Load on one server: several connections at once, and the CPU time that it takes.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use crate::{Client, Process, Request, Server};

/// A server with the connections that load it.
#[derive(Debug)]
pub struct Load {
    server: Server,
    clients: Vec<Client>,
    /// The number of requests that were sent, which determines the next one.
    sent: usize,
}

/// The extent of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// A number of requests, divided equally among the connections.
    Requests(usize),
    /// A duration.
    Time(Duration),
}

/// CPU time of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time of the server.
    pub server: Duration,
    /// CPU time of all processes of PostgreSQL.
    pub database: Duration,
}

impl Cost {
    /// Returns the seconds of server and PostgreSQL together.
    pub fn total(self) -> f64 {
        (self.server + self.database).as_secs_f64()
    }
}

impl Load {
    /// Opens the connections to a server.
    pub fn new(server: Server, connections: usize) -> Result<Self> {
        let clients = (0..connections)
            .map(|_| server.client())
            .collect::<Result<_>>()?;
        Ok(Self {
            server,
            clients,
            sent: 0,
        })
    }

    /// Sends the requests in turn over all connections, each of which waits for the answer before
    /// its next request, and returns the cost of one request.
    ///
    /// # Errors
    /// An answer has errors, or no request was sent.
    pub fn measure(
        &mut self,
        requests: &[Request],
        amount: Amount,
        database: Process,
    ) -> Result<Cost> {
        let process = self.server.process();
        let before = (process.cpu()?, database.cpu()?);
        let (start, connections, began) = (self.sent, self.clients.len(), Instant::now());

        let sent = std::thread::scope(|scope| {
            let send = |(index, client): (usize, &mut Client)| -> Result<usize> {
                let mut sent = 0;
                while amount.is_left(sent, connections, began) {
                    let number = start + index + sent * connections;
                    client.send(&requests[number % requests.len()])?;
                    sent += 1;
                }
                Ok(sent)
            };
            let sending: Vec<_> = self
                .clients
                .iter_mut()
                .enumerate()
                .map(|one| scope.spawn(move || send(one)))
                .collect();
            sending
                .into_iter()
                .map(|thread| -> Result<usize> {
                    thread.join().map_err(|_| anyhow!("a client panicked"))?
                })
                .sum::<Result<usize>>()
        })?;

        ensure!(sent > 0, "no request was sent");
        self.sent += sent;
        let count = u32::try_from(sent).unwrap_or(u32::MAX);
        // The CPU time of a process that has ended is missing afterwards.
        let part = |after: Duration, before: Duration| after.saturating_sub(before) / count;
        Ok(Cost {
            server: part(process.cpu()?, before.0),
            database: part(database.cpu()?, before.1),
        })
    }
}

impl Amount {
    /// Whether a connection that has sent this number of requests sends another one.
    fn is_left(self, sent: usize, connections: usize, began: Instant) -> bool {
        match self {
            Self::Requests(count) => sent < count / connections,
            Self::Time(time) => began.elapsed() < time,
        }
    }
}
