//! HTTP/2 with prior knowledge: frames that break the rules, and frames that keep to them and cost.

use crate::{End, Hostile, hostile};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    [
        &length.to_be_bytes()[1..],
        &[kind, flags],
        &stream.to_be_bytes(),
        payload,
    ]
    .concat()
}

/// A field that is not indexed, in HPACK.
fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| {
        let mut bytes = Vec::new();
        match text.len() {
            short @ ..127 => bytes.push(short as u8),
            long => {
                bytes.push(127);
                let mut rest = long - 127;
                while rest >= 128 {
                    bytes.push((rest % 128) as u8 | 0x80);
                    rest /= 128;
                }
                bytes.push(rest as u8);
            }
        }
        bytes
    };
    [
        vec![0],
        length(name),
        name.into(),
        length(value),
        value.into(),
    ]
    .concat()
}

fn get(path: &str) -> Vec<u8> {
    [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "x"),
    ]
    .map(|(name, value)| field(name, value))
    .concat()
}

fn post() -> Vec<u8> {
    let head = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/graphql"),
        (":authority", "x"),
    ];
    let head = head.map(|(name, value)| field(name, value)).concat();
    [head, field("content-type", "application/json")].concat()
}

fn connection(name: &str, frames: &[Vec<u8>]) -> Hostile {
    let begin = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    hostile(
        format!("HTTP/2: {name}"),
        [begin, frames.concat()].concat(),
        End::ClosesItsSide,
    )
}

pub(crate) fn all() -> Vec<Hostile> {
    [many(), heads(), frames()].concat()
}

fn get_request(stream: u32) -> Vec<u8> {
    frame(
        HEADERS,
        END_HEADERS | END_STREAM,
        stream,
        &get("/graphql?query={start{id}}"),
    )
}

/// The head of the first stream.
fn headed(block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block)
}

/// The frames of so many streams.
fn streams(count: u32, frames: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    (0..count)
        .flat_map(|number| frames(2 * number + 1))
        .collect()
}

fn setting(id: u16, value: u32) -> Vec<u8> {
    [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// Beginnings, and many of what is allowed.
fn many() -> Vec<Hostile> {
    vec![
        hostile("HTTP/2: half a preface", &PREFACE[..10], End::ClosesItsSide),
        hostile("HTTP/2: a preface alone", PREFACE, End::ClosesItsSide),
        hostile(
            "HTTP/2: a preface and HTTP/1.1",
            [PREFACE, b"GET / HTTP/1.1\r\n\r\n"].concat(),
            End::ClosesItsSide,
        ),
        connection(
            "a reset behind each of 500 requests",
            &[streams(500, |n| {
                [get_request(n), frame(RST_STREAM, 0, n, &[0, 0, 0, 8])].concat()
            })],
        ),
        connection("300 requests at once", &[streams(300, get_request)]),
        connection(
            "100 bodies that never come",
            &[streams(100, |n| frame(HEADERS, END_HEADERS, n, &post()))],
        ),
        connection(
            "5,000 settings",
            &[frame(SETTINGS, 0, 0, &[]).repeat(5_000)],
        ),
        connection("5,000 pings", &[frame(PING, 0, 0, &[0; 8]).repeat(5_000)]),
        connection(
            "5,000 priorities",
            &[frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 1]).repeat(5_000)],
        ),
        connection(
            "5,000 empty parts of a head",
            &[
                frame(HEADERS, 0, 1, &get("/")),
                frame(CONTINUATION, 0, 1, &[]).repeat(5_000),
            ],
        ),
        connection(
            "a head without an end",
            &[
                frame(HEADERS, 0, 1, &get("/")),
                frame(CONTINUATION, 0, 1, &field("a", &"b".repeat(16_000))).repeat(20),
            ],
        ),
        connection(
            "5,000 empty parts of a body",
            &[
                frame(HEADERS, END_HEADERS, 1, &post()),
                frame(DATA, 0, 1, &[]).repeat(5_000),
            ],
        ),
        connection(
            "a body of padding",
            &[
                frame(HEADERS, END_HEADERS, 1, &post()),
                frame(DATA, 8, 1, &[vec![255], vec![0; 255]].concat()).repeat(200),
            ],
        ),
    ]
}

