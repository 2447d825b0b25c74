use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tower::Service as _;

use super::config::LONGEST_TIMEOUT;
use super::head_timeout::HeadTimeout;
use super::{StartError, SvcConfig};

/// Serves an application on `SVC_HOST` and `SVC_PORT` until SIGTERM or SIGINT; see [`Server`].
///
/// # Errors
/// When a setting is wrong or the address cannot be bound.
pub async fn serve(app: Router) -> crate::Result<()> {
    let config = SvcConfig::from_env()?;
    let server = Server::bind((config.host, config.port)).await?;
    say(&format!("serving http://{}/graphql", server.local_addr()));
    server.run(app, signal()).await;
    Ok(())
}

/// A bound address, ready to serve.
///
/// Beyond what [`axum::serve()`] does, it bounds the time that a request's head may take, and a shutdown ends: at
/// the signal `/ready` turns 503 and no more connections are accepted; requests in flight have the grace period
/// (10 seconds unless it is set) to finish.
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
    header_timeout: Duration,
}

/// In the extensions of requests that come after the server was told to stop.
#[derive(Debug, Clone)]
pub(crate) struct ShuttingDown;

impl Server {
    /// Binds an address; port 0 takes a free one.
    ///
    /// # Errors
    /// When it is taken or not allowed.
    pub async fn bind(address: impl Into<SocketAddr>) -> Result<Self, StartError> {
        let address = address.into();
        let failed = |source| StartError::Bind { address: address.to_string(), source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, grace: Duration::from_secs(10), header_timeout: Duration::from_secs(10) })
    }

    /// How long requests in flight may take after the signal to stop.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How long a client may take to send the head of a request; 10 seconds unless it is set.
    #[must_use]
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout.min(LONGEST_TIMEOUT);
        self
    }

    /// The address that is bound.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` completes and requests in flight are answered or out of time.
    pub async fn run(self, app: Router, stop: impl Future<Output = ()>) {
        let stopping = Arc::<AtomicBool>::default();
        let graceful = GracefulShutdown::new();
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, peer)) => connection(stream, peer, app.clone(), &stopping, &graceful, self.header_timeout),
                Err(error) => {
                    // Out of file descriptors, most likely: closing connections will free some.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        stopping.store(true, Ordering::Relaxed);
        drop(self.listener);
        if tokio::time::timeout(self.grace, graceful.shutdown()).await.is_err() {
            tracing::warn!("requests were still running when the time to stop was over");
        }
    }
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    stopping: &Arc<AtomicBool>,
    graceful: &GracefulShutdown,
    header_timeout: Duration,
) {
    // Answers are written whole, so waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let head = HeadTimeout::new(header_timeout);
    let (stopping, awaited) = (stopping.clone(), head.clone());
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        awaited.came();
        request.extensions_mut().insert(ConnectInfo(peer));
        if stopping.load(Ordering::Relaxed) {
            request.extensions_mut().insert(ShuttingDown);
        }
        // A router is always ready.
        app.clone().call(request.map(axum::body::Body::new))
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(head.clone()).header_read_timeout(header_timeout);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
    let task = tokio::spawn(graceful.watcher().watch(connection));
    tokio::spawn(async move {
        let abort = task.abort_handle();
        tokio::select! {
            // A client that goes away in the middle is no event.
            _ = task => {}
            () = head.late() => abort.abort(),
        }
    });
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
