//! A response for clients while there is no program: the reason why there is none.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::failure::{Failure, Result};

/// The maximum time for a client.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of bytes read from a request.
const HEAD: usize = 16 << 10;

/// Responds to every client until it is dropped.
pub(super) async fn serve(listener: &TcpListener, trouble: &str) -> Result<Infallible> {
    let failed = || Failure::io("listen");
    let listener = listener.try_clone().map_err(failed())?;

    // Tokio requires this. The flag is shared by all copies of the socket, also with the next
    // program.
    listener.set_nonblocking(true).map_err(failed())?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed())?;

    loop {
        let (stream, _) = listener.accept().await.map_err(failed())?;
        let trouble = trouble.to_owned();
        tokio::spawn(timeout(PATIENCE, respond(stream, trouble)));
    }
}

/// Reads the start of the request first: closing a socket with unread bytes resets the connection.
async fn respond(mut stream: TcpStream, trouble: String) -> io::Result<()> {
    let mut head = Vec::new();
    let mut bytes = [0; 4096];
    while head.len() < HEAD && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut bytes).await? {
            0 => break,
            read => head.extend_from_slice(&bytes[..read]),
        }
    }

    let (kind, text) = answer(&String::from_utf8_lossy(&head), &trouble);
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );

    stream.write_all(answer.as_bytes()).await?;

    // The rest of a large request is read as well, because unread bytes would reset the connection.
    stream.shutdown().await?;
    while stream.read(&mut bytes).await? > 0 {}

    Ok(())
}

/// The response in the client's format: a page for browsers, which reloads itself, a GraphQL error
/// for GraphQL clients, and plain text for all others.
fn answer(head: &str, trouble: &str) -> (&'static str, String) {
    let header = |name: &str| {
        let line = head
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with(name));
        line.map(|line| line[name.len()..].to_ascii_lowercase())
            .unwrap_or_default()
    };

    if header("accept:").contains("text/html") {
        return ("text/html; charset=utf-8", page(trouble));
    }

    let message = format!("the service is not running: {trouble}");
    if header("content-type:").contains("application/json") {
        let error = json!({ "errors": [{ "message": message, "extensions": { "code": "SERVICE_UNAVAILABLE" } }] });
        return ("application/json; charset=utf-8", error.to_string());
    }

    (
        "text/plain; charset=utf-8",
        format!("{message}\n\nSee the terminal of `svc dev` for details.\n"),
    )
}

fn page(trouble: &str) -> String {
    let trouble = trouble
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">\
         <title>svc dev</title></head>\n<body style=\"font-family: sans-serif; margin: 2em\">\
         <h1>The service is not running</h1>\n<pre>{trouble}</pre>\n\
         <p>This page reloads automatically.</p></body></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn each_client_gets_the_reason_in_its_form() {
        let why = "expected `;`, found <x>";
        let of = |head: &str| answer(head, why);
        let (kind, text) = of("GET / HTTP/1.1\r\nAccept: text/html,*/*;q=0.8\r\n\r\n");

        assert!(
            kind.starts_with("text/html") && text.contains("found &lt;x&gt;"),
            "{text}"
        );
        let (kind, text) =
            of("POST /graphql HTTP/1.1\r\ncontent-type: application/json\r\nAccept: */*\r\n\r\n{}");
        assert!(
            kind.starts_with("application/json")
                && text.contains(r#""code":"SERVICE_UNAVAILABLE""#),
            "{text}"
        );

        let (kind, text) = of("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n");

        assert!(
            kind.starts_with("text/plain") && text.contains("found <x>"),
            "{text}"
        );
    }
}
