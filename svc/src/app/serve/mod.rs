//! The server: it accepts connections, limits each one's cost, and stops.

mod activity;
mod body;
mod connection;
mod connections;
mod half_close;
mod http2;
mod limit;
mod limited;
mod long_lived;
mod rest;
mod seats;
mod socket;
#[cfg(unix)]
mod stop_signals;
#[cfg(unix)]
mod supervised;

use std::convert::Infallible;
use std::future::Future;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout, timeout_at};

use super::environment::note_unused_parts;
use super::{HttpConfig, StartError, SvcConfig, describe};
use crate::http::LongLived;
use activity::{Activity, Order};
use connection::Shared;
use connections::Connections;
pub(super) use limit::max_connections;
use seats::{Seat, Seats};
#[cfg(unix)]
pub(super) use stop_signals::FirstProcess;
#[cfg(unix)]
use stop_signals::StopSignals;
#[cfg(unix)]
use supervised::Supervised;
use svc_core::log_throttle::LogThrottle;
use svc_core::settings::{is_used, tell_overridden, use_group};
use svc_telemetry::security_log::{SecurityEvent, SecurityEventType, get_security_logger, record};

/// The time to wait for connections that were ordered to close at once.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// For how long connections are still accepted when the server stops. Closing a listener resets the
/// pending ones.
const LAST_CALL: Duration = Duration::from_millis(20);
/// The time to write security events at the end.
const LAST_EVENTS: Duration = Duration::from_secs(2);
/// The time to retry security events that could not be written so far.
const LAST_TRY: Duration = Duration::from_millis(300);
/// The interval between two checks for idle connections while newcomers wait for a seat.
const CROWDED: Duration = Duration::from_millis(100);
/// The time to wait after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves an application on `SVC_HOST` and `SVC_PORT` until SIGTERM, SIGINT, SIGQUIT or SIGHUP; see
/// [`Server`].
///
/// [`Server::from_env`] does the same in two steps, so that the address is bound before the
/// database starts.
///
/// # Errors
/// An invalid setting, or an address that cannot be bound.
pub async fn serve(app: Router) -> svc_core::Result<()> {
    Server::from_env().await?.serve(app).await
}

/// A bound address, ready to serve.
///
/// In addition to [`axum::serve()`], it limits the number of connections and how long each may wait
/// for its client ([`HttpConfig`]), and its shutdown is bounded: at the signal, `/ready` turns 503
/// and no more connections are accepted; requests in flight have the grace period (10 seconds by
/// default) to finish.
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
    /// The stop signals, for a server configured by the environment.
    #[cfg(unix)]
    signals: Option<StopSignals>,
    #[cfg(unix)]
    supervised: Option<Supervised>,
}

impl Server {
    /// Binds `SVC_HOST` and `SVC_PORT`, with the connection limits of the environment, and handles
    /// signals from now on: a signal that arrives before [`serve`](Self::serve) ends the program.
    ///
    /// ```no_run
    /// use svc::{AppOptions, Server, create_svc_app};
    ///
    /// #[tokio::main]
    /// async fn main() -> svc::Result<()> {
    ///     let server = Server::from_env().await?;
    ///     server.serve(create_svc_app(AppOptions::from_env()?).await?).await
    /// }
    /// ```
    ///
    /// # Errors
    /// An invalid setting, or an address that cannot be bound.
    pub async fn from_env() -> svc_core::Result<Self> {
        let config = SvcConfig::from_env()?.http;
        use_group(&config);
        #[cfg(unix)]
        {
            let signals = StopSignals::listen().map_err(|source| StartError::Signals { source })?;
            let supervised = Supervised::from_env();
            let server = match &supervised {
                Some(supervised) => {
                    let failed = |source| StartError::Bind {
                        address: "the socket of svc dev".to_owned(),
                        source,
                    };
                    Self::on(supervised.listener().map_err(failed)?).map_err(failed)?
                }
                None => Self::bind((config.host, port(&config))).await?,
            };

            Ok(Self {
                signals: Some(signals),
                supervised,
                ..server.http(config)
            })
        }

        #[cfg(not(unix))]
        Ok(Self::bind((config.host, port(&config))).await?.http(config))
    }

