//! A socket: its messages, its operations, its end.

#[cfg(feature = "auth")]
mod authentication;
mod operation;
mod subscribing;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use bytes::Bytes;
#[cfg(feature = "auth")]
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_tungstenite::tungstenite::error::Error as FrameError;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Utf8Bytes;

#[cfg(feature = "auth")]
use self::subscribing::Held;
use super::READ_BUFFER;
use super::answer_counter::AnswerCounter;
use super::close::{self, Close};
#[cfg(feature = "auth")]
use super::identity::Identified;
use super::message::{ClientMessage, ServerMessage};
use super::operations::{Event, Operations};
use super::sending::{MAX_FRAME_SIZE, Stream, send_text};
#[cfg(feature = "auth")]
use crate::http::live::{Checked, LiveUser};
use crate::http::live::{Ending, Order, Seat};
use crate::http::{HttpState, panic_guard};
#[cfg(feature = "auth")]
use svc_auth::Identity;
use svc_engine::request::RequestParts;

/// The time for a client to answer the close frame.
const CLOSING: Duration = Duration::from_secs(2);

/// A client's socket.
pub(super) struct Socket {
    service: Arc<HttpState>,
    stream: Stream,
    seat: Seat,
    /// The request that opened the socket.
    opened: Arc<RequestParts>,
    /// The credentials of that request, until the client is authenticated.
    credentials: Option<Box<HeaderMap>>,
    state: State,
    #[cfg(feature = "auth")]
    identifying: Option<BoxFuture<'static, Result<Identified, Close>>>,
    #[cfg(feature = "auth")]
    identity: Identity,
    /// The user, if it has to be checked.
    #[cfg(feature = "auth")]
    user: Option<Box<LiveUser>>,
    /// An operation that waits until the user has been checked; no message is read until then.
    #[cfg(feature = "auth")]
    held: Option<Box<Held>>,
    operations: Operations,
    /// Whether an operation runs under an earlier token than the socket's.
    #[cfg(feature = "auth")]
    has_earlier: bool,
    /// A long message, kept until the next read. Meanwhile the frame reader allocates a new buffer,
    /// and dropping the message frees the old one; otherwise a socket would keep a buffer as long
    /// as its longest message.
    long_message: Option<Utf8Bytes>,
    /// The start of the one-second window that counts messages, and their number.
    second: (Instant, u32),
}

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No `connection_init` has arrived.
    Opened,
    /// `connection_init` has arrived.
    Initialising,
    /// Operations are accepted.
    Acknowledged,
}

/// A reason to stop serving the socket.
enum Stop {
    Close(Close),
    /// The client has violated the frame protocol, so nothing more can be read.
    Broken(Close),
    /// The client has closed the socket, or is gone.
    Gone,
}

impl From<Close> for Stop {
    fn from(close: Close) -> Self {
        Self::Close(close)
    }
}

/// A step of a socket.
enum Step {
    Ordered(Order),
    #[cfg(feature = "auth")]
    Identified(Result<Identified, Close>),
    #[cfg(feature = "auth")]
    Checked(Checked),
    Received(Option<Result<Message, FrameError>>),
    Happened(Arc<str>, Event),
}

impl Socket {
    /// Creates the socket on the heap, because every future that passes it on would otherwise
    /// reserve space for it.
    pub(super) fn new(
        service: Arc<HttpState>,
        stream: Stream,
        seat: Seat,
        mut opened: RequestParts,
        credentials: Option<Box<HeaderMap>>,
    ) -> Box<Self> {
        // Its operations count as one client in the queue for the database.
        opened.share = Some(service.engine.app.database.share());
        Box::new(Self {
            service,
            stream,
            seat,
            opened: Arc::new(opened),
            credentials,
            state: State::Opened,
            #[cfg(feature = "auth")]
            identifying: None,
            #[cfg(feature = "auth")]
            identity: Identity::default(),
            #[cfg(feature = "auth")]
            user: None,
            #[cfg(feature = "auth")]
            held: None,
            operations: Operations::default(),
            #[cfg(feature = "auth")]
            has_earlier: false,
            long_message: None,
            second: (Instant::now(), 0),
        })
    }

    /// Serves the socket until it ends.
    pub(super) async fn run(mut self: Box<Self>) {
        loop {
            let step = poll_fn(|cx| self.poll_step(cx)).await;
            // Boxed, because a socket waits most of the time, and needs no space for its other
            // steps then.
            let taken = self.take(step).boxed().await;
            match taken {
                Ok(()) => {}
                Err(Stop::Gone) => return,
                Err(Stop::Close(close)) => return self.close(close).boxed().await,
                Err(Stop::Broken(close)) => return self.break_off(close).boxed().await,
            }
        }
    }

