//! A collector of traces, which takes them and does nothing with them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use anyhow::{Context as _, Result};

/// The place to which servers send traces.
pub(crate) const ENDPOINT: &str = "http://127.0.0.1:54991";
const ADDRESS: &str = "127.0.0.1:54991";

/// Takes traces until the program ends.
///
/// # Errors
/// The address is in use.
pub(crate) fn start() -> Result<()> {
    let listener =
        TcpListener::bind(ADDRESS).with_context(|| format!("cannot listen on {ADDRESS}"))?;
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A server that goes away ends its connection.
            thread::spawn(move || drop(take(connection)));
        }
    });
    Ok(())
}

/// Answers the requests of a connection.
fn take(mut connection: TcpStream) -> Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let Some((name, value)) = line.split_once(':') else {
                if line.trim().is_empty() {
                    break;
                }
                continue;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        connection.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n",
        )?;
    }
}
