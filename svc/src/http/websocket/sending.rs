//! Frames to a client.

use bytes::Bytes;
use futures_util::SinkExt as _;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::read_ahead::ReadAhead;
use crate::http::live::Seat;

/// The maximum number of bytes of a frame. A longer message is sent in several frames, because a
/// socket keeps a buffer as large as the longest frame that it has sent.
pub(super) const MAX_FRAME_SIZE: usize = 16 * 1024;

/// The socket of a client.
pub(super) type Stream = WebSocketStream<ReadAhead>;

/// Sends a text in parts; it is JSON and therefore UTF-8. For a long text, the seat records the
/// client's progress.
pub(super) async fn send_text(
    stream: &mut Stream,
    parts: [Bytes; 3],
    seat: &Seat,
) -> Result<(), Error> {
    let mut left: usize = parts.iter().map(Bytes::len).sum();
    let mut kind = Data::Text;
    for mut part in parts {
        while !part.is_empty() {
            let frame = part.split_to(part.len().min(MAX_FRAME_SIZE));
            let length = frame.len();
            left -= length;
            stream
                .send(Message::Frame(Frame::message(
                    frame,
                    OpCode::Data(kind),
                    left == 0,
                )))
                .await?;

            if left > 0 {
                seat.note_taken(length);
            }

            kind = Data::Continue;
        }
    }

    Ok(())
}
