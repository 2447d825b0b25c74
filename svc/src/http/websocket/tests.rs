//! Messages of every form: none panics, and each rejected message gets a reason in a frame.

use bytes::Bytes;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use super::close::Close;
use super::message::{ClientMessage, ServerMessage};
use super::socket::Socket;
use crate::http::endpoint::parameters;

const SEEDS: [&str; 8] = [
    r#"{"type":"connection_init","payload":{"authorization":"Bearer a.b.c","headers":{"Authorization":null}}}"#,
    r#"{"type":"ping","payload":{"a":[1,2.5e400,-0,true,null,"\ud83d\ude00"]}}"#,
    r#"{"type":"pong"}"#,
    r#"{"id":"1","type":"subscribe","payload":{"query":"{ hello }","variables":{"a":1},"operationName":null}}"#,
    r#"{"id":"\u0000\"","type":"subscribe","payload":{"documentId":"sha256:00","extensions":{"persistedQuery":{}}}}"#,
    r#"{"id":"ü","type":"complete"}"#,
    r#"{"type":"subscribe","id":"x","id":"y","payload":[[[[[[{}]]]]]]}"#,
    r#"{"id":7,"type":null}"#,
];

/// Fragments of JSON and of the protocol.
const PIECES: [&str; 16] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "1e9",
    "\\u",
    "\\ud800",
    "type",
    "payload",
    "subscribe",
    "ü",
    " ",
];

fn mutated(random: &mut SmallRng) -> String {
    let mut text = SEEDS[random.random_range(0..SEEDS.len())].to_owned();
    for _ in 0..random.random_range(0..6) {
        let at = text.floor_char_boundary(random.random_range(0..=text.len()));
        match random.random_range(0..3) {
            0 => text.insert_str(at, PIECES[random.random_range(0..PIECES.len())]),
            1 => text.truncate(at),
            _ => {
                let end =
                    text.floor_char_boundary((at + random.random_range(0..9)).min(text.len()));
                text.replace_range(at..end.max(at), "");
            }
        }
    }

    text
}

fn reason(close: Close) -> Vec<u8> {
    let frame = close.into_frame();
    assert!(frame.reason.len() <= 123, "{frame:?}");
    frame.reason.as_bytes().to_vec()
}

#[test]
fn every_text_is_a_message_or_closes_4400() {
    let mut random = SmallRng::seed_from_u64(0x6772_6170_6871_6c21);
    let mut read = 0;
    for _ in 0..30_000 {
        let text = mutated(&mut random);
        match ClientMessage::read(&text) {
            Err(close) => {
                assert_eq!(close.code, 4400, "{text}");
                reason(close);
            }
            Ok(ClientMessage::Subscribe { payload, .. }) => {
                read += 1;
                if let Err(refusal) = parameters::one_from_body(payload.get().as_bytes()) {
                    reason(Close::bad_request(refusal.message().to_owned()));
                }
            }
            #[cfg(feature = "auth")]
            Ok(ClientMessage::Init { payload } | ClientMessage::Ping { payload }) => {
                read += 1;
                let _ = super::identity::credentials(payload).map_err(reason);
            }
            Ok(_) => read += 1,
        }
    }

    assert!(read > 3_000, "{read} of the messages could be read");
}

/// Ten thousand sockets take ten thousand times these sizes.
#[test]
fn a_socket_is_small() {
    fn size<A, F: Future>(_: impl FnOnce(A) -> F) -> usize {
        size_of::<F>()
    }

    let sizes = [
        ("socket", size_of::<Socket>()),
        ("stream", size_of::<super::sending::Stream>()),
        ("run", size(|socket: Box<Socket>| socket.run())),
        (
            "close",
            size(|(socket, close): (Box<Socket>, Close)| socket.close(close)),
        ),
        ("operations", size_of::<super::operations::Operations>()),
        ("parts", size_of::<svc_engine::request::RequestParts>()),
    ];

    assert!(sizes.iter().all(|(_, size)| *size <= 1_280), "{sizes:?}");
}

#[test]
fn identifiers_are_returned_unchanged() {
    let mut random = SmallRng::seed_from_u64(7);
    for _ in 0..2_000 {
        let id: String = (0..random.random_range(1..20))
            .map(|_| random.random::<char>())
            .collect();
        let sent = json!({ "type": "complete", "id": id }).to_string();
        let Ok(ClientMessage::Complete { id: came }) = ClientMessage::read(&sent) else {
            panic!("{sent}")
        };

        let written = ServerMessage::Next {
            id: &came,
            result: Bytes::from_static(b"{}"),
        }
        .write()
        .concat();

        let written: Value = serde_json::from_slice(&written).unwrap();

        assert_eq!(written, json!({ "id": id, "type": "next", "payload": {} }));
    }
}
