//! Sockets whose clients do not keep to the protocol.

use crate::{End, Hostile, hostile, quoted};

const HEAD: &str =
    "GET /graphql HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n";
const KEY: &str = "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
const PROTOCOL: &str = "sec-websocket-protocol: graphql-transport-ws\r\n";
const INIT: &str = r#"{"type":"connection_init"}"#;

/// A frame with its first byte, masked with zeroes.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ ..126 => frame.push(0x80 | short as u8),
        long @ ..65_536 => frame.extend([&[0xfe], &(long as u16).to_be_bytes()[..]].concat()),
        longer => frame.extend([&[0xff], &(longer as u64).to_be_bytes()[..]].concat()),
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

fn text(payload: &str) -> Vec<u8> {
    frame(0x81, payload.as_bytes())
}

fn subscribe(id: &str, query: &str) -> Vec<u8> {
    text(&format!(
        r#"{{"id":{},"type":"subscribe","payload":{{"query":{}}}}}"#,
        quoted(id),
        quoted(query)
    ))
}

fn socket(name: &str, frames: &[Vec<u8>], end: End) -> Hostile {
    let head = format!("{HEAD}{KEY}{PROTOCOL}\r\n");
    hostile(
        format!("socket: {name}"),
        [head.into_bytes(), frames.concat()].concat(),
        end,
    )
}

pub(crate) fn all() -> Vec<Hostile> {
    let half = End::ClosesItsSide;
    let handshake = |(name, lines): &(&str, &str)| {
        hostile(
            format!("handshake: {name}"),
            format!("{HEAD}{lines}connection: close\r\n\r\n"),
            half,
        )
    };
    let message = |(name, message): &(&str, &str)| socket(name, &[text(INIT), text(message)], half);
    let said = HEADS
        .iter()
        .map(handshake)
        .chain(MESSAGES.iter().map(message))
        .collect();
    [said, operations(), frames(), many()].concat()
}

/// Operations that the protocol does not allow.
fn operations() -> Vec<Hostile> {
    vec![
        socket("no message", &[], End::ClosesItsSide),
        socket(
            "an operation before the beginning",
            &[subscribe("1", "{ start { id } }")],
            End::ClosesItsSide,
        ),
        socket(
            "two beginnings",
            &[text(INIT), text(INIT)],
            End::ClosesItsSide,
        ),
        socket(
            "one id for two",
            &[
                text(INIT),
                subscribe("1", "subscription { forever }"),
                subscribe("1", "{ start { id } }"),
            ],
            End::ClosesItsSide,
        ),
        socket(
            "a long id",
            &[
                text(INIT),
                subscribe(&"x".repeat(10_000), "{ start { id } }"),
            ],
            End::ClosesItsSide,
        ),
        socket(
            "an empty id",
            &[text(INIT), subscribe("", "{ start { id } }")],
            End::ClosesItsSide,
        ),
        socket(
            "a message in bytes",
            &[text(INIT), frame(0x82, INIT.as_bytes())],
            End::ClosesItsSide,
        ),
    ]
}

