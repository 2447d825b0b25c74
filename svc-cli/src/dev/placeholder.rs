//! An answer for clients while there is no program: the reason why there is none.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::failure::{Failure, Result};

/// The longest time that a client may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers every client until it is dropped.
pub(super) async fn serve(listener: &TcpListener, trouble: &str) -> Result<Infallible> {
    let failed = || Failure::io("listen");
    let listener = listener.try_clone().map_err(failed())?;
    listener.set_nonblocking(true).map_err(failed())?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed())?;
    let text = format!("The service does not run: {trouble}\nThe terminal of `svc dev` says more.\n");
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    loop {
        let (stream, _) = listener.accept().await.map_err(failed())?;
        let answer = answer.clone();
        tokio::spawn(timeout(PATIENCE, respond(stream, answer)));
    }
}

/// Reads what the client sends first, since a socket that is closed with bytes unread resets the connection.
async fn respond(mut stream: TcpStream, answer: String) -> io::Result<()> {
    let mut bytes = [0; 8192];
    let _ = stream.read(&mut bytes).await?;
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    while stream.read(&mut bytes).await? > 0 {}
    Ok(())
}
