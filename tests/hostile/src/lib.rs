//! Requests that mean a service ill: all bytes of a connection, and what the client does after
//! them.
//!
//! The service has the root fields `start { id next … }`, `length(text:)`, `echo(json:)` and the
//! subscriptions `ticks(count:)` and `forever`, and takes batches of up to ten requests.

mod bodies;
mod documents;
mod framing;
mod heads;
mod http2;
mod persisted;
mod sockets;
mod streams;

/// A request, or what looks like one.
#[derive(Debug, Clone)]
pub struct Hostile {
    /// Says what it is.
    pub name: String,
    /// Everything that its client sends.
    pub bytes: Vec<u8>,
    /// The end of the client's part.
    pub end: End,
}

/// The end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client waits for an answer, after which the service closes the connection.
    Waits,
    /// The client closes its side and waits.
    ClosesItsSide,
    /// The client goes away at once.
    Goes,
}

/// All of them.
pub fn all() -> Vec<Hostile> {
    [
        bodies::all(),
        documents::all(),
        framing::all(),
        heads::all(),
        http2::all(),
        persisted::all(),
        sockets::all(),
        streams::all(),
    ]
    .concat()
}

fn hostile(name: impl Into<String>, bytes: impl Into<Vec<u8>>, end: End) -> Hostile {
    Hostile {
        name: name.into(),
        bytes: bytes.into(),
        end,
    }
}

/// A `POST` with these lines in its head, and a body.
fn post_with(name: impl Into<String>, lines: &str, body: impl AsRef<[u8]>) -> Hostile {
    let body = body.as_ref();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{lines}content-length: {}\r\n\r\n",
        body.len()
    );
    hostile(name, [head.as_bytes(), body].concat(), End::Waits)
}

/// A `POST` with a body in JSON, or not.
fn post(name: impl Into<String>, body: impl AsRef<[u8]>) -> Hostile {
    post_with(name, "content-type: application/json\r\n", body)
}

/// A request without a body: its first line, and further lines.
fn head(name: impl Into<String>, first: &str, lines: &str) -> Hostile {
    hostile(
        name,
        format!("{first}\r\nhost: x\r\nconnection: close\r\n{lines}\r\n"),
        End::Waits,
    )
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..='\x1f' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

/// A body with a document.
fn document(text: &str) -> String {
    format!("{{\"query\":{}}}", quoted(text))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn each_hostile_request_has_a_unique_name() {
        let all = super::all();
        let names: HashSet<_> = all.iter().map(|hostile| hostile.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 190, "{}", all.len());
    }
}
