//! One connection: HTTP/1.1 or HTTP/2, whichever its client uses.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Version, header};
use futures_util::FutureExt as _;
use hyper::Request;
use hyper::body::{Body as _, Incoming};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulConnection;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};
use tower::Service as _;

use super::activity::{Activity, HeadTimer, Order, Phase};
use super::body::{ConnectionWaker, RequestBody};
use super::http2::Streams;
use super::limited::Limited;
use super::long_lived::{Keeper, Kept, LongLivedConnections};
use super::seats::Seat;
use super::socket::Socket;
use crate::app::HttpConfig;
use crate::http::{Recipient as _, ShuttingDown};

/// The maximum number of body bytes that an HTTP/2 client may send before they are read: per
/// request, and per connection.
const WINDOWS: [u32; 2] = [256 * 1024, 512 * 1024];
/// The maximum number of unsent response bytes that the kernel accepts.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 128 * 1024;
/// The smallest limit that hyper accepts.
const MIN_HEADER_SIZE: usize = 8_192;
/// The time for a client to answer a ping.
const PONG: Duration = Duration::from_secs(20);
/// The time that a connection in the phase of a request's head gets when the server stops: a
/// request may be on its way.
const HEAD_ON_ITS_WAY: Duration = Duration::from_secs(1);
/// The time for a connection between two requests to send one more when the server stops: the
/// response informs the client that the connection closes.
const LAST_REQUEST: Duration = Duration::from_millis(500);
/// The number of streams with protocol errors after which a client loses the connection.
const BROKEN_STREAMS: usize = 100;

/// The state shared by a server's connections.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) app: Router,
    /// The application for connections beyond the limit.
    pub(super) limited: Router,
    pub(super) config: HttpConfig,
    pub(super) stopping: Arc<AtomicBool>,
    pub(super) long_lived: Arc<LongLivedConnections>,
}

/// Serves a connection until it ends or is ordered to end.
pub(super) fn serve(
    shared: &Shared,
    stream: TcpStream,
    peer: SocketAddr,
    seat: Arc<Seat>,
    activity: &Arc<Activity>,
    running: mpsc::Sender<Infallible>,
) -> impl Future<Output = ()> + Send + use<> {
    set_up(&stream, shared.config.write_timeout);
    let limited = seat.is_limited().then(|| Limited(seat.clone()));
    let app = if limited.is_some() {
        &shared.limited
    } else {
        &shared.app
    };

    let (app, stopping) = (app.clone(), shared.stopping.clone());
    let keeper = Arc::new(Keeper {
        connections: shared.long_lived.clone(),
        stopping: stopping.clone(),
        running,
        activity: activity.clone(),
    });

    let noted = activity.clone();
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let is_http2 = request.version() == Version::HTTP_2;
        let mut request = note(request, &noted);
        request.extensions_mut().insert(ConnectInfo(peer));
        if let Some(limited) = &limited {
            request.extensions_mut().insert(limited.clone());
        }

        if stopping.load(Ordering::Relaxed) {
            request.extensions_mut().insert(ShuttingDown);
        }

        // A router is always ready.
        Kept::new(app.clone().call(request), keeper.clone(), is_http2)
    });

    let socket = TokioIo::new(Socket::new(
        stream,
        activity.clone(),
        seat,
        shared.config.half_close_timeout,
    ));

    let builder = builder(&shared.config, activity);
    let connection = builder
        .serve_connection_with_upgrades(socket, service)
        .into_owned();

    Connection::new(Box::pin(connection), activity.clone())
}