    /// Binds an address; port 0 picks a free one.
    ///
    /// # Errors
    /// When it is in use or not allowed.
    pub async fn bind(address: impl Into<SocketAddr>) -> Result<Self, StartError> {
        let address = address.into();
        let failed = |source| StartError::Bind {
            address: address.to_string(),
            source,
        };
        Self::on(TcpListener::bind(address).await.map_err(failed)?).map_err(failed)
    }

    pub(super) fn on(listener: TcpListener) -> io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            grace: Duration::from_secs(10),
            config: HttpConfig::default(),
            #[cfg(unix)]
            signals: None,
            #[cfg(unix)]
            supervised: None,
        })
    }

    /// Sets the time for requests in flight to finish after the signal to stop.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Replaces the connection limits. [`serve`] uses the limits of the environment.
    #[must_use]
    pub fn http(mut self, config: HttpConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets the maximum time for a client to send the head of a request; see
    /// [`HttpConfig::header_timeout`].
    #[must_use]
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.config.header_timeout = timeout;
        self
    }

    /// Returns the bound address.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until SIGTERM, SIGINT, SIGQUIT or SIGHUP; prints one line with the URL. A second
    /// signal ends the program immediately.
    ///
    /// # Errors
    /// When signal handlers cannot be installed.
    #[cfg(unix)]
    pub async fn serve(mut self, app: Router) -> svc_core::Result<()> {
        let listen = || StopSignals::listen().map_err(|source| StartError::Signals { source });

        // A supervisor may send a signal as soon as the server is announced.
        let signal = self.signals.take().map_or_else(listen, Ok)?.first();
        let Some(supervised) = self.supervised.take() else {
            self.say();
            self.run_and_record(app, signal).await;
            return Ok(());
        };

        let failed = |source| StartError::Bind {
            address: "the socket of svc dev".to_owned(),
            source,
        };

        supervised.is_ready().map_err(failed)?;
        let stop = async {
            tokio::select! {
                () = signal => {}
                () = supervised.abandoned() => {}
            }
        };

        self.run_and_record(app, stop).await;

        Ok(())
    }

    /// Serves until Ctrl-C; prints one line with the URL.
    ///
    /// # Errors
    /// None on this platform.
    #[cfg(not(unix))]
    pub async fn serve(self, app: Router) -> svc_core::Result<()> {
        self.say();

        // Without the handler, the default action still ends the program.
        let stop = async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };

        self.run_and_record(app, stop).await;

        Ok(())
    }

    /// Serves, and records the start and the stop in the security log.
    async fn run_and_record(self, app: Router, stop: impl Future<Output = ()>) {
        let address = self.local_addr().to_string();
        record(SecurityEvent::new(SecurityEventType::SystemStarted).resource(address.as_str()));
        self.run(app, stop).await;
        record(SecurityEvent::new(SecurityEventType::SystemStopped).resource(address));

        // Writing may take long, and must not keep the other tasks from finishing.
        let flush = || {
            let log = get_security_logger();
            log.flush(if log.status().failure.is_some() {
                LAST_TRY
            } else {
                LAST_EVENTS
            })
        };

        let flushed = tokio::task::spawn_blocking(flush).await;
        if !flushed.unwrap_or_default() {
            tracing::error!("security events were lost: they could not be written before shutdown");
        }

        svc_core::trace::flush().await;
    }

    /// Prints the service's address in one line, because a log may be filtered out. A write error
    /// is no reason to exit.
    fn say(&self) {
        let line = format!("serving http://{}/graphql", self.address);
        #[cfg(feature = "logging")]
        let line = super::logging::in_form(line);
        let _ = writeln!(io::stderr(), "{line}");
    }

    /// Serves until `stop` completes and requests in flight have finished or timed out. Streams end
    /// then, and WebSockets at `/graphql` are closed with 1001, so that clients reconnect to
    /// another instance. In the end every connection is closed, except connections upgraded by
    /// other handlers.
    pub async fn run(self, app: Router, stop: impl Future<Output = ()>) {
        note_unused_parts();
        self.note_unused_bounds();
        self.run_beside(app, stop).await;
    }

    /// Logs the server settings that this server does not use.
    fn note_unused_bounds(&self) {
        let (host, port) = (self.address.ip(), self.address.port());
        use_group(&HttpConfig {
            host,
            port,
            ..self.config.clone()
        })
        .into_iter()
        .for_each(|name| {
            if !is_used(name) {
                tell_overridden(name);
            }
        });
    }

    /// Runs a server that is not the application's main one, without logging unused settings.
    pub(super) async fn run_beside(self, app: Router, stop: impl Future<Output = ()>) {
        // The caller that provides `stop` handles signals itself, if at all.
        #[cfg(unix)]
        drop(self.signals);
        let config = self.config.bounded();
        let mut connections = Connections::new(config.clone());
        let mut acceptor = Acceptor::new(self.listener, &config);
        let limited = limited::limited(app.clone(), config.header_timeout);
        let shared = Shared {
            app,
            limited,
            config,
            stopping: Arc::default(),
            long_lived: Arc::default(),
        };

        // Each task holds a sender, so that the end of all tasks can be awaited.
        let (running, mut all_ended) = mpsc::channel::<Infallible>(1);
        let mut tick = interval(connections.tick());
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let begin =
            |connections: &mut Connections, seats: &mut Seats, (stream, peer, seat): Accepted| {
                if !connections.make_room_for(&seat, seats, Instant::now()) {
                    seats.refuse(seat.address);
                    return;
                }

                let activity = Activity::new();
                connections.add(activity.clone(), seat.address, Instant::now());

                tokio::spawn(connection::serve(
                    &shared,
                    stream,
                    peer,
                    seat,
                    &activity,
                    running.clone(),
                ));
            };

        tokio::pin!(stop);

        loop {
            tokio::select! {
                accepted = acceptor.accept() => begin(&mut connections, &mut acceptor.seats, accepted),
                _ = tick.tick(), if !connections.is_empty() => connections.look(Instant::now()),
                () = sleep(CROWDED), if acceptor.seats.wanted() > 0 => {
                    connections.make_room(&acceptor.seats, Instant::now());
                }
                () = &mut stop => break,
            }
        }

        shared.stopping.store(true, Ordering::Relaxed);
        let last_call = tokio::time::Instant::now() + LAST_CALL;
        while let Ok(accepted) = timeout_at(last_call, acceptor.accept()).await {
            begin(&mut connections, &mut acceptor.seats, accepted);
        }

        // The wait below ends with the last sender, so this task drops the one that it holds. The
        // listener is closed, so that new clients connect to another instance.
        drop((acceptor, running));
        connections.tell(Order::Finish);
        shared.long_lived.tell(LongLived::go_away);

        if timeout(self.grace, all_ended.recv()).await.is_err() {
            tracing::warn!("requests were still running at the end of the grace period");
            connections.tell(Order::Close);
            shared.long_lived.tell(LongLived::stop);
            // A task that does not end now is busy with a request that never yields.
            let _ = timeout(LAST_WORDS, all_ended.recv()).await;
        }
    }
}

