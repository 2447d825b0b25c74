//! The operations of a socket.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::task::JoinHandle;

use super::answer_counter::AnswerCounter;
#[cfg(feature = "auth")]
use crate::http::live::Ending;
#[cfg(feature = "auth")]
use svc_auth::Verified;
use svc_core::task::wake_flag::WakeFlag;
use svc_engine::graphql::{Response, ResponseStream};

/// The outcome of starting an operation: a stream of responses, or a single response.
type Started = Result<ResponseStream, Response>;

/// An event of an operation.
#[derive(Debug)]
pub(super) enum Event {
    /// A response; others may follow.
    Next(Response),
    /// The operation has ended.
    Complete,
    /// The operation has failed with these errors.
    Error(Response),
    /// The operation panicked.
    Panicked(String),
    /// The token or the user of the operation has ended before its stream began.
    #[cfg(feature = "auth")]
    Outdated(Ending),
}

/// The running operations, polled in turn.
#[derive(Default)]
pub(super) struct Operations {
    running: Vec<Running>,
    /// The position of the next operation in turn.
    next: usize,
}

/// The token that an operation runs under.
#[cfg(feature = "auth")]
pub(super) type Token = Option<Arc<Verified>>;
#[cfg(not(feature = "auth"))]
pub(super) type Token = ();

/// An operation, which is polled once it was woken.
struct Running {
    operation: Operation,
    #[cfg_attr(
        not(feature = "auth"),
        expect(dead_code, reason = "there are no tokens")
    )]
    token: Token,
    woken: Arc<WakeFlag>,
    /// Whether its last event is being sent; until that is done, it is not polled for the next one.
    is_told: bool,
    /// An event that occurred while a message waited for the client.
    waiting: Option<Box<Event>>,
}

impl Operations {
    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.position(id).is_some()
    }

    /// Starts an operation under an unused identifier.
    pub(super) fn start(
        &mut self,
        id: &str,
        token: Token,
        start: impl Future<Output = Started> + Send + 'static,
    ) {
        let operation = Operation {
            id: id.into(),
            state: State::Starting(Starting(tokio::spawn(start))),
            #[cfg(feature = "auth")]
            outdated: None,
        };

        if self.running.is_empty() {
            // Most sockets have one operation, and a vector starts with room for four.
            self.running.reserve_exact(1);
        }

        let woken = Arc::<WakeFlag>::default();

        // No event wakes a new operation, but it has to be polled once to start waiting.
        woken.remember();

        self.running.push(Running {
            operation,
            token,
            woken,
            is_told: false,
            waiting: None,
        });
    }

    /// Ends an operation without sending any more of its events. An unknown identifier belongs to
    /// an operation that has already ended.
    pub(super) fn stop(&mut self, id: &str) {
        if let Some(at) = self.position(id) {
            self.running.swap_remove(at);
        }
    }

    /// Is ready with the next event; pending forever without operations. Responses count until they
    /// are sent.
    pub(super) fn poll_event(
        &mut self,
        cx: &mut Context<'_>,
        counter: &AnswerCounter<'_>,
    ) -> Poll<(Arc<str>, Event)> {
        let count = self.running.len();
        for turn in 0..count {
            let at = (self.next + turn) % count;
            let running = &mut self.running[at];
            if std::mem::take(&mut running.is_told) {
                // An operation that returned an event has registered no waker for the next one.
                running.woken.remember();
            }

            let waiting = running.waiting.take().map(|event| *event);
            let Some(event) = waiting.or_else(|| running.poll(cx, counter)) else {
                continue;
            };

            running.is_told = true;
            let id = running.operation.id.clone();

            // The next search begins behind this operation: one with many events must not keep the
            // others waiting.
            self.next = at + 1;
            if !matches!(event, Event::Next(_)) {
                self.running.swap_remove(at);
            }

            return Poll::Ready((id, event));
        }

        Poll::Pending
    }

    /// Runs the operations while a message waits for the client, each until it has an event: an
    /// operation in the middle of a statement would otherwise keep its pool connection from all
    /// other clients.
    pub(super) fn poll_ahead(&mut self, cx: &mut Context<'_>, counter: &AnswerCounter<'_>) {
        for running in self
            .running
            .iter_mut()
            .filter(|running| !running.is_told && running.waiting.is_none())
        {
            running.waiting = running.poll(cx, counter).map(Box::new);
        }
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.running
            .iter()
            .position(|running| *running.operation.id == *id)
    }
}

#[cfg(feature = "auth")]
impl Operations {
    /// Continues operations under a new token whose user is identical to theirs except for the
    /// times.
    pub(super) fn renew(&mut self, renewed: &Arc<Verified>) {
        for running in self
            .running
            .iter_mut()
            .filter(|running| running.is_current())
        {
            if let Some(token) = &mut running.token
                && token.user.is_same_but_for_times(&renewed.user)
            {
                *token = renewed.clone();
            }
        }
    }

