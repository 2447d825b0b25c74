//! Connections that outlive their request: sockets, and streams over HTTP.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::http::Response;
use tokio::sync::mpsc;

use super::activity::Activity;
use super::http2::in_pieces;
use super::rest::{Rest, say_close};
use crate::http::{LargeAnswer, LongLived};

/// The minimum number of connections at which ended ones are removed.
const MIN_CONNECTIONS: usize = 64;

/// The long-lived connections of a server, which are notified when it stops.
#[derive(Debug, Default)]
pub(super) struct LongLivedConnections(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    connections: Vec<LongLived>,
    /// The number of connections at which ended ones are removed next.
    sweep_at: usize,
}

impl LongLivedConnections {
    pub(super) fn add(&self, connection: LongLived) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.connections.len() >= known.sweep_at.max(MIN_CONNECTIONS) {
            known.connections.retain(LongLived::is_open);

            // Doubled, so that the sweeps together cost no more than the additions.
            known.sweep_at = known.connections.len() * 2;
        }
        known.connections.push(connection);
    }

    /// Calls `word` with each connection.
    pub(super) fn tell(&self, word: impl FnMut(&LongLived)) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .connections
            .iter()
            .for_each(word);
    }
}

/// Inspects the responses of one connection: some outlive their request, and some are large.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) connections: Arc<LongLivedConnections>,
    pub(super) stopping: Arc<AtomicBool>,
    /// Held by everything that the server waits for.
    pub(super) running: mpsc::Sender<Infallible>,
    pub(super) activity: Arc<Activity>,
}

impl Keeper {
    pub(super) fn look(&self, response: &Response<Body>) {
        if let Some(answer) = response.extensions().get::<LargeAnswer>() {
            answer.is_sent_to(self.activity.clone());
        }

        let Some(connection) = response.extensions().get::<LongLived>() else {
            return;
        };

        connection.hold(self.running.clone());
        self.connections.add(connection.clone());

        // Checked after the connection was added: one that the stop did not find in the list is
        // ended here.
        if self.stopping.load(Ordering::Relaxed) {
            connection.go_away();
        }
    }
}

/// A response future that inspects its response, and that reads on a small body left by the
/// application.
pub(super) struct Kept<F> {
    answer: F,
    keeper: Arc<Keeper>,
    /// Whether the response is split into pieces, as for a stream of HTTP/2.
    is_split: bool,
    /// The response that waits for the rest of its request's body.
    rest: Option<Box<Rest>>,
}

impl<F> Kept<F> {
    pub(super) fn new(answer: F, keeper: Arc<Keeper>, is_split: bool) -> Self {
        Self {
            answer,
            keeper,
            is_split,
            rest: None,
        }
    }
}

impl<F, E> Kept<F>
where
    F: Future<Output = Result<Response<Body>, E>> + Unpin,
{
    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        if let Some(rest) = &mut self.rest {
            return rest.poll(cx, &self.keeper.activity).map(Ok);
        }

        let mut response = match ready!(Pin::new(&mut self.answer).poll(cx)) {
            Ok(response) => response,
            failed => return Poll::Ready(failed),
        };

        self.keeper.look(&response);
        if self.keeper.stopping.load(Ordering::Relaxed) && !self.keeper.activity.is_http2() {
            say_close(&mut response);
        }

        if self.keeper.activity.is_unread() {
            return self.poll_unread(cx, response).map(Ok);
        }

        Poll::Ready(Ok(response))
    }
}

impl<F> Kept<F> {
    /// Reads on the body of the request, if the application has left one.
    #[cold]
    #[inline(never)]
    fn poll_unread(
        &mut self,
        cx: &mut Context<'_>,
        mut response: Response<Body>,
    ) -> Poll<Response<Body>> {
        let Some(body) = self.keeper.activity.take_left() else {
            say_close(&mut response);
            return Poll::Ready(response);
        };

        self.rest
            .insert(Box::new(Rest::new(response, body)))
            .poll(cx, &self.keeper.activity)
    }
}

impl<F, E> Future for Kept<F>
where
    F: Future<Output = Result<Response<Body>, E>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.is_split {
            return self.poll_response(cx).map_ok(in_pieces);
        }

        // Returned directly, because a response is large to move.
        self.poll_response(cx)
    }
}
