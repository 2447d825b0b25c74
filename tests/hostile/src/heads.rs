//! Heads of requests: methods, paths, headers, media types.

use crate::{Hostile, document, head, post_with};

const JSON: &str = "content-type: application/json\r\n";

pub(crate) fn all() -> Vec<Hostile> {
    let body = document("{ start { id } }");
    let mut all: Vec<_> = LINES
        .iter()
        .map(|(first, lines)| head(format!("head: {first}"), first, lines))
        .collect();
    all.extend(MEDIA.iter().map(|media| {
        post_with(
            format!("content type: {media:?}"),
            &format!("content-type: {media}\r\n"),
            &body,
        )
    }));
    all.extend(HEADERS.iter().map(|(name, lines)| {
        post_with(format!("header: {name}"), &format!("{JSON}{lines}"), &body)
    }));
    all.extend(large().into_iter().map(|(name, lines)| {
        post_with(format!("header: {name}"), &format!("{JSON}{lines}"), &body)
    }));
    all
}

/// First lines, and lines below.
const LINES: &[(&str, &str)] = &[
    ("GET / HTTP/1.1", ""),
    ("GET /graphql HTTP/1.1", ""),
    ("GET /graphql?query HTTP/1.1", ""),
    ("GET /graphql?query= HTTP/1.1", ""),
    ("GET /graphql?query=%ff%fe HTTP/1.1", ""),
    ("GET /graphql?query=%zz HTTP/1.1", ""),
    (
        "GET /graphql?query={start{id}}&query={nothing} HTTP/1.1",
        "",
    ),
    ("GET /graphql?query={start{id}}&variables=[] HTTP/1.1", ""),
    ("GET /graphql?query={start{id}}&variables={ HTTP/1.1", ""),
    ("GET /graphql?query={start{id}}&extensions=1 HTTP/1.1", ""),
    ("GET /graphql?query=mutation{start{id}} HTTP/1.1", ""),
    ("GET /graphql?query=subscription{forever} HTTP/1.1", ""),
    ("GET /graphql?documentId=../../etc/passwd HTTP/1.1", ""),
    ("GET /graphql/../../etc/passwd HTTP/1.1", ""),
    ("GET /graphql/%2e%2e/%2e%2e/etc/passwd HTTP/1.1", ""),
    ("GET //graphql?query={start{id}} HTTP/1.1", ""),
    ("GET /graphql%00 HTTP/1.1", ""),
    ("GET http://[::1/graphql HTTP/1.1", ""),
    ("GET http://user:password@x:99999/graphql HTTP/1.1", ""),
    ("HEAD /graphql?query={start{id}} HTTP/1.1", ""),
    ("PUT /graphql HTTP/1.1", ""),
    ("DELETE /graphql HTTP/1.1", ""),
    ("PATCH /graphql HTTP/1.1", ""),
    ("TRACE /graphql HTTP/1.1", ""),
    (
        "OPTIONS /graphql HTTP/1.1",
        "origin: https://evil.example\r\naccess-control-request-method: POST\r\n",
    ),
    ("OPTIONS /graphql HTTP/1.1 ", ""),
    ("PROPFIND /graphql HTTP/1.1", ""),
    ("get /graphql HTTP/1.1", ""),
    ("GET /graphql HTTP/2.0", ""),
    ("GET /graphql HTTP/1.1 HTTP/1.1", ""),
    ("\u{1}\u{2} /graphql HTTP/1.1", ""),
    ("GET /gra phql HTTP/1.1", ""),
    (
        "POST /graphql HTTP/1.1",
        "content-type: application/json\r\n",
    ),
    ("POST /health HTTP/1.1", "content-length: 0\r\n"),
];

const MEDIA: &[&str] = &[
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "multipart/form-data; boundary=",
    "application/graphql",
    "application/json; charset=utf-16",
    "application/json; charset=\"",
    "application/json;;;;",
    "application/json, application/json",
    "application/jsonx",
    "application /json",
    "*/*",
    "application/json\u{e9}",
    "application/vnd.api+json",
    "text/html; charset=utf-8",
];