    /// Returns the tokens other than the current one that operations run under, each once.
    pub(super) fn earlier_tokens(&self, current: Option<&Arc<Verified>>) -> Vec<Arc<Verified>> {
        let mut earlier: Vec<Arc<Verified>> = Vec::new();
        for token in self
            .running
            .iter()
            .filter(|running| running.is_current())
            .filter_map(|running| running.token.as_ref())
        {
            let is_same = |known: &Arc<Verified>| Arc::ptr_eq(known, token);
            if !current.is_some_and(is_same) && !earlier.iter().any(is_same) {
                earlier.push(token.clone());
            }
        }

        earlier
    }

    /// Ends the streams that run under a token, and returns their identifiers. An operation that
    /// has not answered yet may be a mutation, so it ends only if it turns out to be a stream.
    pub(super) fn end_streams_under(
        &mut self,
        token: &Arc<Verified>,
        ending: Ending,
    ) -> Vec<Arc<str>> {
        for running in self
            .running
            .iter_mut()
            .filter(|running| running.is_under(token))
        {
            running.operation.outdated.get_or_insert(ending);
        }

        self.running
            .extract_if(.., |running| {
                running.is_under(token) && running.operation.is_streaming()
            })
            .map(|running| running.operation.id.clone())
            .collect()
    }
}

#[cfg(feature = "auth")]
impl Running {
    fn is_under(&self, token: &Arc<Verified>) -> bool {
        self.token
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, token))
    }

    /// Whether its token has not ended.
    fn is_current(&self) -> bool {
        self.operation.outdated.is_none()
    }
}

impl Running {
    /// Returns its next event, if it was woken and has one.
    fn poll(&mut self, cx: &Context<'_>, counter: &AnswerCounter<'_>) -> Option<Event> {
        // Also registers the task for an operation that was not woken: an earlier wake may have
        // used the registration up after its flag was read.
        if !self.woken.take_wake(cx.waker()) {
            return None;
        }

        let waker = Waker::from(self.woken.clone());
        match self.operation.poll_event(&mut Context::from_waker(&waker)) {
            Poll::Ready(event) => Some(event.counted(counter)),
            Poll::Pending => None,
        }
    }
}

impl Event {
    fn counted(self, counter: &AnswerCounter<'_>) -> Self {
        match self {
            Self::Next(response) => Self::Next(counter.count(response)),
            other => other,
        }
    }
}

/// An operation, which yields its events.
struct Operation {
    id: Arc<str>,
    state: State,
    /// The end of its token or user, which it outlives until it has answered.
    #[cfg(feature = "auth")]
    outdated: Option<Ending>,
}

/// A start in a separate task: a socket whose client accepts no messages polls nothing, and a start
/// in the middle of a statement would keep its pool connection from all other clients.
struct Starting(JoinHandle<Started>);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

enum State {
    Starting(Starting),
    Streaming(ResponseStream),
    /// Its single response was returned.
    Answered,
    Ended,
}

impl Operation {
    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            let (state, event) = match &mut self.state {
                State::Starting(start) => match std::task::ready!(start.0.poll_unpin(cx)) {
                    Ok(Ok(stream)) => {
                        self.state = State::Streaming(stream);
                        #[cfg(feature = "auth")]
                        if let Some(ending) = self.outdated {
                            self.end();
                            return Poll::Ready(Event::Outdated(ending));
                        }
                        continue;
                    }
                    // The protocol has `error` for operations that did not run; the result of a
                    // query or mutation is a `next`, also with errors in it.
                    Ok(Err(response)) if response.answer.is_executed() => {
                        (State::Answered, Event::Next(response))
                    }
                    Ok(Err(response)) => (State::Ended, Event::Error(response)),
                    Err(ended) => (State::Ended, Event::Panicked(reason(ended))),
                },
                State::Streaming(stream) => match std::task::ready!(stream.poll_next_unpin(cx)) {
                    Some(response) => return Poll::Ready(Event::Next(response)),
                    None => (State::Ended, Event::Complete),
                },
                State::Answered | State::Ended => (State::Ended, Event::Complete),
            };

            self.end();
            self.state = state;

            return Poll::Ready(event);
        }
    }
}

/// Returns the reason why a task ended without a result.
fn reason(ended: tokio::task::JoinError) -> String {
    match ended.try_into_panic() {
        Ok(panic) => svc_telemetry::panic::message(&*panic).to_owned(),
        // The runtime shuts down, and the socket with it.
        Err(_) => "the runtime has ended".to_owned(),
    }
}

impl Operation {
    #[cfg(feature = "auth")]
    fn is_streaming(&self) -> bool {
        matches!(self.state, State::Streaming(_))
    }

    /// Drops the running state. Its destructor may be application code, and its panic must not
    /// affect other operations.
    fn end(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Ended);
        if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(|| drop(state))) {
            svc_telemetry::panic::report(
                "dropping an operation",
                svc_telemetry::panic::message(&*panic),
            );
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.end();
    }
}

impl Operation {
    /// Is ready with the next event. A panic becomes an event, the last one.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        std::panic::catch_unwind(AssertUnwindSafe(|| self.poll_state(cx))).unwrap_or_else(|panic| {
            self.end();
            Poll::Ready(Event::Panicked(
                svc_telemetry::panic::message(&*panic).to_owned(),
            ))
        })
    }
}
