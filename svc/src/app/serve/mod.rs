//! The server: it accepts connections, bounds what each may cost, and stops.

mod activity;
mod body;
mod connection;
mod connections;
mod half_close;
mod http2;
mod limit;
mod socket;
#[cfg(unix)]
mod supervised;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::{HttpConfig, StartError, SvcConfig};
use activity::{Activity, Order};
use connection::Shared;
use connections::Connections;
use limit::LogThrottle;

/// The time to wait for connections that were told to end at once.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The time to wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves an application on `SVC_HOST` and `SVC_PORT` until SIGTERM or SIGINT; see [`Server`].
///
/// # Errors
/// When a setting is wrong or the address cannot be bound.
pub async fn serve(app: Router) -> crate::Result<()> {
    let config = SvcConfig::from_env()?;
    #[cfg(unix)]
    if let Some(supervised) = supervised::Supervised::from_env() {
        return serve_supervised(app, config.http, supervised).await;
    }
    let server = Server::bind((config.http.host, config.http.port)).await?.http(config.http);
    say(&format!("serving http://{}/graphql", server.local_addr()));
    server.run(app, signal()).await;
    Ok(())
}

/// Serves the socket of `svc dev`, until a signal or its end.
#[cfg(unix)]
async fn serve_supervised(app: Router, config: HttpConfig, supervised: supervised::Supervised) -> crate::Result<()> {
    let failed = |source| StartError::Bind { address: "the socket of svc dev".to_owned(), source };
    let server = Server::on(supervised.listener().map_err(failed)?).map_err(failed)?.http(config);
    supervised.is_ready().map_err(failed)?;
    let stop = async {
        tokio::select! {
            () = signal() => {}
            () = supervised.abandoned() => {}
        }
    };
    server.run(app, stop).await;
    Ok(())
}

/// A bound address, ready to serve.
///
/// Beyond what [`axum::serve()`] does, it bounds its connections, and how long each may wait for its client
/// ([`HttpConfig`]), and a shutdown ends: at the signal `/ready` turns 503 and no more connections are accepted;
/// requests in flight have the grace period (10 seconds unless it is set) to finish.
///
/// ```
/// # async fn f(app: axum::Router) -> svc::Result<()> {
/// let server = svc::Server::bind(([127, 0, 0, 1], 0)).await?;
/// println!("http://{}", server.local_addr());
/// server.run(app, async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    grace: Duration,
    config: HttpConfig,
}

impl Server {
    /// Binds an address; port 0 takes a free one.
    ///
    /// # Errors
    /// When it is taken or not allowed.
    pub async fn bind(address: impl Into<SocketAddr>) -> Result<Self, StartError> {
        let address = address.into();
        let failed = |source| StartError::Bind { address: address.to_string(), source };
        Self::on(TcpListener::bind(address).await.map_err(failed)?).map_err(failed)
    }

    fn on(listener: TcpListener) -> io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self { listener, address, grace: Duration::from_secs(10), config: HttpConfig::default() })
    }

    /// Sets the time that requests in flight may take after the signal to stop.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Replaces the bounds of connections. [`serve`] takes those of the environment.
    #[must_use]
    pub fn http(mut self, config: HttpConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets the time in which a client has to send the head of a request; see [`HttpConfig::header_timeout`].
    #[must_use]
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.config.header_timeout = timeout;
        self
    }

    /// Returns the address that is bound.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` completes and requests in flight are answered or out of time. Then every connection is
    /// closed, but for those that a handler has upgraded.
    pub async fn run(self, app: Router, stop: impl Future<Output = ()>) {
        let config = self.config.bounded();
        let mut connections = Connections::new(config.clone());
        let mut acceptor = Acceptor::new(self.listener, config.max_connections);
        let shared = Shared { app, config, stopping: Arc::default() };
        // Each task has a sender, so that the end of all of them can be awaited.
        let (running, mut all_ended) = mpsc::channel::<Infallible>(1);
        let mut tick = interval(connections.tick());
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::pin!(stop);
        loop {
            let (stream, peer, permit) = tokio::select! {
                accepted = acceptor.accept() => accepted,
                _ = tick.tick(), if !connections.is_empty() => {
                    connections.look(Instant::now());
                    continue;
                }
                () = &mut stop => break,
            };
            let activity = Activity::new();
            let served = connection::serve(&shared, stream, peer, permit, &activity);
            connections.add(activity, Instant::now());
            let running = running.clone();
            tokio::spawn(async move {
                served.await;
                drop(running);
            });
        }
        drop((acceptor, running));
        shared.stopping.store(true, Ordering::Relaxed);
        connections.tell(Order::Finish);
        if timeout(self.grace, all_ended.recv()).await.is_err() {
            tracing::warn!("requests were still running when the time to stop was over");
            connections.tell(Order::Close);
            // A task that does not end now is busy with a request that never waits.
            let _ = timeout(LAST_WORDS, all_ended.recv()).await;
        }
    }
}

/// The listener, which accepts as long as a permit is free. Other clients wait in its backlog.
struct Acceptor {
    listener: TcpListener,
    permits: Arc<Semaphore>,
    most: usize,
    full: LogThrottle,
    failed: LogThrottle,
}

impl Acceptor {
    fn new(listener: TcpListener, max_connections: u32) -> Self {
        let most = limit::max_connections(max_connections).min(Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(most));
        Self { listener, permits, most, full: LogThrottle::default(), failed: LogThrottle::default() }
    }

    async fn accept(&mut self) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
        let permit = self.permit().await;
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => return (stream, peer, permit),
                Err(error) if is_of_the_client(&error) => {}
                Err(error) => {
                    if let Some(times) = self.failed.occurred() {
                        tracing::warn!(%error, times, "cannot accept a connection");
                    }
                    // Out of file descriptors, most likely: closing connections will free some.
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn permit(&mut self) -> OwnedSemaphorePermit {
        if self.permits.available_permits() == 0 && self.full.occurred().is_some() {
            tracing::warn!(connections = self.most, "all connections are in use; further clients wait");
        }
        match self.permits.clone().acquire_owned().await {
            Ok(permit) => permit,
            // It is never closed.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Whether a connection was gone before it could be accepted.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn signal() {
    let interrupt = async {
        // Without the handler there is nothing to wait for, and the default action still ends the program.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut terminate) => {
                terminate.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}

/// The one line that tells where the service is; a log may be filtered away.
#[expect(clippy::print_stderr, reason = "a person waits for the address")]
fn say(line: &str) {
    eprintln!("{line}");
}
