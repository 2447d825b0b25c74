//! The operations of a socket.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{AbortHandle, Abortable, SelectAll};
use futures_util::{FutureExt as _, Stream, StreamExt as _};
use tokio::task::JoinHandle;

use crate::engine::{Response, ResponseStream};

/// The outcome of the start of an operation: a stream of answers, or one answer.
type Started = Result<ResponseStream, Response>;

/// An event of an operation.
#[derive(Debug)]
pub(super) enum Event {
    /// An answer, after which others may follow.
    Next(Response),
    /// The operation has ended.
    Complete,
    /// The operation has ended with what it could not do.
    Error(Response),
    /// The operation panicked.
    Panicked(String),
}

/// The operations that run, of which each has its turn.
#[derive(Default)]
pub(super) struct Operations {
    running: SelectAll<Abortable<Operation>>,
    /// The identifiers that are in use.
    ids: Vec<(Arc<str>, AbortHandle)>,
}

impl Operations {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.iter().any(|(known, _)| **known == *id)
    }

    /// Starts an operation under an identifier that is free.
    pub(super) fn start(&mut self, id: &str, start: impl Future<Output = Started> + Send + 'static) {
        let id: Arc<str> = id.into();
        let (handle, registration) = AbortHandle::new_pair();
        let operation = Operation { id: id.clone(), state: State::Starting(Starting(tokio::spawn(start))) };
        self.running.push(Abortable::new(operation, registration));
        self.ids.push((id, handle));
    }

    /// Ends an operation, of which nothing more is told. One that is not known has ended already.
    pub(super) fn stop(&mut self, id: &str) {
        if let Some(at) = self.ids.iter().position(|(known, _)| **known == *id) {
            self.ids.swap_remove(at).1.abort();
        }
    }

    /// Is ready with the next event; pending for ever without operations.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<(Arc<str>, Event)> {
        match self.running.poll_next_unpin(cx) {
            Poll::Ready(Some((id, event))) => {
                if !matches!(event, Event::Next(_)) {
                    self.stop(&id);
                }
                Poll::Ready((id, event))
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

/// An operation as a stream of its events.
struct Operation {
    id: Arc<str>,
    state: State,
}

/// A start in a task of its own: a socket whose client takes no message polls nothing, and a start in the middle of a
/// statement would keep its connection of the pool from all other clients.
struct Starting(JoinHandle<Started>);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

enum State {
    Starting(Starting),
    Streaming(ResponseStream),
    /// Its only answer was given.
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
                        continue;
                    }
                    Ok(Err(response)) if response.answer.is_executed() => (State::Answered, Event::Next(response)),
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

/// Why a task has ended without a result.
fn reason(ended: tokio::task::JoinError) -> String {
    match ended.try_into_panic() {
        Ok(panic) => crate::panic::message(&*panic).to_owned(),
        // The runtime ends, and the socket with it.
        Err(_) => "the runtime has ended".to_owned(),
    }
}

impl Operation {
    /// Drops what runs. That is code of the application as well, and must not take other operations along.
    fn end(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Ended);
        if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(|| drop(state))) {
            crate::panic::report("dropping an operation", crate::panic::message(&*panic));
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.end();
    }
}

impl Stream for Operation {
    type Item = (Arc<str>, Event);

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if matches!(self.state, State::Ended) {
            return Poll::Ready(None);
        }
        let this = &mut *self;
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| this.poll_state(cx)));
        let event = match polled {
            Ok(polled) => std::task::ready!(polled),
            Err(panic) => {
                this.end();
                Event::Panicked(crate::panic::message(&*panic).to_owned())
            }
        };
        Poll::Ready(Some((this.id.clone(), event)))
    }
}
