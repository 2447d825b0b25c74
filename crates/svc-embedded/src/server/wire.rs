//! The part of PostgreSQL's protocol that this crate needs: to check that a server accepts
//! connections, and to create databases without a driver.
//!
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>

use std::{io, path::Path, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

/// Maximum length of a message in bytes, far above the messages of a `CREATE DATABASE`.
const MAX_MESSAGE_SIZE: usize = 1 << 20;

/// Maximum time to open a session. A server that accepts a connection but sends nothing isn't
/// ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// SQLSTATE `cannot_connect_now`: starting up, or shutting down.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// The state of the server behind a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A server that accepts connections.
    Ready,
    /// A server that is starting or shutting down.
    NotNow,
    /// No server.
    Nobody,
}

/// The failure of a session.
#[derive(Debug)]
pub(crate) enum Failure {
    Io(io::Error),
    Server { code: String, message: String },
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Returns the state of the server behind a socket.
pub(crate) async fn ask(socket: &Path) -> Answer {
    match timeout(PATIENCE, Session::open(socket)).await {
        Ok(Ok(session)) => {
            session.close().await;
            Answer::Ready
        }
        Ok(Err(Failure::Server { code, .. })) if code == CANNOT_CONNECT_NOW => Answer::NotNow,
        // Any other error, such as "too many clients", comes from a running server.
        Ok(Err(Failure::Server { .. })) => Answer::Ready,
        Ok(Err(Failure::Io(_))) => Answer::Nobody,
        Err(_elapsed) => Answer::NotNow,
    }
}

/// A connection to the database `postgres` as the superuser.
#[derive(Debug)]
pub(crate) struct Session {
    stream: UnixStream,
}

impl Session {
    pub(crate) async fn open(socket: &Path) -> Result<Self, Failure> {
        let mut session = Self {
            stream: UnixStream::connect(socket).await?,
        };

        // 196608 is version 3.0 of the protocol: the major version in the upper 16 bits, the minor
        // version in the lower.
        let mut startup = Vec::from(196_608_u32.to_be_bytes());
        startup.extend_from_slice(b"user\0postgres\0database\0postgres\0\0");
        session.send(None, &startup).await?;
        session.until_ready().await?;
        Ok(session)
    }

    /// Runs one statement and ignores its result.
    pub(crate) async fn execute(&mut self, statement: &str) -> Result<(), Failure> {
        let mut body = Vec::from(statement);
        body.push(0);
        self.send(Some(b'Q'), &body).await?;
        self.until_ready().await
    }

    pub(crate) async fn close(mut self) {
        let _ = self.send(Some(b'X'), &[]).await;
    }

    async fn send(&mut self, kind: Option<u8>, body: &[u8]) -> io::Result<()> {
        // The length counts itself, but not the type byte, which a startup message does not have.
        let length = u32::try_from(body.len() + 4).map_err(io::Error::other)?;
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend_from_slice(&length.to_be_bytes());
        message.extend_from_slice(body);
        self.stream.write_all(&message).await
    }

    /// Reads until the server is ready for the next statement. Returns the first error received.
    async fn until_ready(&mut self) -> Result<(), Failure> {
        let mut refused = None;
        loop {
            match self.receive().await {
                Ok((b'Z', _)) => return refused.map_or(Ok(()), Err),
                Ok((b'E', body)) if refused.is_none() => refused = Some(failure(&body)),
                Ok(_) => {}
                // A server that rejects a connection closes it after the error.
                Err(error) => return Err(refused.unwrap_or(Failure::Io(error))),
            }
        }
    }

    async fn receive(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let kind = self.stream.read_u8().await?;
        let length = self.stream.read_u32().await? as usize;

        // Checked before the allocation: a program that uses another protocol could otherwise cause
        // one of 4 GiB.
        if !(4..=MAX_MESSAGE_SIZE).contains(&length) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length - 4];
        self.stream.read_exact(&mut body).await?;
        Ok((kind, body))
    }
}

/// Reads the fields `C` (SQLSTATE) and `M` (message) of an ErrorResponse.
fn failure(body: &[u8]) -> Failure {
    let field = |kind: u8| {
        let found = body
            .split(|byte| *byte == 0)
            .find(|field| field.first() == Some(&kind));
        found
            .map(|field| String::from_utf8_lossy(&field[1..]).into_owned())
            .unwrap_or_default()
    };

    Failure::Server {
        code: field(b'C'),
        message: field(b'M'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_error_response() {
        let body =
            b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0Fpostmaster.c\0\0";
        let Failure::Server { code, message } = failure(body) else {
            panic!("not a server error")
        };

        assert_eq!(
            (code.as_str(), message.as_str()),
            ("57P03", "the database system is starting up")
        );
    }

    #[tokio::test]
    async fn a_missing_socket_has_no_server() {
        assert_eq!(
            ask(Path::new("/nonexistent/.s.PGSQL.5432")).await,
            Answer::Nobody
        );
    }
}