/// Frames that WebSockets do not have.
fn frames() -> Vec<Hostile> {
    vec![
        socket(
            "a text that is not UTF-8",
            &[frame(0x81, b"\xc3\x28")],
            End::ClosesItsSide,
        ),
        socket(
            "a frame without a mask",
            &[text(INIT), b"\x81\x02{}".to_vec()],
            End::ClosesItsSide,
        ),
        socket("reserved bits", &[frame(0xf1, b"{}")], End::ClosesItsSide),
        socket("a reserved kind", &[frame(0x8f, b"{}")], End::ClosesItsSide),
        socket(
            "a continuation of nothing",
            &[frame(0x80, b"{}")],
            End::ClosesItsSide,
        ),
        socket(
            "a text in a text",
            &[frame(0x01, b"{"), frame(0x81, b"}")],
            End::ClosesItsSide,
        ),
        socket("a ping in parts", &[frame(0x09, b"")], End::ClosesItsSide),
        socket("a long ping", &[frame(0x89, &[0; 200])], End::ClosesItsSide),
        socket(
            "half a frame",
            &[text(INIT), b"\x81\xfe\xff".to_vec()],
            End::ClosesItsSide,
        ),
        socket(
            "a frame of exabytes",
            &[b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0".to_vec()],
            End::ClosesItsSide,
        ),
        socket(
            "a length in too many bytes",
            &[b"\x81\xff\0\0\0\0\0\0\0\x02\0\0\0\0{}".to_vec()],
            End::ClosesItsSide,
        ),
        socket(
            "a close with half a code",
            &[frame(0x88, b"\x03")],
            End::ClosesItsSide,
        ),
        socket(
            "a close with a code of nobody",
            &[frame(0x88, b"\x00\x07")],
            End::ClosesItsSide,
        ),
        socket(
            "a close with a bad reason",
            &[frame(0x88, b"\x03\xe8\xff\xff")],
            End::ClosesItsSide,
        ),
        socket(
            "messages behind the close",
            &[
                frame(0x88, b"\x03\xe8"),
                text(INIT),
                subscribe("1", "{ start { id } }"),
            ],
            End::ClosesItsSide,
        ),
    ]
}

/// Many of what is allowed, and large ones.
fn many() -> Vec<Hostile> {
    vec![
        socket(
            "50,000 empty parts",
            &[frame(0x01, b""), frame(0x00, b"").repeat(50_000)],
            End::ClosesItsSide,
        ),
        socket(
            "a thousand pings",
            &[frame(0x89, b"x").repeat(1_000)],
            End::ClosesItsSide,
        ),
        socket(
            "a thousand pongs",
            &[frame(0x8a, b"x").repeat(1_000)],
            End::ClosesItsSide,
        ),
        socket(
            "a thousand messages",
            &[text(INIT), text(r#"{"type":"ping"}"#).repeat(1_000)],
            End::ClosesItsSide,
        ),
        socket(
            "a message of 130,000 bytes",
            &[
                text(INIT),
                text(&format!("{{\"type\":\"ping\"{}}}", " ".repeat(130_000))),
            ],
            End::ClosesItsSide,
        ),
        socket(
            "a message of 10,000,000 bytes",
            &[text(INIT), frame(0x81, &vec![b' '; 10_000_000])],
            End::ClosesItsSide,
        ),
        socket(
            "80 pings of 130,000 bytes",
            &[
                text(INIT),
                text(&format!(
                    "{{\"type\":\"ping\",\"payload\":{{\"a\":[{}0]}}}}",
                    "0,".repeat(65_000)
                ))
                .repeat(80),
            ],
            End::ClosesItsSide,
        ),
        socket(
            "90 operations at once",
            &[
                text(INIT),
                (0..90)
                    .flat_map(|id| subscribe(&id.to_string(), "{ start { id } }"))
                    .collect(),
            ],
            End::ClosesItsSide,
        ),
        socket(
            "90 streams for nobody",
            &[
                text(INIT),
                (0..90)
                    .flat_map(|id| subscribe(&id.to_string(), "subscription { forever }"))
                    .collect(),
            ],
            End::Goes,
        ),
        socket(
            "more streams than there may be",
            &[
                text(INIT),
                (0..99)
                    .flat_map(|id| subscribe(&id.to_string(), "subscription { forever }"))
                    .collect::<Vec<_>>(),
                subscribe("x", "{ start { id } }"),
            ],
            End::Goes,
        ),
    ]
}

const HEADS: &[(&str, &str)] = &[
    ("without a key", "sec-websocket-version: 13\r\n"),
    (
        "with a short key",
        "sec-websocket-version: 13\r\nsec-websocket-key: AA==\r\n",
    ),
    (
        "with a key that is none",
        "sec-websocket-version: 13\r\nsec-websocket-key: !!!!!!!!!!!!!!!!!!!!!!!!\r\n",
    ),
    (
        "of another version",
        "sec-websocket-version: 8\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ),
    (
        "of the older protocol",
        "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: graphql-ws\r\n",
    ),
    (
        "of a thousand protocols",
        "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: a, b, c, d, e, f, , , ,\r\n",
    ),
    (
        "of another site",
        "origin: https://evil.example\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ),
    (
        "with extensions",
        "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: graphql-transport-ws\r\nsec-websocket-extensions: permessage-deflate; server_max_window_bits=8\r\n",
    ),
];

const MESSAGES: &[(&str, &str)] = &[
    ("an empty text", ""),
    ("what is not JSON", "{"),
    ("a list", "[]"),
    ("a message without a type", "{}"),
    (
        "a type of another protocol",
        r#"{"type":"start","id":"1","payload":{"query":"{ start { id } }"}}"#,
    ),
    ("a message of the service", r#"{"type":"connection_ack"}"#),
    ("a type that is null", r#"{"type":null}"#),
    ("two types", r#"{"type":"ping","type":"pong"}"#),
    (
        "a payload that is a list",
        r#"{"type":"ping","payload":[]}"#,
    ),
    (
        "an operation without a payload",
        r#"{"type":"subscribe","id":"1"}"#,
    ),
    (
        "an operation without an id",
        r#"{"type":"subscribe","payload":{"query":"{ start { id } }"}}"#,
    ),
    (
        "an operation without a document",
        r#"{"type":"subscribe","id":"1","payload":{}}"#,
    ),
    (
        "a batch",
        r#"{"type":"subscribe","id":"1","payload":[{"query":"{ start { id } }"}]}"#,
    ),
    (
        "a document that is not valid",
        r#"{"type":"subscribe","id":"1","payload":{"query":"{ nothing }"}}"#,
    ),
    (
        "a token that is none",
        r#"{"type":"ping","payload":{"authorization":"Bearer a b c"}}"#,
    ),
    (
        "the end of nothing",
        r#"{"type":"complete","id":"nothing"}"#,
    ),
];