    /// Closes the socket; operations end before the close frame is sent.
    pub(super) async fn close(mut self: Box<Self>, close: Close) {
        self.operations = Operations::default();
        let (seat, stream) = (&self.seat, &mut self.stream);
        let closing = async {
            // Until the client has closed it as well: unread bytes would reset the connection, and
            // the client would lose the reason.
            if stream.close(Some(close.into_frame())).await.is_ok() {
                while let Some(Ok(_)) = stream.next().await {}
            }
        };

        in_time(seat, closing).boxed().await;
    }

    /// Closes the socket of a client that has violated the frame protocol; nothing more can be read
    /// from it.
    async fn break_off(mut self: Box<Self>, close: Close) {
        self.operations = Operations::default();
        let (seat, stream) = (&self.seat, &mut self.stream);
        let closing = async {
            let _ = stream.close(Some(close.into_frame())).await;
            let socket = stream.get_mut();
            let _ = socket.shutdown().await;
            let mut rest = [0; 1024];
            while socket.read(&mut rest).await.is_ok_and(|bytes| bytes > 0) {}
        };

        in_time(seat, closing).boxed().await;
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        // Orders come first: neither messages nor events may delay the end of a socket whose token
        // has ended.
        if let Poll::Ready(order) = self.seat.poll_order(cx) {
            return Poll::Ready(Step::Ordered(order));
        }

        #[cfg(feature = "auth")]
        if let Some(identifying) = &mut self.identifying
            && let Poll::Ready(identity) = identifying.as_mut().poll(cx)
        {
            self.identifying = None;
            return Poll::Ready(Step::Identified(identity));
        }

        #[cfg(feature = "auth")]
        if let Some(user) = &mut self.user
            && let Poll::Ready(checked) = user.poll(cx)
        {
            return Poll::Ready(Step::Checked(checked));
        }

        // Messages come before events, so that `complete` ends an operation however fast its events
        // follow each other.
        let received = match self.is_holding() {
            true => Poll::Pending,
            false => self.stream.poll_next_unpin(cx),
        };
        self.long_message = None;
        if let Poll::Ready(message) = received {
            return Poll::Ready(Step::Received(message));
        }

        let counter = AnswerCounter {
            protection: &self.service.protection,
            seat: &self.seat,
            opened: &self.opened,
        };

        self.operations
            .poll_event(cx, &counter)
            .map(|(id, event)| Step::Happened(id, event))
    }

