//! Bodies that come in part, in odd parts, or not at all.

use crate::{End, Hostile, document, hostile};

const HEAD: &str =
    "POST /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n";

pub(crate) fn all() -> Vec<Hostile> {
    let body = document("{ start { id } }");
    let length =
        |length: usize, body: &str| format!("{HEAD}content-length: {length}\r\n\r\n{body}");
    let chunked = |chunks: &str| format!("{HEAD}transfer-encoding: chunked\r\n\r\n{chunks}");
    let whole = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let parts: String = body
        .chars()
        .map(|character| format!("1\r\n{character}\r\n"))
        .collect();
    let both = [End::ClosesItsSide, End::Goes];
    let mut all = Vec::new();
    for (name, bytes) in [
        ("nothing", String::new()),
        ("a byte", "P".to_owned()),
        ("half a line", "POST /graph".to_owned()),
        ("half a head", HEAD.to_owned()),
        ("a head without its body", length(body.len(), "")),
        ("half a body", length(body.len(), &body[..10])),
        ("a byte too few", length(body.len() + 1, &body)),
        ("a body of terabytes", length(1 << 42, &body)),
        ("half a chunk", chunked(&whole[..9])),
        ("no last chunk", chunked(&whole[..whole.len() - 5])),
        (
            "half a trailer",
            chunked(&format!("{}x: ", &whole[..whole.len() - 2])),
        ),
        (
            "a client that asks first",
            format!("{HEAD}expect: 100-continue\r\ncontent-length: 20\r\n\r\n"),
        ),
    ] {
        all.extend(
            both.map(|end| hostile(format!("half-sent: {name}, {end:?}"), bytes.clone(), end)),
        );
    }
    for (name, bytes) in [
        ("chunks of a byte", chunked(&format!("{parts}0\r\n\r\n"))),
        (
            "40,000 chunks of a byte",
            chunked(&format!("{}0\r\n\r\n", "1\r\n \r\n".repeat(40_000))),
        ),
        ("an empty body in chunks", chunked("0\r\n\r\n")),
        (
            "chunks with extensions",
            chunked(&whole.replacen("\r\n", ";a=b;c=\"d\"\r\n", 1)),
        ),
        ("a chunk with a sign", chunked(&format!("+{whole}"))),
        (
            "a chunk of zeroes",
            chunked(&format!("0000000000000000000000{whole}")),
        ),
        ("trailers that look like a head", {
            chunked(&format!(
                "{}content-length: 7\r\nhost: y\r\n\r\n",
                &whole[..whole.len() - 2]
            ))
        }),
        (
            "bare line ends",
            length(body.len(), &body).replace("\r\n", "\n"),
        ),
        (
            "line ends before it",
            format!("\r\n\r\n{}", length(body.len(), &body)),
        ),
        (
            "a request behind it",
            format!(
                "{}GET /health HTTP/1.1\r\nhost: x\r\n\r\n",
                length(body.len(), &body)
            ),
        ),
        (
            "two lengths",
            format!("{HEAD}content-length: 3\r\ncontent-length: 4\r\n\r\n{{}}"),
        ),
        (
            "an empty length",
            format!("{HEAD}content-length: \r\n\r\n{{}}"),
        ),
        (
            "a length in hexadecimal",
            format!("{HEAD}content-length: 0x10\r\n\r\n{body}"),
        ),
        (
            "a length and chunks",
            format!("{HEAD}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n{whole}"),
        ),
        (
            "chunks twice",
            format!("{HEAD}transfer-encoding: chunked, chunked\r\n\r\n{whole}"),
        ),
        (
            "chunks that are hidden",
            format!("{HEAD}transfer-encoding: \u{b}chunked\r\n\r\n{whole}"),
        ),
        (
            "HTTP/1.0 without a length",
            "POST /graphql HTTP/1.0\r\ncontent-type: application/json\r\n\r\n".to_owned(),
        ),
        ("HTTP/0.9", "GET /graphql\r\n".to_owned()),
        (
            "TLS",
            "\u{16}\u{3}\u{1}\0\u{5}\u{1}\0\0\u{1}\r\n\r\n".to_owned(),
        ),
        (
            "PostgreSQL",
            "\0\0\0\u{8}\u{4}\u{2}\u{16}/\r\n\r\n".to_owned(),
        ),
        ("SMTP", "EHLO evil.example\r\n\r\n".to_owned()),
        (
            "two hundred requests in a row",
            "GET /health HTTP/1.1\r\nhost: x\r\n\r\n".repeat(200),
        ),
    ] {
        all.push(hostile(
            format!("framing: {name}"),
            bytes,
            End::ClosesItsSide,
        ));
    }
    all
}