/// Heads that cannot be read, or say what they may not.
fn heads() -> Vec<Hostile> {
    vec![
        connection(
            "a table that fills up",
            &[{
                // One entry of 4,000 bytes, and 16,000 times that one.
                let mut block = get("/");
                block.extend([0x40, 1, b'a', 0x7f, 0xa1, 0x1e]);
                block.extend([b'b'; 4_000]);
                block.extend([0xbe; 12_000]);
                headed(&block)
            }],
        ),
        connection(
            "an index of nothing",
            &[headed(&[0xff, 0xff, 0xff, 0xff, 0x7f])],
        ),
        connection(
            "a table larger than may be",
            &[headed(&[0x3f, 0xff, 0xff, 0xff, 0x7f])],
        ),
        connection(
            "bad Huffman codes",
            &[headed(&[0, 0x84, 255, 255, 255, 255, 0])],
        ),
        connection("no method", &[headed(&field(":path", "/graphql"))]),
        connection(
            "a pseudo-header behind others",
            &[headed(&[field("a", "b"), get("/graphql")].concat())],
        ),
        connection(
            "a name in capital letters",
            &[headed(&[get("/graphql"), field("A", "b")].concat())],
        ),
        connection(
            "headers of a connection",
            &[frame(
                HEADERS,
                END_HEADERS | END_STREAM,
                1,
                &[
                    get("/graphql"),
                    field("connection", "close"),
                    field("transfer-encoding", "chunked"),
                ]
                .concat(),
            )],
        ),
        connection(
            "a length that is not that of the body",
            &[
                frame(
                    HEADERS,
                    END_HEADERS,
                    1,
                    &[post(), field("content-length", "99")].concat(),
                ),
                frame(DATA, END_STREAM, 1, b"{\"query\":\"{ start { id } }\"}"),
            ],
        ),
        connection(
            "a CONNECT for a socket",
            &[frame(
                HEADERS,
                END_HEADERS,
                1,
                &[
                    field(":method", "CONNECT"),
                    field(":protocol", "websocket"),
                    field(":scheme", "http"),
                    field(":path", "/graphql"),
                    field(":authority", "x"),
                ]
                .concat(),
            )],
        ),
    ]
}

/// Frames that break the rules.
fn frames() -> Vec<Hostile> {
    vec![
        connection(
            "a body before its head",
            &[frame(DATA, END_STREAM, 1, b"{}")],
        ),
        connection(
            "stream 0",
            &[frame(HEADERS, END_HEADERS | END_STREAM, 0, &get("/"))],
        ),
        connection(
            "an even stream",
            &[frame(HEADERS, END_HEADERS | END_STREAM, 2, &get("/"))],
        ),
        connection("a stream that was", &[get_request(5), get_request(3)]),
        connection(
            "a promise",
            &[frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])],
        ),
        connection(
            "a window of nothing",
            &[frame(WINDOW_UPDATE, 0, 0, &[0; 4])],
        ),
        connection(
            "a window beyond all numbers",
            &[frame(WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255])],
        ),
        connection(
            "a window of no bytes for the answer",
            &[frame(SETTINGS, 0, 0, &setting(4, 0)), get_request(1)],
        ),
        connection(
            "a window beyond numbers in settings",
            &[frame(SETTINGS, 0, 0, &setting(4, u32::MAX))],
        ),
        connection(
            "frames of no size",
            &[frame(SETTINGS, 0, 0, &setting(5, 0))],
        ),
        connection("settings of five bytes", &[frame(SETTINGS, 0, 0, &[0; 5])]),
        connection("a ping of seven bytes", &[frame(PING, 0, 0, &[0; 7])]),
        connection(
            "an unknown kind",
            &[frame(0xee, 0xff, 7, &[0; 100]), get_request(1)],
        ),
        connection(
            "a frame longer than may be",
            &[frame(DATA, 0, 1, &vec![0; 20_000])],
        ),
        connection(
            "a farewell",
            &[frame(GOAWAY, 0, 0, &[0; 8]), get_request(1)],
        ),
    ]
}
