//! Responses that wait in memory until their clients accept them.
//!
//! A client that requests much and reads nothing costs memory for as long as it is allowed to. So
//! the bytes of large responses are counted from when they are handed to a connection until they
//! are dropped, and beyond a limit the connections whose clients have accepted nothing for longest
//! are closed. Meanwhile, new requests from the clients that hold the backlog are rejected.

mod body;
mod client;
mod kept;
mod taken;
mod unread_answers;
mod waiting;

pub(super) use body::UnreadBody;
#[cfg(feature = "websocket")]
pub(super) use client::Client;
pub(crate) use client::{LargeAnswer, Recipient};
pub(crate) use taken::Taken;
pub(crate) use unread_answers::PendingResponses;
