//! The socket of `svc dev`, which stays open while a new program replaces the old one.

use std::io::{Error, ErrorKind};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};

use crate::failure::{Failure, Result};
use crate::project::Project;

/// The default port.
const USUAL: u16 = 8000;

/// The first port that an ordinary user may listen on.
const UNPRIVILEGED: u16 = 1024;

/// Listens on the address from the options or the settings.
pub(super) fn bind(
    host: Option<&str>,
    port: Option<u16>,
    project: &Project,
) -> Result<TcpListener> {
    let host = host
        .map(str::to_owned)
        .or_else(|| project.setting("SVC_HOST"));
    let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
    let port = port.map_or_else(|| set_port(project), Ok)?;
    let found = (host.as_str(), port).to_socket_addrs();
    let addresses: Vec<SocketAddr> = found.map_err(|error| not_here(&host, &error))?.collect();
    TcpListener::bind(addresses.as_slice()).map_err(|error| refused(&host, port, &error))
}

fn set_port(project: &Project) -> Result<u16> {
    let Some(port) = project.setting("SVC_PORT") else {
        return Ok(USUAL);
    };
    port.trim().parse().map_err(|_| {
        Failure::new(format!("SVC_PORT is not a port: {port}"))
            .hint("set a number from 1 to 65535 in .env: SVC_PORT=8000")
    })
}

fn not_here(host: &str, error: &Error) -> Failure {
    Failure::new(format!("cannot listen on {host}: {error}")).hint(
        "name an address of this machine, or 0.0.0.0 for all of them: svc dev --host 127.0.0.1",
    )
}

fn refused(host: &str, port: u16, error: &Error) -> Failure {
    if error.kind() == ErrorKind::AddrNotAvailable {
        return not_here(host, error);
    }

    let is_free = |port: &u16| TcpListener::bind((host, *port)).is_ok();
    let next = if port < UNPRIVILEGED {
        USUAL
    } else {
        port.saturating_add(1)
    };

    let other = (next..=u16::MAX)
        .chain(USUAL..next)
        .find(is_free)
        .unwrap_or(USUAL);

    Failure::new(format!("cannot listen on {host}:{port}: {error}"))
        .hint(format!("choose another port: svc dev --port {other}"))
}
