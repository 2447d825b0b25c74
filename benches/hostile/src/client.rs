//! One HTTP request a connection: a refusal may close it before the body is sent.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The way in which the length of the body is told.
#[derive(Clone, Copy)]
pub(crate) enum Framing {
    Length,
    Chunked,
}

/// An answer.
pub(crate) struct Reply {
    status: u16,
    pub(crate) body: String,
}

/// Sends a body and waits for the whole answer.
pub(crate) async fn post(address: SocketAddr, body: &str, framing: Framing) -> io::Result<(Reply, Duration)> {
    let (framed, head) = match framing {
        Framing::Length => (body.to_owned(), format!("Content-Length: {}", body.len())),
        Framing::Chunked => {
            (format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()), "Transfer-Encoding: chunked".to_owned())
        }
    };
    let request = format!(
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n{head}\r\n\r\n{framed}"
    );
    let start = Instant::now();
    let (mut read, mut write) = TcpStream::connect(address).await?.into_split();
    let send = async {
        // A server that has refused does not read on.
        let _ = write.write_all(request.as_bytes()).await;
        std::future::pending::<()>().await;
    };
    let mut answer = Vec::new();
    let received = tokio::select! {
        received = read.read_to_end(&mut answer) => received,
        () = send => Ok(0),
    };
    let time = start.elapsed();
    match received {
        Err(error) if answer.is_empty() => Err(error),
        _ => Ok((Reply::parse(&String::from_utf8_lossy(&answer)), time)),
    }
}

impl Reply {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, body: body.to_owned() }
    }

    fn code(&self) -> Option<&str> {
        self.body.split_once(r#""code":""#)?.1.split('"').next()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code() {
            Some(code) => write!(f, "{} `{code}`", self.status),
            None => write!(f, "{} data", self.status),
        }
    }
}
