//! Documents that are named by what is not their name.

use crate::{Hostile, post};

/// The SHA-256 of `{ start { id } }`.
const START: &str = "\"query\":\"{ start { id } }\"";

pub(crate) fn all() -> Vec<Hostile> {
    let hash = |name: &str, hash: &str| {
        post(
            format!("persisted: {name}"),
            format!(
                "{{\"extensions\":{{\"persistedQuery\":{{\"version\":1,\"sha256Hash\":{hash}}}}}}}"
            ),
        )
    };
    let body = |name: &str, body: String| post(format!("persisted: {name}"), body);
    let with = |name: &str, extension: &str| {
        body(
            name,
            format!("{{{START},\"extensions\":{{\"persistedQuery\":{extension}}}}}"),
        )
    };
    let id = |name: &str, id: &str| body(name, format!("{{\"documentId\":{id}}}"));
    let zeroes = "0".repeat(64);
    vec![
        hash("a hash that nobody knows", &format!("\"{zeroes}\"")),
        hash("a short hash", "\"00\""),
        hash(
            "a hash of other letters",
            &format!("\"{}\"", "z".repeat(64)),
        ),
        hash(
            "a hash of 900,000 digits",
            &format!("\"{}\"", "0".repeat(900_000)),
        ),
        hash("a hash that is a number", "7"),
        hash("a hash that is a list", "[]"),
        hash("an MD5", &format!("\"{}\"", "0".repeat(32))),
        hash("a SHA-1", &format!("\"{}\"", "0".repeat(40))),
        with(
            "another document's hash",
            &format!("{{\"version\":1,\"sha256Hash\":\"{zeroes}\"}}"),
        ),
        with(
            "version 2",
            &format!("{{\"version\":2,\"sha256Hash\":\"{zeroes}\"}}"),
        ),
        with(
            "version 1.0000000000000000001",
            &format!("{{\"version\":1.0000000000000000001,\"sha256Hash\":\"{zeroes}\"}}"),
        ),
        with("no version", &format!("{{\"sha256Hash\":\"{zeroes}\"}}")),
        with("a text", "\"x\""),
        with("a list", "[]"),
        with("nothing in it", "{}"),
        id("an id that nobody knows", "\"Nothing\""),
        id("an empty id", "\"\""),
        id("an id with a path", "\"../../../etc/passwd\""),
        id("an id with a zero character", "\"a\\u0000b\""),
        id("an id with a pattern", "\"%_*?[a-z]\""),
        id("an id with a line of Redis", "\"a\\r\\nFLUSHALL\\r\\n\""),
        id(
            "an id of 900,000 bytes",
            &format!("\"{}\"", "a".repeat(900_000)),
        ),
        id("an id that is a number", "7"),
        id("a hash as an id", &format!("\"sha256:{zeroes}\"")),
        id("half a hash as an id", "\"sha256:00\""),
        body(
            "an id and a document",
            format!("{{{START},\"documentId\":\"a\"}}"),
        ),
        body("an id and a hash", {
            format!(
                "{{\"documentId\":\"a\",\"extensions\":{{\"persistedQuery\":{{\"version\":1,\"sha256Hash\":\"{zeroes}\"}}}}}}"
            )
        }),
        body("a batch of ten hashes", {
            let entry = format!(
                "{{\"extensions\":{{\"persistedQuery\":{{\"version\":1,\"sha256Hash\":\"{zeroes}\"}}}}}}"
            );
            format!("[{}]", vec![entry; 10].join(","))
        }),
    ]
}
