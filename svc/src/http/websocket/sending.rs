//! Frames to a client.

use bytes::Bytes;
use futures_util::SinkExt as _;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::read_ahead::ReadAhead;

/// The most bytes of a frame. A longer message is sent in several, as a socket keeps a buffer as large as the longest
/// frame that it has sent.
pub(super) const LONGEST_FRAME: usize = 16 * 1024;

/// The socket of a client.
pub(super) type Stream = WebSocketStream<ReadAhead>;

/// Sends a text, which is JSON and so UTF-8.
pub(super) async fn send_text(stream: &mut Stream, text: Vec<u8>) -> Result<(), Error> {
    let mut rest = Bytes::from(text);
    let mut kind = Data::Text;
    loop {
        let frame = rest.split_to(rest.len().min(LONGEST_FRAME));
        stream.send(Message::Frame(Frame::message(frame, OpCode::Data(kind), rest.is_empty()))).await?;
        if rest.is_empty() {
            return Ok(());
        }
        kind = Data::Continue;
    }
}
