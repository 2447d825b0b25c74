//! The messages of the protocol `graphql-transport-ws`
//! (<https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>).

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::close::Close;
use super::sending::MAX_FRAME_SIZE;

/// The maximum number of bytes of an operation's identifier.
const MAX_ID_LENGTH: usize = 256;

/// A message from a client.
#[derive(Debug)]
pub(super) enum ClientMessage<'a> {
    Init {
        payload: Option<&'a RawValue>,
    },
    Ping {
        payload: Option<&'a RawValue>,
    },
    Pong,
    Subscribe {
        id: Cow<'a, str>,
        payload: &'a RawValue,
    },
    Complete {
        id: Cow<'a, str>,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

impl<'a> ClientMessage<'a> {
    /// Parses a message.
    ///
    /// # Errors
    /// The reason to close the socket, if the protocol has no such message.
    pub(super) fn read(text: &'a str) -> Result<Self, Close> {
        let Envelope { kind, id, payload } = serde_json::from_str(text).map_err(|error| {
            let what = if error.is_data() {
                "is not a message of graphql-transport-ws"
            } else {
                "is not JSON"
            };
            Close::bad_request(format!("Invalid message received: it {what}"))
        })?;

        let id = || match id {
            Some(id) if id.is_empty() => Err(invalid(&kind, "needs an `id` that is not empty")),
            Some(id) if id.len() > MAX_ID_LENGTH => Err(invalid(
                &kind,
                &format!("has an `id` of more than {MAX_ID_LENGTH} bytes"),
            )),
            Some(id) => Ok(id),
            None => Err(invalid(&kind, "needs an `id`")),
        };

        let object = |payload: &RawValue| payload.get().starts_with('{');
        let payload_object = || match payload {
            Some(payload) if !object(payload) => {
                Err(invalid(&kind, "takes an object as its `payload`"))
            }
            payload => Ok(payload),
        };

        match kind.as_ref() {
            "connection_init" => Ok(Self::Init {
                payload: payload_object()?,
            }),
            "ping" => Ok(Self::Ping {
                payload: payload_object()?,
            }),
            "pong" => payload_object().map(|_| Self::Pong),
            "subscribe" => {
                let payload = payload_object()?
                    .ok_or_else(|| invalid(&kind, "needs a `payload` with the operation"))?;
                Ok(Self::Subscribe { id: id()?, payload })
            }
            "complete" => Ok(Self::Complete { id: id()? }),
            _ => Err(Close::bad_request(
                "Invalid message received: its `type` is not one of graphql-transport-ws",
            )),
        }
    }
}

fn invalid(kind: &str, what: &str) -> Close {
    Close::bad_request(format!("Invalid message received: `{kind}` {what}"))
}

/// A message to a client.
#[derive(Debug)]
pub(super) enum ServerMessage<'a> {
    Ack,
    Ping,
    Pong {
        payload: Option<&'a RawValue>,
    },
    /// The result of an operation, as JSON.
    Next {
        id: &'a str,
        result: Bytes,
    },
    /// The errors of an operation, as a JSON list.
    Error {
        id: &'a str,
        errors: &'a str,
    },
    Complete {
        id: &'a str,
    },
}

impl ServerMessage<'_> {
    /// Returns the message as JSON, in parts: a long result is not copied.
    pub(super) fn write(&self) -> [Bytes; 3] {
        if let Self::Next { id, result } = self
            && result.len() > MAX_FRAME_SIZE
        {
            return [
                start("next", id).into(),
                result.clone(),
                Bytes::from_static(b"}"),
            ];
        }

        [self.write_whole().into(), Bytes::new(), Bytes::new()]
    }

    fn write_whole(&self) -> Vec<u8> {
        match self {
            Self::Ack => br#"{"type":"connection_ack"}"#.to_vec(),
            Self::Ping => br#"{"type":"ping"}"#.to_vec(),
            Self::Pong { payload: None } => br#"{"type":"pong"}"#.to_vec(),
            Self::Pong {
                payload: Some(payload),
            } => format!(r#"{{"type":"pong","payload":{payload}}}"#).into_bytes(),
            Self::Next { id, result } => with_id("next", id, Some(result)),
            Self::Error { id, errors } => with_id("error", id, Some(errors.as_bytes())),
            Self::Complete { id } => with_id("complete", id, None),
        }
    }
}

fn with_id(kind: &str, id: &str, payload: Option<&[u8]>) -> Vec<u8> {
    let Some(payload) = payload else {
        return format!(
            r#"{{"id":{},"type":"{kind}"}}"#,
            serde_json::Value::from(id)
        )
        .into_bytes();
    };

    let mut text = start(kind, id);
    text.reserve_exact(payload.len() + 1);
    text.extend_from_slice(payload);
    text.push(b'}');

    text
}

/// Writes a message up to its payload.
fn start(kind: &str, id: &str) -> Vec<u8> {
    format!(
        r#"{{"id":{},"type":"{kind}","payload":"#,
        serde_json::Value::from(id)
    )
    .into_bytes()
}