fn set_up(stream: &TcpStream, write_timeout: Duration) {
    // Responses are written whole, so Nagle's algorithm would only delay them.
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    {
        let socket = socket2::SockRef::from(stream);
        // Unacknowledged bytes must not stay in the kernel for a client that is gone.
        let _ = socket.set_tcp_user_timeout(Some(write_timeout));
        // Otherwise the kernel accepts megabytes at once, and then a third of them before it
        // accepts more: a client that reads slowly would seem to accept nothing for minutes.
        let _ = socket.set_tcp_notsent_lowat(UNSENT);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = write_timeout;
}

fn builder(config: &HttpConfig, activity: &Arc<Activity>) -> Builder<Streams> {
    let mut builder = Builder::new(Streams::new(activity.clone(), config.write_timeout));
    builder
        .http1()
        .timer(HeadTimer::new(activity.clone()))
        // hyper sets its timer only with a time-out; the value itself is unused, because
        // `HeadTimer` never fires.
        .header_read_timeout(config.header_timeout)
        .max_buf_size(
            usize::try_from(config.max_header_size)
                .unwrap_or(usize::MAX)
                .max(MIN_HEADER_SIZE),
        );

    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(config.http2_max_streams)
        .max_header_list_size(config.max_header_size)
        .initial_stream_window_size(WINDOWS[0])
        .initial_connection_window_size(WINDOWS[1])
        .max_local_error_reset_streams(BROKEN_STREAMS)
        .keep_alive_interval(config.http2_ping_interval)
        .keep_alive_timeout(PONG);

    builder
}

/// Records a request of the connection, and replaces its body by one that the connection can read
/// on.
fn note(request: Request<Incoming>, activity: &Arc<Activity>) -> Request<Body> {
    let is_http2 = request.version() == Version::HTTP_2;
    activity.request_came(request.version());
    // A pass over the few names costs less than a look-up, which hashes the name.
    let is_asked_for = request.headers().keys().any(|name| *name == header::EXPECT);

    // In HTTP/2 each stream ends alone, so an unread body does not block the connection.
    request.map(|body| match is_http2 || body.is_end_stream() {
        true => Body::new(body),
        false => Body::new(RequestBody::new(body, is_asked_for, activity.clone())),
    })
}

/// A connection that follows its orders.
struct Connection<C> {
    connection: Pin<Box<C>>,
    activity: Arc<Activity>,
    /// The waker that hyper gets.
    waker: ConnectionWaker,
    /// The last order seen; `None` before the first poll.
    heard: Option<Order>,
    /// Whether it was ordered to finish and has not started to.
    must_finish: bool,
    /// The deadline for a head on its way, set by the order to finish.
    head_time: Option<Pin<Box<Sleep>>>,
    /// The deadline for one more request.
    last_request: Option<Pin<Box<Sleep>>>,
}

impl<C> Connection<C> {
    fn new(connection: Pin<Box<C>>, activity: Arc<Activity>) -> Self {
        Self {
            connection,
            waker: ConnectionWaker::new(activity.id()),
            activity,
            heard: None,
            must_finish: false,
            head_time: None,
            last_request: None,
        }
    }

    /// Returns the order, with the waker registered for the next one.
    fn hear(&mut self, task: &Waker) -> Order {
        loop {
            let order = self.activity.order();
            // Registered before the check: an order between the two steps would otherwise wake no
            // task. It stays registered for all later orders.
            self.activity.register(task);
            if self.activity.order() == order {
                self.heard = Some(order);
                return order;
            }
        }
    }
}

impl<C: GracefulConnection> Connection<C> {
    /// Starts to finish, once the first request has arrived: hyper drops a connection that has read
    /// nothing, which would reset the client's request. A connection between two requests has a
    /// moment for the next one. Returns whether it starts now.
    fn begin_to_finish(&mut self, cx: &mut Context<'_>) -> bool {
        let begins =
            self.must_finish && self.activity.requests() > 0 && !self.is_last_request_awaited(cx);
        if begins {
            self.must_finish = false;
            self.connection.as_mut().graceful_shutdown();
        }
        begins
    }

    /// Whether an HTTP/1 client may still send its last request.
    fn is_last_request_awaited(&mut self, cx: &mut Context<'_>) -> bool {
        let is_between = self.activity.phase() == Phase::Idle && !self.activity.is_http2();
        is_between
            && self
                .last_request
                .as_mut()
                .is_some_and(|time| time.poll_unpin(cx).is_pending())
    }

    /// Informs an HTTP/2 client that has sent no request that none of its requests has run.
    fn say_goodbye(&mut self, cx: &mut Context<'_>) {
        self.connection.as_mut().graceful_shutdown();
        let _ = self.connection.as_mut().poll(cx);
    }

    /// Whether the deadline for a head has passed, and nothing or only a part of a head has
    /// arrived.
    fn is_head_late(&mut self, cx: &mut Context<'_>) -> bool {
        let is_over = self
            .head_time
            .as_mut()
            .is_some_and(|time| time.poll_unpin(cx).is_ready());
        if is_over {
            self.head_time = None;
        }
        is_over && self.activity.phase() == Phase::Head
    }
}

impl<C: GracefulConnection> Future for Connection<C> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let order = this.activity.order();
        if this.heard != Some(order) {
            match this.hear(cx.waker()) {
                Order::Close | Order::Reset => return Poll::Ready(()),
                Order::Finish => {
                    this.must_finish = true;
                    this.head_time = Some(Box::pin(sleep(HEAD_ON_ITS_WAY)));
                    this.last_request = Some(Box::pin(sleep(LAST_REQUEST)));
                }
                Order::None => {}
            }
        }

        this.begin_to_finish(cx);

        loop {
            let connection = this.connection.as_mut();
            // Clients disconnect at any time, so errors are not logged.
            let ended = this
                .waker
                .polling(cx.waker(), |cx| connection.poll(cx).map(drop));

            if ended.is_pending() && this.is_head_late(cx) {
                this.say_goodbye(cx);
                break Poll::Ready(());
            }
            // The poll may have read the first request or answered one, and hyper must be polled
            // again after the order to finish.
            if ended.is_ready() || !this.begin_to_finish(cx) {
                break ended;
            }
        }
    }
}

impl<C> Drop for Connection<C> {
    fn drop(&mut self) {
        self.activity.end();
    }
}
