//! The streams that resolvers of subscriptions return.

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};

use super::{Outcome, Returns};
use svc_core::Error;

/// The events of a subscription, or the error that prevents them.
pub type Events<'a> = Result<BoxStream<'a, Outcome<'a>>, Error>;

/// The return type of a subscription with a body.
#[diagnostic::on_unimplemented(
    message = "a subscription with a body cannot return `{Self}`",
    label = "not a stream",
    note = "return `impl Stream<Item = T>`, or `Result<impl Stream<Item = T>>`; one that tells of rows that change needs no \
            body, but a `channel`"
)]
pub trait EventStream: Stream<Item = Self::Event> {
    /// An event.
    type Event;
}

#[diagnostic::do_not_recommend]
impl<S: Stream> EventStream for S {
    type Event = S::Item;
}

/// The events of a resolver that returned a stream. Each event can be anything that a query's
/// resolver may return.
///
/// # Errors
/// None.
pub fn events<'a, S>(stream: S) -> Events<'a>
where
    S: EventStream<Event: Returns + 'a> + Send + 'a,
{
    Ok(stream.map(Returns::outcome).boxed())
}

/// The events of a resolver that returned a stream or an error.
///
/// # Errors
/// The resolver's own error.
pub fn events_of_result<'a, S, E>(result: Result<S, E>) -> Events<'a>
where
    S: EventStream<Event: Returns + 'a> + Send + 'a,
    E: Into<Error>,
{
    events(result.map_err(Into::into)?)
}
