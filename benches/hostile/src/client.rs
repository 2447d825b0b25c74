//! One request a connection: a refusal may close it before the request is sent.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hostile_requests::End;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The time for a server to be done with a client that has gone.
const SETTLED: Duration = Duration::from_millis(30);

/// An answer.
pub(crate) struct Reply {
    /// `None` where there is none in HTTP/1.
    status: Option<u16>,
    pub(crate) body: String,
}

/// Sends all bytes and waits for the whole answer.
pub(crate) async fn send(
    address: SocketAddr,
    bytes: &[u8],
    end: End,
) -> io::Result<(Reply, Duration)> {
    let start = Instant::now();
    let (mut read, mut write) = TcpStream::connect(address).await?.into_split();
    if end == End::Goes {
        let _ = write.write_all(bytes).await;
        drop((read, write));
        let time = start.elapsed();
        tokio::time::sleep(SETTLED).await;
        return Ok((
            Reply {
                status: None,
                body: String::new(),
            },
            time,
        ));
    }
    let send = async {
        // A server that has refused does not read on.
        let _ = write.write_all(bytes).await;
        if end == End::ClosesItsSide {
            let _ = write.shutdown().await;
        }
        std::future::pending::<()>().await;
    };
    let mut answer = Vec::new();
    let received = tokio::select! {
        received = read.read_to_end(&mut answer) => received,
        () = send => Ok(0),
    };
    let time = start.elapsed();
    match received {
        // One that was cut off has its end too.
        Err(error) if answer.is_empty() && error.kind() != io::ErrorKind::ConnectionReset => {
            Err(error)
        }
        _ => Ok((Reply::parse(&String::from_utf8_lossy(&answer)), time)),
    }
}

impl Reply {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        Self {
            status,
            body: body.to_owned(),
        }
    }

    /// Whether something has gone wrong inside of the server.
    pub(crate) fn is_failure(&self) -> bool {
        self.status
            .is_some_and(|status| status >= 500 && status != 503)
    }

    fn code(&self) -> Option<&str> {
        self.body.split_once(r#""code":""#)?.1.split('"').next()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, self.code()) {
            (None, _) => f.write_str("none"),
            (Some(status), Some(code)) => write!(f, "{status} `{code}`"),
            (Some(200), None) if self.body.contains("\"data\"") => f.write_str("200 data"),
            (Some(status), None) => write!(f, "{status}"),
        }
    }
}