const HEADERS: &[(&str, &str)] = &[
    ("two content types", "content-type: text/plain\r\n"),
    ("a coding", "content-encoding: gzip\r\n"),
    (
        "a coding of all",
        "content-encoding: gzip, br, zstd, deflate\r\n",
    ),
    ("a media type that nobody has", "accept: image/png\r\n"),
    ("all media types at 0", "accept: */*;q=0\r\n"),
    (
        "weights that are none",
        "accept: application/json;q=9, text/html;q=-1, */*;q=a\r\n",
    ),
    ("half a media type", "accept: application/\r\n"),
    (
        "another site",
        "origin: https://evil.example\r\ncookie: a=b\r\n",
    ),
    ("no site", "origin: null\r\n"),
    (
        "two sites",
        "origin: http://x\r\norigin: https://evil.example\r\n",
    ),
    (
        "a site that fetches",
        "sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\ncookie: a=b\r\n",
    ),
    ("a token that is none", "authorization: Bearer\r\n"),
    (
        "two tokens",
        "authorization: Bearer a\r\nauthorization: Bearer b\r\n",
    ),
    (
        "a token of another kind",
        "authorization: Digest username=\"\\\"\"\r\n",
    ),
    ("a token of bytes", "authorization: Bearer \u{ff}\u{fe}\r\n"),
    (
        "a method in its place",
        "x-http-method-override: DELETE\r\n",
    ),
    (
        "a path in its place",
        "x-original-url: /health\r\nx-rewrite-url: /health\r\n",
    ),
    (
        "forged addresses",
        "x-forwarded-for: 127.0.0.1, ::1, unknown, \"\r\nforwarded: for=\"[::1\r\nx-real-ip: a\r\n",
    ),
    (
        "an upgrade to HTTP/2",
        "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n",
    ),
    (
        "an upgrade to nothing",
        "connection: upgrade\r\nupgrade: \r\n",
    ),
    (
        "an upgrade of a POST",
        "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n",
    ),
    ("a range", "range: bytes=0-0,1-1,2-2,3-3\r\n"),
    (
        "a condition",
        "if-none-match: *\r\nif-match: \"\r\nif-modified-since: never\r\n",
    ),
    ("another expectation", "expect: 200-ok\r\n"),
    (
        "trailers to come",
        "te: trailers, deflate;q=0.5\r\ntrailer: content-length\r\n",
    ),
    ("an identifier with line ends", "x-request-id: a%0d%0ab\r\n"),
    (
        "an identifier of another alphabet",
        "x-request-id: \u{e9}\u{1f600}\r\n",
    ),
    (
        "a trace that is none",
        "traceparent: 00-00000000000000000000000000000000-0000000000000000-00\r\n",
    ),
    ("a name of signs", "!#$%&'*+-.^_`|~: 1\r\n"),
    ("a cookie of equals signs", "cookie: =====;;;;=;\r\n"),
    ("a second host", "host: y\r\n"),
];

fn large() -> Vec<(&'static str, String)> {
    let numbered =
        |count: usize, each: fn(usize) -> String| (0..count).map(each).collect::<String>();
    vec![
        ("99 of them", numbered(90, |n| format!("x-{n}: {n}\r\n"))),
        (
            "2,000 of them",
            numbered(2_000, |n| format!("x-{n}: {n}\r\n")),
        ),
        (
            "a value of 60,000 bytes",
            format!("x-long: {}\r\n", "x".repeat(60_000)),
        ),
        (
            "a value of 200,000 bytes",
            format!("x-long: {}\r\n", "x".repeat(200_000)),
        ),
        (
            "a name of 60,000 bytes",
            format!("{}: x\r\n", "x".repeat(60_000)),
        ),
        (
            "5,000 media types",
            format!("accept: {}*/*\r\n", "a/b;q=0.1,".repeat(5_000)),
        ),
        (
            "5,000 streams",
            format!("accept: {}*/*\r\n", "text/event-stream;q=0,".repeat(2_500)),
        ),
        (
            "5,000 addresses",
            format!("x-forwarded-for: {}\r\n", "192.0.2.1, ".repeat(5_000)),
        ),
        (
            "5,000 quotation marks",
            format!("forwarded: {}\r\n", "for=\"a\\\"\",".repeat(5_000)),
        ),
        (
            "5,000 cookies",
            format!("cookie: {}\r\n", "a=b; ".repeat(5_000)),
        ),
        (
            "a token of 50,000 dots",
            format!("authorization: Bearer {}\r\n", ".".repeat(50_000)),
        ),
    ]
}
