//! Answers that wait in memory until their clients take them.
//!
//! A client that asks for much and reads nothing costs memory for as long as it may take. So the bytes of large answers are
//! counted from when they are handed to a connection until they are dropped, and beyond a bound the connections whose
//! clients have taken nothing for longest are closed. Until then those who keep answers are refused others.

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
pub(crate) use unread_answers::UnreadAnswers;
