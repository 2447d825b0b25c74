//! The server under test.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{Client, Process, Request};

/// Settings of a server under load. Nothing but requests takes PostgreSQL's time, and the connections
/// that wait for answers are no overload, however long they do so.
pub const STEADY: [(&str, &str); 3] = [
    ("SVC_CATALOGUE_POLL", "0"),
    ("SVC_SHED_AFTER", "300"),
    ("RUST_LOG", "error"),
];

/// The time in which a server has to answer; under valgrind it takes seconds.
const START: Duration = Duration::from_secs(120);
/// The time between two questions whether it answers.
const POLL: Duration = Duration::from_millis(20);

/// A process that serves `/graphql`; it ends with this value.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The address on which it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts a program with a free port as its last argument and waits until it answers `probe`
    /// without errors.
    pub fn start(mut command: Command, probe: &Request) -> Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let child = command
            .arg(address.port().to_string())
            .stdout(Stdio::null())
            .spawn()?;
        let mut server = Self { child, address };
        let start = Instant::now();
        loop {
            let answered = server
                .client()
                .and_then(|mut client| client.send(probe).map(drop));
            let Err(why) = answered else {
                return Ok(server);
            };
            if let Some(status) = server.child.try_wait()? {
                bail!("the server has ended ({status})");
            }
            if start.elapsed() > START {
                return Err(why.context("the server does not answer"));
            }
            std::thread::sleep(POLL);
        }
    }

    /// A new connection to it.
    pub fn client(&self) -> Result<Client> {
        Client::connect(self.address)
    }

    /// Its process.
    pub fn process(&self) -> Process {
        Process::new(self.id().cast_signed())
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