    async fn take(&mut self, step: Step) -> Result<(), Stop> {
        match step {
            Step::Ordered(Order::Ping) => {
                if self.is_holding() {
                    // Its pong is not read meanwhile.
                    self.seat.hear();
                }
                self.send(&ServerMessage::Ping).await
            }
            #[cfg(feature = "auth")]
            Step::Ordered(Order::EndOperations) => self.end_streams().await,
            #[cfg(feature = "auth")]
            Step::Ordered(Order::CheckUser) => {
                self.check_user();
                Ok(())
            }
            Step::Ordered(Order::End(ending)) => Err(Close::from(ending).into()),
            #[cfg(feature = "auth")]
            Step::Identified(identified) => self.identified(identified?).await,
            #[cfg(feature = "auth")]
            Step::Checked(checked) => self.checked(checked).await,
            Step::Received(Some(Ok(message))) => self.receive(message).await,
            Step::Received(Some(Err(error))) => {
                Err(close::of_error(&error).map_or(Stop::Gone, Stop::Broken))
            }
            Step::Received(None) => Err(Stop::Gone),
            Step::Happened(id, event) => self.tell(&id, event).await,
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), Stop> {
        self.seat.hear();
        self.count_message()?;

        match message {
            Message::Text(text) => {
                let taken = self.read(&text).await;
                self.long_message = Some(text).filter(|text| text.len() > READ_BUFFER);
                taken
            }
            Message::Binary(_) => {
                Err(Close::bad_request("Invalid message received: messages are texts").into())
            }
            // The library answers pings and closes itself, with the next read or write.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => Ok(()),
        }
    }

    fn count_message(&mut self) -> Result<(), Close> {
        let (now, limit) = (Instant::now(), self.service.live.config.messages_per_second);
        if now.saturating_duration_since(self.second.0) >= Duration::from_secs(1) {
            self.second = (now, 0);
        }

        self.second.1 += 1;

        if self.second.1 > limit {
            Err(Close::flooded(limit))
        } else {
            Ok(())
        }
    }

    async fn read(&mut self, text: &str) -> Result<(), Stop> {
        match ClientMessage::read(text)? {
            ClientMessage::Init { payload } => self.initialise(payload).await,
            ClientMessage::Ping { payload } => self.answer_ping(payload).await,
            ClientMessage::Pong => Ok(()),
            ClientMessage::Subscribe { id, payload } => self.subscribe(&id, payload).await,
            ClientMessage::Complete { id } => {
                self.operations.stop(&id);
                self.note_operations();
                Ok(())
            }
        }
    }

    #[cfg(not(feature = "auth"))]
    async fn initialise(&mut self, _: Option<&RawValue>) -> Result<(), Stop> {
        self.begin_initialising()?;
        self.acknowledge().await
    }

    #[cfg(feature = "auth")]
    async fn initialise(&mut self, payload: Option<&RawValue>) -> Result<(), Stop> {
        self.begin_initialising()?;
        let own = self.credentials.take().map(|own| *own);
        self.identify(self.credentials_in(payload)?.or(own).unwrap_or_default());
        Ok(())
    }

    fn begin_initialising(&mut self) -> Result<(), Close> {
        // The protocol closes with 4429 also if the first `connection_init` is not acknowledged
        // yet.
        if self.state != State::Opened {
            return Err(Close::second_init());
        }
        self.state = State::Initialising;
        self.seat.initialise();
        Ok(())
    }

    /// Records that operations have started or ended.
    fn note_operations(&mut self) {
        self.seat.set_operations(self.operations.len());
        #[cfg(feature = "auth")]
        if self.has_earlier {
            self.watch_earlier();
        }
    }

    async fn acknowledge(&mut self) -> Result<(), Stop> {
        self.credentials = None;
        self.state = State::Acknowledged;
        self.send(&ServerMessage::Ack).await
    }

    /// Answers a ping. If it contains a token, the client continues under that token, and gets the
    /// pong once the token is verified; the token is not sent back.
    async fn answer_ping(&mut self, payload: Option<&RawValue>) -> Result<(), Stop> {
        #[cfg(feature = "auth")]
        if let Some(credentials) = self.credentials_in(payload)? {
            return match self.state {
                State::Acknowledged => {
                    self.identify(credentials);
                    Ok(())
                }
                State::Opened | State::Initialising => Err(Close::unauthorized().into()),
            };
        }

        self.send(&ServerMessage::Pong { payload }).await
    }

    /// Sends an event to the client.
    async fn tell(&mut self, id: &str, event: Event) -> Result<(), Stop> {
        if !matches!(event, Event::Next(_)) {
            self.note_operations();
        }

        match event {
            Event::Next(response) => {
                self.send(&ServerMessage::Next {
                    id,
                    result: response.body,
                })
                .await
            }
            Event::Complete => self.send(&ServerMessage::Complete { id }).await,
            Event::Error(response) => {
                let Errors { errors } =
                    serde_json::from_slice(&response.body).map_err(|_| Close::internal())?;
                self.send(&ServerMessage::Error {
                    id,
                    errors: errors.get(),
                })
                .await
            }
            #[cfg(feature = "auth")]
            Event::Outdated(ending) => self.tell_outdated(id, ending).await,
            Event::Panicked(panic) => {
                let errors = serde_json::Value::from(vec![panic_guard::masked(&panic)]).to_string();
                self.send(&ServerMessage::Error {
                    id,
                    errors: &errors,
                })
                .await
            }
        }
    }

    /// Sends a message, unless the client takes too long to accept it.
    async fn send(&mut self, message: &ServerMessage<'_>) -> Result<(), Stop> {
        let (seat, operations) = (&self.seat, &mut self.operations);
        let counter = AnswerCounter {
            protection: &self.service.protection,
            seat,
            opened: &self.opened,
        };

        let (parts, mut was_pending) = (message.write(), false);
        let length: usize = parts.iter().map(Bytes::len).sum();
        let mut sending = pin!(send_text(&mut self.stream, parts, seat));
        let sent = poll_fn(|cx| match sending.as_mut().poll(cx) {
            Poll::Ready(sent) => Poll::Ready(sent.map_err(|_| Stop::Gone)),
            Poll::Pending => {
                was_pending = true;
                seat.set_writing(true);
                operations.poll_ahead(cx, &counter);

                // Only an ending interrupts a message: `poll_order` would consume a ping, which
                // cannot be sent in the middle of another message.
                seat.poll_ending(cx)
                    .map(|ending| Err(Close::from(ending).into()))
            }
        });

        let sent = sent.await;
        if was_pending && length <= MAX_FRAME_SIZE {
            seat.note_taken(length);
        }

        seat.set_writing(false);

        sent
    }
}

/// Waits until a client has closed its socket too, unless it takes too long or the server has
/// stopped.
async fn in_time(seat: &Seat, closing: impl Future<Output = ()>) {
    let mut closing = pin!(closing);
    let ended = poll_fn(|cx| {
        // Polled first, so that a stopped server still sends the close frame.
        if closing.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }

        match seat.poll_ending(cx) {
            Poll::Ready(Ending::Stopped) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    });

    let _ = tokio::time::timeout(CLOSING, ended).await;
}

/// The errors of a response without data.
#[derive(Deserialize)]
struct Errors<'a> {
    #[serde(borrow)]
    errors: &'a RawValue,
}
