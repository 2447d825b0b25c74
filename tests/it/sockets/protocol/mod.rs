//! `graphql-transport-ws`: each message and each close code, and the cases of the tests of
//! graphql-ws's own server.

mod connection;
mod ends;
mod failures;
mod operations;

use serde_json::{Value, json};

fn next(id: &str, data: &Value) -> Value {
    json!({ "id": id, "type": "next", "payload": { "data": data } })
}

fn complete(id: &str) -> Value {
    json!({ "id": id, "type": "complete" })
}