/// An accepted connection, its client and its seat.
type Accepted = (TcpStream, SocketAddr, Arc<Seat>);

/// The interval between log lines about connections that cannot be served.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// The listener. It also accepts connections beyond the limit, a few at a time: for each of them,
/// the longest idle connection is closed, and probes need no seat.
struct Acceptor {
    listener: TcpListener,
    seats: Seats,
    failed: LogThrottle,
}

impl Acceptor {
    fn new(listener: TcpListener, config: &HttpConfig) -> Self {
        Self {
            listener,
            seats: Seats::new(config),
            failed: LogThrottle::every(BETWEEN_LINES),
        }
    }

    async fn accept(&mut self) -> Accepted {
        // Without a place, the connection stays in the kernel's backlog, where it costs the process
        // nothing.
        let reserved = self.seats.reserve().await;
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => return (stream, peer, self.seats.take(reserved, peer.ip())),
                Err(error) if is_of_the_client(&error) => {}
                Err(error) => {
                    self.failed.log(
                        move |times| tracing::warn!(%error, times, "cannot accept a connection"),
                    );
                    // Most likely out of file descriptors; closing connections will free some.
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

/// Whether a connection was gone before it could be accepted.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// Returns the port to bind: a program that only describes itself serves nothing, so it must not
/// use the port of a running service.
fn port(config: &HttpConfig) -> u16 {
    if std::env::var_os(describe::VARIABLE).is_some() {
        0
    } else {
        config.port
    }
}
